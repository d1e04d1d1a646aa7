"""What `--set KEY=VALUE` may say of a run, and whom each key belongs to."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping, Sequence
from enum import StrEnum
from types import MappingProxyType
from typing import Annotated

from pydantic import BaseModel, Field, ValidationError

from inhabit.envs.entries import first_problem
from inhabit.envs.errors import UserError
from inhabit.envs.marks import NoEffect
from inhabit.episodes.cluster.settings import ClusterSettings


class SettingError(UserError, ValueError):
    """A setting is unknown, ambiguous or wrong. Names it, and what would do."""


class Resume(StrEnum):
    """What becomes of an episode that was cut short."""

    CONTINUE = "continue"
    """What was decided is acted again, each step held against the record, and play goes on from
    there. Where anything differs, or the backend promises nothing, the episode begins anew."""
    RESTART = "restart"
    """It begins anew."""


class RunSettings(ClusterSettings):
    """Settings of the run itself, whichever environment and agent."""

    max_invalid: int = Field(default=10, ge=1)
    """Actions that can't be carried out, in all, after which an episode is over."""
    remember: int = Field(default=50, ge=0)
    """Past pictures that an agent is given; what is older comes to it in words alone."""
    deadline: Annotated[float, NoEffect()] = Field(default=60.0, gt=0, le=86_400)
    """Seconds that a simulator may take to answer before it is given up."""
    reset_deadline: Annotated[float, NoEffect()] = Field(default=180.0, gt=0, le=86_400)
    """The same for starting it, and for starting a task."""
    retries: Annotated[int, NoEffect()] = Field(default=0, ge=0, le=100)
    """How often an episode is tried again after a fault of its simulator; each attempt is kept."""
    pause: Annotated[float, NoEffect()] = Field(default=0.25, ge=0, le=600)
    """Seconds before it is tried again, or its simulator is started again: twice as long each time,
    up to half a minute."""
    resume: Annotated[Resume, NoEffect()] = Resume.CONTINUE
    """What becomes of half an episode; another run of the same command may say otherwise."""
    max_seconds: float | None = Field(default=None, gt=0)
    """Seconds that an episode may take, all attempts together; no step is begun after them. None
    for any time."""
    frames: bool = True
    """Keep the pictures that were seen and sent. Without them records name them by their digests,
    which replays compare all the same."""
    in_process: Annotated[bool, NoEffect()] = False
    """Have the environment in this very process: quicker to start, and nothing protects the run
    from it."""


def divide(
    assignments: Sequence[str] | Mapping[str, object],
    owners: Mapping[str, type[BaseModel]],
    before: Mapping[str, Mapping[str, object]] = MappingProxyType({}),
) -> Mapping[str, BaseModel]:
    """Give every KEY=VALUE to the settings that declare KEY, and check them all.

    Args:
        assignments: as they were typed, or as a mapping of KEY to value; `OWNER.KEY` says whose
            key is meant.
        owners: name -> settings, such as "env", "agent", "run".
        before: name -> values that hold unless an assignment says otherwise.

    Returns:
        Name -> its settings, with defaults for all that was not said.

    Raises:
        SettingError: nobody declares a key, more than one does, or a value is wrong.
    """
    given: dict[str, dict[str, object]] = {o: dict(before.get(o, {})) for o in owners}
    for name, value in _pairs(assignments):
        owner, key = _find(name, owners)
        given[owner][key] = value
    return {owner: checked(owner, kind, given[owner]) for owner, kind in owners.items()}


def assigned(
    assignments: Sequence[str], owners: Mapping[str, type[BaseModel]]
) -> frozenset[tuple[str, str]]:
    """Owner and name of each setting that is given a value.

    Raises:
        SettingError: nobody declares one, or more than one does.
    """
    return frozenset(_find(one.partition("=")[0].strip(), owners) for one in assignments)


def checked(owner: str, kind: type[BaseModel], given: Mapping[str, object]) -> BaseModel:
    """The settings of `owner`, with defaults for all that is not given.

    Raises:
        SettingError: a value is wrong, or there is no such setting.
    """
    try:
        return kind.model_validate(given)
    except ValidationError as error:
        raise SettingError(f"The setting {owner}.{first_problem(error)}.") from error


def _pairs(assignments: Sequence[str] | Mapping[str, object]) -> Iterator[tuple[str, object]]:
    if isinstance(assignments, Mapping):
        yield from assignments.items()
        return
    for assignment in assignments:
        name, equals, value = assignment.partition("=")
        if not equals or not name:
            raise SettingError(f"--set takes KEY=VALUE, not {assignment!r}.")
        yield name.strip(), value


def _find(name: str, owners: Mapping[str, type[BaseModel]]) -> tuple[str, str]:
    known = [(owner, key) for owner, kind in owners.items() for key in kind.model_fields]
    found = [(owner, key) for owner, key in known if name in (key, f"{owner}.{key}")]
    if len(found) == 1:
        return found[0]
    if found:
        which = " or ".join(f"{owner}.{key}" for owner, key in found)
        raise SettingError(f"The setting {name!r} is ambiguous: say {which}.")
    keys = sorted({key for _, key in known})
    near = difflib.get_close_matches(name.rpartition(".")[2], keys, n=3) or keys
    raise SettingError(f"There is no setting {name!r}. Did you mean: {', '.join(near)}?")
