"""Settings of a run, and the assignment of `--set KEY=VALUE` to groups of settings."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from enum import StrEnum
from types import MappingProxyType
from typing import Annotated

from pydantic import BaseModel, Field, ValidationError, field_validator

from inhabit.envs.entries import first_problem
from inhabit.envs.errors import UserError, did_you_mean
from inhabit.envs.files import expanded
from inhabit.envs.marks import NoEffect, Place, Words, paths
from inhabit.envs.settings import SettingsModel
from inhabit.episodes.episode import MAX_INVALID
from inhabit.episodes.recording.schema import UNANSWERED, EndLine


class SettingError(UserError, ValueError):
    """A setting is unknown, ambiguous or has a wrong value."""


class Resume(StrEnum):
    """What happens to an interrupted episode when its run is continued."""

    CONTINUE = "continue"
    """Re-execute the recorded decisions, compare each step with the record, and continue from
    there. Restart where anything differs or the backend is not deterministic."""
    RESTART = "restart"
    """Start the episode again."""


class ClusterSettings(SettingsModel):
    """Which Ray cluster is used, and what each worker reserves on its node."""

    ray_address: Annotated[str, Place(), NoEffect()] = ""
    """Address of the Ray cluster, HOST:PORT. By default the cluster that this machine belongs to,
    or else a new one on it."""
    ray_cpus: Annotated[float, NoEffect()] = Field(default=1.0, ge=0)
    """CPUs that each worker reserves on its node."""
    ray_gpus: Annotated[float, NoEffect()] = Field(default=0.0, ge=0)
    """GPUs that each worker reserves on its node."""
    ray_resources: Annotated[Mapping[str, float], Words(), NoEffect()] = Field(default_factory=dict)
    """Custom resources that each worker reserves, as named by `ray start --resources`, such as
    `unity=1,display=1`."""

    @field_validator("ray_resources", mode="before")
    @classmethod
    def _from_text(cls, given: object) -> object:
        if not isinstance(given, str):
            return given
        parts = [part.partition("=") for part in given.split(",") if part.strip()]
        return {name.strip(): amount or "1" for name, _, amount in parts}


def check_cluster(settings: ClusterSettings, *, ray: bool) -> None:
    """See that no setting of a cluster is given for work on this machine.

    Raises:
        SettingError: one is, and `ray` is false.
    """
    given = settings.model_fields_set & ClusterSettings.model_fields.keys()
    if given and not ray:
        raise SettingError(f"{min(given)} has no effect without --ray: add it, or leave this out.")


class RunSettings(ClusterSettings):
    """Settings of a run, for every environment and agent."""

    max_invalid: int = Field(default=MAX_INVALID, ge=1)
    """Invalid actions, in total, that end an episode."""
    remember: int = Field(default=50, ge=0)
    """Past images that an agent is given; older steps are given as text only."""
    deadline: Annotated[float, NoEffect()] = Field(default=60.0, gt=0, le=86_400)
    """Seconds that a simulator may take for one call before it counts as failed. On a busy machine
    they pass more slowly."""
    reset_deadline: Annotated[float, NoEffect()] = Field(default=180.0, gt=0, le=86_400)
    """Seconds that a simulator may take to start, to start a task, and to show its first image."""
    decision_deadline: Annotated[float, NoEffect()] = Field(default=3600.0, gt=0, le=86_400)
    """Seconds that an agent may take for one decision before it counts as a fault of the model. A
    person may take any time."""
    max_faults: Annotated[int, NoEffect()] = Field(default=3, ge=0)
    """Episodes in a row, each ended by a fault of the model, after which the run stops. 0 for any
    number."""
    retry_faults: Annotated[bool | None, NoEffect()] = None
    """Play episodes again that a fault of the model or a spent budget has ended, when the same
    command is repeated. [default: only those without a step]"""
    retries: Annotated[int, NoEffect()] = Field(default=0, ge=0, le=100)
    """Further attempts at an episode after a simulator fault; the record keeps every attempt."""
    pause: Annotated[float, NoEffect()] = Field(default=0.25, ge=0, le=600)
    """Seconds before the first further attempt. Doubles for each next one, up to 30 s."""
    resume: Annotated[Resume, NoEffect()] = Resume.CONTINUE
    """What to do with an interrupted episode: re-execute its recorded decisions and continue, or
    restart it."""
    max_seconds: float | None = Field(default=None, gt=0)
    """Seconds that an episode may take, all attempts together. No step starts later than that."""
    frames: bool = True
    """Save observed images and images sent to models. The record holds their digests either way, so
    that replays can compare them."""
    in_process: Annotated[bool, NoEffect()] = False
    """Run the environment in the runner's own process. Starts faster, but a crash or hang of the
    simulator takes the run with it."""

    def plays_again(self, end: EndLine) -> bool:
        """Whether the same command plays an episode again that ended like this."""
        wanted = not end.steps if self.retry_faults is None else self.retry_faults
        return wanted and end.ending in UNANSWERED


def divide(
    assignments: Sequence[str] | Mapping[str, object],
    owners: Mapping[str, type[BaseModel]],
    before: Mapping[str, Mapping[str, object]] = MappingProxyType({}),
    preferred: str | None = None,
) -> Mapping[str, BaseModel]:
    """Give every KEY=VALUE to the settings that declare KEY, and check them all.

    Args:
        assignments: as they were typed, or as a mapping of KEY to value; `OWNER.KEY` says whose
            key is meant.
        owners: name -> settings, such as "env", "agent", "run".
        before: name -> values that hold unless an assignment says otherwise.
        preferred: the owner that gets a key which several declare; None refuses such a key.

    Returns:
        Name -> its settings, with defaults for all that was not said.

    Raises:
        SettingError: nobody declares a key, more than one does, or a value is wrong.
    """
    given: dict[str, dict[str, object]] = {o: dict(before.get(o, {})) for o in owners}
    for name, value in _pairs(assignments):
        owner, key = _find(name, owners, preferred)
        # Not every shell fills in the ~ of KEY=~/FOLDER.
        if isinstance(value, str) and value.startswith("~") and key in paths(owners[owner]):
            value = str(expanded(value))
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


def at_address(model: type[BaseModel] | None, base_url: str | None) -> Mapping[str, object]:
    """What `--base-url` sets of a model with such settings; nothing where it is None.

    Raises:
        SettingError: the model has no endpoint, or there is no model.
    """
    if base_url is None:
        return {}
    if model is None or "base_url" not in model.model_fields:
        raise SettingError("--base-url needs a model with an endpoint, such as openai:NAME.")
    return {"base_url": base_url}


def mapping(settings: object) -> Mapping[str, object]:
    """`settings` as a program gives them.

    Raises:
        SettingError: they are no mapping.
    """
    if isinstance(settings, Mapping):
        return settings
    raise SettingError(f'Settings are a dict, such as {{"max_invalid": 5}}, not {settings!r}.')


def checked(owner: str, kind: type[BaseModel], given: Mapping[str, object]) -> BaseModel:
    """The settings of `owner`, with defaults for all that is not given.

    Raises:
        SettingError: a value is wrong, two do not go together, or there is no such setting.
    """
    try:
        return kind.model_validate(mapping(given))
    except ValidationError as error:
        alone, unknown = error.errors()[0]["loc"], error.errors()[0]["type"] == "extra_forbidden"
        if unknown and len(alone) == 1:
            near = did_you_mean(str(alone[0]), kind.model_fields)
            raise SettingError(f"There is no setting {owner}.{alone[0]}. {near}") from error
        which = f"The setting {owner}." if alone else f"Settings of {owner} do not go together: "
        raise SettingError(f"{which}{first_problem(error)}.") from error


def _pairs(assignments: Sequence[str] | Mapping[str, object]) -> Iterator[tuple[str, object]]:
    if isinstance(assignments, Mapping):
        yield from assignments.items()
        return
    for assignment in assignments:
        name, equals, value = assignment.partition("=")
        if not equals or not name:
            raise SettingError(f"--set needs KEY=VALUE, not {assignment!r}.")
        yield name.strip(), value


def _find(
    name: str, owners: Mapping[str, type[BaseModel]], preferred: str | None = None
) -> tuple[str, str]:
    known = [(owner, key) for owner, kind in owners.items() for key in kind.model_fields]
    found = [(owner, key) for owner, key in known if name in (key, f"{owner}.{key}")]
    if len(found) == 1:
        return found[0]
    if preferred is not None and (preferred, name) in found:
        return preferred, name
    if found:
        which = " or ".join(f"{owner}.{key}" for owner, key in found)
        raise SettingError(f"The setting {name!r} belongs to several groups: write {which}.")
    keys = sorted({key for _, key in known})
    near = did_you_mean(name.rpartition(".")[2], keys)
    listed = (
        "`inhabit synth --settings` and `inhabit tune --settings` list all settings."
        if owners.keys() & {"synth", "tune"}
        else "`inhabit envs NAME` and `inhabit agents NAME` list all settings."
    )
    raise SettingError(f"There is no setting {name!r}. {near} {listed}")
