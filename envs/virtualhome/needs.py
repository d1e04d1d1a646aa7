"""What this machine still lacks for VirtualHome."""

from __future__ import annotations

from collections.abc import Sequence

from envs.core import UnavailableError
from envs.registry import Need
from envs.virtualhome.evolving import simulation


def needs(backend: str) -> Sequence[Need]:
    """What a backend lacks; Unity's build is the user's, and its path a setting."""
    try:
        simulation()
    except UnavailableError:
        return [Need("VirtualHome's evolving graph", "inhabit setup virtualhome")]
    if backend == "unity":
        what = "VirtualHome's Unity simulator, a build of your own"
        return [Need(what, "--set executable=PATH, or start it and say --set port=8080")]
    return []
