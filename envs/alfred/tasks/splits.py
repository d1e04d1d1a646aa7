"""ALFRED's own files: their splits, and tasks of single files."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator, Mapping
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from inhabit.envs.alfred.tasks import trajectories
from inhabit.envs.alfred.tasks.trajectories import FILE, read_task
from inhabit.envs.alfred.world.settings import AlfredSettings
from inhabit.envs.core import Task, TaskError
from inhabit.envs.entries import first_problem

MAX_STEPS = 30
"""Actions of an episode, as in EmbodiedBench."""
_PREPROCESSED = "pp"
"""A trial's folder of preprocessed copies, one for each annotator, where EB-ALFRED's data has no
file as ALFRED releases it."""
_log = logging.getLogger(__name__)


class _Entry(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")

    task: str = Field(min_length=1)
    instruction: str = Field(min_length=1)


_Splits = TypeAdapter(dict[str, tuple[_Entry, ...]])


def read(file: Path, settings: AlfredSettings) -> Iterator[Task]:
    """The tasks of a split file, in its order; with `eval_set`, those of one set alone.

    Raises:
        TaskError: the file has another form, there is no such set, or a trial is missing.
    """
    chosen = _chosen(file, settings.eval_set)
    folder = Path(settings.trajectories)
    if not settings.trajectories or not folder.is_dir():
        raise TaskError(
            f"{file} names trials of ALFRED, and {settings.trajectories!r} is no folder of its "
            "trajectories. Say where they are by the setting `trajectories`: --set "
            "trajectories=FOLDER, or a line of `settings` in an experiment file."
        )
    trials = _trials(folder)
    for name, entries in chosen.items():
        for i, entry in enumerate(entries):
            try:
                if entry.task not in trials:
                    raise TaskError(
                        f"{file}: {name}.{i}.task: found no trial {entry.task!r} below {folder}."
                    )
                task = read_task(trials[entry.task], folder, steps=settings.replay != "off")
            except TaskError as error:
                if settings.bad_files == "refuse":
                    raise
                _log.warning("Left out: %s", error)
                continue
            changes = {"id": f"{name}/{i}/{entry.task}", "goal": entry.instruction.strip()}
            yield task.model_copy(update={**changes, "max_steps": MAX_STEPS})


def _chosen(file: Path, name: str) -> Mapping[str, tuple[_Entry, ...]]:
    try:
        splits = _Splits.validate_python(json.loads(file.read_text(encoding="utf-8")))
    except (OSError, UnicodeDecodeError, json.JSONDecodeError) as error:
        raise TaskError(f"Can't read {file} as a split file: {error}.") from error
    except ValidationError as error:
        raise TaskError(
            f"{file} is no split file: {first_problem(error)}. Tasks of your own go into a .jsonl "
            "file, one on each line."
        ) from error
    if not name:
        return splits
    if name not in splits:
        raise TaskError(f"{file} has no set {name!r}. It has: {', '.join(splits)}.")
    return {name: splits[name]}


def _trials(folder: Path) -> Mapping[str, Path]:
    """A file of each trial below a folder, by the name that split files give it."""
    found = {}
    for path in sorted(folder.rglob(f"{_PREPROCESSED}/ann_*.json"), reverse=True):
        found["/".join(path.parts[-4:-2])] = path  # the first annotator's: the goal is replaced
    for path in sorted(folder.rglob(FILE)):
        found["/".join(path.parts[-3:-1])] = path
    return found


def read_folder(source: str, settings: AlfredSettings) -> Iterator[Task]:
    """The tasks of a folder as ALFRED unpacks it, or of a split file of EB-ALFRED.

    Raises:
        TaskError: `source` can't be read as either. Names the file and the field.
    """
    if Path(source).is_file():
        return read(Path(source), settings)
    return trajectories.read(source, settings)
