"""Tasks of others that are read where they lie, and so must be on this machine."""

from __future__ import annotations

from collections.abc import Iterator

from envs.core import UnavailableError
from episodes.machine.finding import Finding, judge


def tasks() -> Iterator[Finding]:
    """The goal tasks of eai-eval."""
    from envs.virtualhome import eai

    try:
        found = str(eai.folder())
    except UnavailableError:
        found = ""
    yield judge(
        "eai-eval tasks",
        bool(found),
        found or "not found",
        to="inhabit run virtualhome --tasks eai",
        fix="inhabit setup virtualhome, or set INHABIT_EAI to the folder virtualhome_eval",
    )
