"""How far a record and its re-execution can be compared."""

from __future__ import annotations

from inhabit.envs.core import Determinism
from inhabit.envs.registry import find
from inhabit.episodes.recording.schema import RENDERER, RunHeader


def comparable(header: RunHeader, determinism: Determinism) -> Determinism:
    """The level at which a record can be compared with what an environment does now.

    It is the weaker of the two levels of determinism. Images of another version of the renderer are
    not compared, everything else is.

    Args:
        header: of the recorded run.
        determinism: of the environment that re-executes it.
    """
    level = max(header.determinism, determinism, key=list(Determinism).index)
    if level is Determinism.FRAMES and other_renderer(header) is not None:
        return Determinism.STATE
    return level


def other_renderer(header: RunHeader) -> tuple[str, str] | None:
    """The version of the renderer that drew the recorded images and the present one.

    None if they are the same, or if the environment renders nothing.
    """
    now = find(header.env).renderer
    was = header.software.get(RENDERER, "1")  # Records have named it since version 2.
    return None if now in ("", was) else (was, now)
