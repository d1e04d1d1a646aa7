"""What an experiment file says, and what is locked of an experiment that was played."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

import yaml
from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    JsonValue,
    ValidationError,
    model_validator,
)

from inhabit.agents.core import Grant
from inhabit.envs.core import Task
from inhabit.envs.entries import first_problem
from inhabit.envs.errors import UserError, did_you_mean
from inhabit.episodes.recording.reader import readable
from inhabit.episodes.recording.schema import Choice, Ending, Sight

LOCK = "experiment.lock.json"
_PRESETS = Path(__file__).parent / "presets"


class ExperimentError(UserError, ValueError):
    """A file is no experiment, or names something twice."""


def _folder_name(name: str) -> str:
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]{0,59}", name):
        raise ValueError(
            f"{name[:60]!r} is to name a folder, too. Give a name of 1 to 60 letters, digits, "
            "dots, hyphens and underscores that begins with a letter or a digit."
        )
    return name


Label = Annotated[str, AfterValidator(_folder_name)]
"""A name that may name a folder, too."""


class _Said(BaseModel):
    """A part of a file. A key that is not known is refused."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class _Named(_Said):
    """A part with a name, which is that of what it chooses unless another one is given."""

    name: Label
    """Name of the folder, and in tables."""

    @model_validator(mode="before")
    @classmethod
    def _usual(cls, given: Any) -> Any:
        if not isinstance(given, dict):
            return given
        chosen = given.get("env" if "env" in cls.model_fields else "agent")
        # FILE.py:NAME is named NAME, and what can't name a folder is left out.
        name = re.sub(r"^[\W_]+|[^\w.-]", "", str(chosen).rpartition(":")[2], flags=re.ASCII)
        return {"name": name[:60] or "unnamed", **given}


class TaskChoice(_Said):
    """The tasks of an environment: sampled, or read from a source."""

    n: int | None = Field(default=None, ge=1)
    source: str | None = None
    """What `inhabit run --tasks` takes. None samples `n`."""
    seed: int = 0
    """Seed of the sample: the seeds of the experiment change episodes and agents, not tasks."""
    kinds: tuple[str, ...] = ()
    rooms: tuple[str, ...] = ()
    digest: str | None = None
    """What `digest_of` gives; other tasks are refused."""


class EnvChoice(_Named):
    """An environment and its tasks."""

    env: str
    backend: str | None = None
    settings: Mapping[str, JsonValue] = Field(default_factory=dict)
    tasks: TaskChoice


class AgentChoice(_Named):
    """An agent and its model."""

    agent: str
    model: str | None = None
    base_url: str | None = None
    settings: Mapping[str, JsonValue] = Field(default_factory=dict)
    """Settings of the agent and the model, as `--set` takes them."""
    grants: tuple[Grant, ...] = ()
    candidates: Choice | None = None
    only: tuple[str, ...] = ()
    """Names of the environments that the agent plays; any by default."""


class Price(_Said):
    """What a model costs."""

    read: float = Field(ge=0)
    """Price per million tokens that are read, in any currency, as `written`."""
    written: float = Field(ge=0)
    reply: int = Field(default=200, ge=1)
    """Tokens of a reply, for the estimate of `--dry-run`."""


class PublishedRow(_Said):
    """A result of others that the tables show beside ours."""

    env: str
    """Name of the environment in the experiment."""
    agent: str
    success_rate: float = Field(ge=0, le=1)
    source: str


class Experiment(_Said):
    """An experiment file: every agent plays every task with every seed and sight."""

    name: Label
    about: str = ""
    needs: str = ""
    """Files that do not come with the package, and where to get them."""
    environments: tuple[EnvChoice, ...] = Field(min_length=1)
    agents: tuple[AgentChoice, ...] = ()
    seeds: tuple[int, ...] = Field(default=(0,), min_length=1)
    sights: tuple[Sight, ...] = Field(default=(Sight.SHOWN,), min_length=1)
    """Agents are compared by the first. What pictures are worth is told if one is "shown"."""
    max_steps: int | None = Field(default=None, ge=1)
    settings: Mapping[str, JsonValue] = Field(default_factory=dict)
    """Settings of the runs, such as max_invalid."""
    workers: int = Field(default=1, ge=1)
    prices: Mapping[str, Price] = Field(default_factory=dict)
    """Prices by model."""
    published: tuple[PublishedRow, ...] = ()

    @model_validator(mode="after")
    def _distinct(self) -> Experiment:
        for names in (
            [one.name for one in self.environments],
            [one.name for one in self.agents],
            [str(one) for one in (*self.seeds, *self.sights)],
        ):
            if len(set(names)) < len(names):
                raise ValueError(f"a name stands twice among {', '.join(names)}")
        known = [one.name for one in self.environments]
        meant = [name for agent in self.agents for name in agent.only]
        for name in (*meant, *(row.env for row in self.published)):
            if name not in known:
                raise ValueError(f"no environment is named {name!r}. {did_you_mean(name, known)}")
        return self


def read_experiment(source: str) -> Experiment:
    """The experiment in a file, or the preset of that name.

    Raises:
        ExperimentError: it can't be read, or is no experiment.
    """
    file = Path(source)
    if not file.suffix and source in presets():
        file = _PRESETS / f"{source}.yaml"
    try:
        return Experiment.model_validate(yaml.safe_load(file.read_text(encoding="utf-8")))
    except OSError as error:
        raise ExperimentError(
            f"{source} can't be read: {error.strerror}. Presets: {', '.join(presets())}."
        ) from error
    except ValidationError as error:
        raise ExperimentError(f"{source}: {first_problem(error)}.") from error
    except (yaml.YAMLError, ValueError, RecursionError) as error:  # A date may have no such day.
        raise ExperimentError(f"{source} is not YAML: {' '.join(str(error).split())}.") from error


def presets() -> list[str]:
    """The names of the experiments that come with the package."""
    return sorted(file.stem for file in _PRESETS.glob("*.yaml"))


def digest_of(tasks: Iterable[Task]) -> str:
    """SHA-256 of tasks, in their order."""
    lines = "".join(task.model_dump_json() for task in tasks)
    return hashlib.sha256(lines.encode()).hexdigest()


class EpisodeOutcome(BaseModel, frozen=True):
    """How an episode ended."""

    id: str
    """Id of the task."""
    ending: Ending
    met: int
    total: int
    steps: int
    cost: int
    actions: str
    """Digest of all actions."""


class LockedRun(BaseModel, frozen=True):
    """A run of an experiment: what it depends on, and what it came to."""

    folder: str
    """Folder of the run, seen from that of the experiment."""
    depends: Mapping[str, str]
    """What the result depends on -> its digest or version."""
    episodes: tuple[EpisodeOutcome, ...] = ()


class Lock(BaseModel, frozen=True):
    """`experiment.lock.json`."""

    version: Literal[1] = 1
    experiment: Experiment
    runs: tuple[LockedRun, ...]


def read_lock(file: Path) -> Lock:
    """The lock in a file.

    Raises:
        ExperimentError: it can't be read, or is none.
    """
    try:
        with readable(file, ExperimentError):
            return Lock.model_validate_json(file.read_bytes())
    except ValidationError as error:
        raise ExperimentError(f"{file}: {first_problem(error)}.") from error
