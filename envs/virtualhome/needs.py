"""What this machine still lacks for VirtualHome."""

from __future__ import annotations

from collections.abc import Sequence

from envs.core import UnavailableError
from envs.registry import Need
from envs.virtualhome import VirtualHomeSettings
from envs.virtualhome.client import VirtualHomeClient
from envs.virtualhome.evolving import simulation


def needs(backend: str) -> Sequence[Need]:
    """What a backend lacks. Unity's build is the user's: it is there if one of it answers."""
    try:
        simulation()
    except UnavailableError:
        return [Need("VirtualHome's evolving graph", "inhabit setup virtualhome")]
    settings = VirtualHomeSettings()
    if backend == "unity" and not VirtualHomeClient(settings.host, settings.port).alive():
        return [
            Need(
                f"VirtualHome's Unity build, a program of your own (none answers at port "
                f"{settings.port})",
                "get release 2.3.0 for your system, then --set executable=PATH; or start it and "
                "say --set port=PORT",
            )
        ]
    return []
