"""Reads what `--tasks` names for ALFRED: a folder of trajectories, or a split file over them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from inhabit.envs.alfred.tasks import splits, trajectories
from inhabit.envs.alfred.world.settings import AlfredSettings
from inhabit.envs.core import Task


def read(source: str, settings: AlfredSettings) -> Iterator[Task]:
    """The tasks of a folder as ALFRED unpacks it, or of a split file of EB-ALFRED.

    Raises:
        TaskError: `source` can't be read as either. Names the file and the field.
    """
    if Path(source).is_file():
        return splits.read(Path(source), settings)
    return trajectories.read(source, settings)
