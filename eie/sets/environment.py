"""The environment that a set was made with, from the set's header."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pydantic import BaseModel, ValidationError

from inhabit.eie.sets.folder import SetError, SetFolder
from inhabit.envs.core import Task
from inhabit.envs.registry import Registration, find
from inhabit.episodes.playing.from_record import settings_of_env
from inhabit.episodes.playing.plan import find_backend

_BY_SPEED = "wire"
"""The setting that a timing chose when the set was made."""


def environment_of(
    opened: SetFolder,
    assignments: Sequence[str] = (),
    *,
    trusted: bool = False,
    usual: bool = False,
) -> tuple[Registration, str, BaseModel]:
    """The environment, its backend and its settings.

    Args:
        opened: the set.
        assignments: settings from the user, as KEY=VALUE.
        trusted: whether the user vouches for paths and addresses in the set.
        usual: use the default wire protocol instead of the recorded one.

    Raises:
        UnknownNameError: there is no such environment or backend here.
        SettingError: a setting is wrong, or the set names a path or address that the user did not
            repeat.
        SetError: a task of the set is malformed.
    """
    header = opened.header
    registration = find(header.env)
    backend = find_backend(registration, header.backend)
    recorded = dict(header.settings.get("env", {}))
    if usual:
        recorded.pop(_BY_SPEED, None)
    settings = settings_of_env(
        registration, recorded, _tasks(opened), assignments, where=opened.folder, trusted=trusted
    )
    return registration, backend, settings


def _tasks(opened: SetFolder) -> Iterator[Task]:
    for example in opened.examples():
        if example.lineage is None:
            continue
        try:
            yield Task.model_validate(dict(example.lineage.task))
        except ValidationError as error:
            raise SetError(f"Example {example.id!r} of {opened.folder} names no task.") from error
