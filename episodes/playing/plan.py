"""The plan of a run: names resolved and settings checked, nothing started."""

from __future__ import annotations

import os
import platform
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from types import MappingProxyType

from pydantic import BaseModel, JsonValue

import inhabit
from inhabit.agents.core import Agent, Grant, ModelError
from inhabit.agents.custom import load_agent, names_file
from inhabit.agents.deciding import make_agent
from inhabit.agents.models import registry as models
from inhabit.agents.models.core import Model
from inhabit.agents.registry import AgentRegistration
from inhabit.agents.registry import find as find_agent
from inhabit.envs.core import Determinism, Env, Task, UnknownNameError
from inhabit.envs.host.checked_env import checked as checked_env
from inhabit.envs.host.env import WorkerEnv
from inhabit.envs.marks import without_effect
from inhabit.envs.printable import printable
from inhabit.envs.registry import Registration
from inhabit.envs.registry import find as find_env
from inhabit.episodes.episode import Episode, Limits
from inhabit.episodes.playing.settings import RunSettings, assigned, at_address, checked, divide
from inhabit.episodes.recording.schema import RENDERER, Choice, RecordedSettings, RunHeader, Sight

_MATTERS = ("inhabit", "numpy", "pillow", "pydantic")
_MODELS = ("torch", "transformers", "openai")


@dataclass(frozen=True, slots=True)
class RunPlan:
    """An environment, an agent and its model, with their settings."""

    env: Registration
    backend: str
    agent: AgentRegistration
    model: str | None
    """KIND:NAME of the model; None if the agent uses none."""
    settings: Mapping[str, BaseModel]
    """Settings of "env", "agent", "model" (where there is one) and "run"."""
    candidates: Choice
    sight: Sight
    granted: frozenset[Grant]
    max_steps: int | None
    """Limit of steps instead of each task's own."""
    seed: int

    @property
    def run_settings(self) -> RunSettings:
        """Settings of the run itself."""
        found = self.settings["run"]
        assert isinstance(found, RunSettings)
        return found

    def episode(self, env: Env, task: Task, seed: int, other: Task | None = None) -> Episode:
        """An episode of this run; `other` is the task whose pictures it may be shown."""
        return Episode(
            env,
            task,
            seed,
            Limits(self.max_steps or task.max_steps, self.run_settings.max_invalid),
            self.candidates,
            self.sight,
            self.run_settings.remember,
            other if self.sight is Sight.OTHER else None,
        )

    def header(
        self,
        determinism: Determinism,
        tasks: Sequence[Task],
        command: Sequence[str],
        model: Model | None = None,
    ) -> RunHeader:
        """The header for `run.json`; `model` is the loaded model."""
        return RunHeader(
            created=datetime.now(UTC).isoformat(timespec="seconds"),
            command=tuple(map(printable, command)),
            env=self.env.name,
            backend=self.backend,
            determinism=determinism,
            agent=self.agent.name,
            model=self.model,
            model_details={} if model is None else dict(model.details),
            candidates=self.candidates,
            grants=tuple(sorted(self.granted)),
            image=self.sight,
            settings=self.recorded_settings(),
            seed=self.seed,
            max_steps=self.max_steps,
            episodes=len(tasks),
            machine=machine(),
            software={
                **software((*_MATTERS, *self.env.packages, *(_MODELS if self.model else ()))),
                **({RENDERER: self.env.renderer} if self.env.renderer else {}),
                **self.agent.source,
                **({"commit": commit} if (commit := _commit()) else {}),
            },
        )

    def recorded_settings(self) -> RecordedSettings:
        """All settings, as `run.json` has them."""
        plain = {name: kind.model_dump(mode="json") for name, kind in self.settings.items()}
        return RecordedSettings(**plain)

    def without_effect(self) -> frozenset[str]:
        """Settings that have no effect on results, such as "run.deadline"."""
        return frozenset(
            f"{owner}.{name}"
            for owner, settings in self.settings.items()
            for name in without_effect(type(settings))
        )

    def make_env(self) -> Env:
        """Create an environment, in a worker process unless `in_process` is set.

        Raises:
            UnavailableError: something that the backend needs is missing on this machine.
            SimulatorError: it did not start.
        """
        return make_env(self.env, self.backend, self.settings["env"], self.run_settings)

    def load_model(self, before: Mapping[str, JsonValue] = MappingProxyType({})) -> Model | None:
        """Load the agent's model; None if it has none.

        Args:
            before: `Model.details` when the run began. It replaces settings of "auto", because a
                timing might choose differently today. A device is of a kind: "cuda:0" is "cuda".

        Raises:
            ModelError: there is no such model.
            UnavailableError: a package is missing on this machine.
        """
        if self.model is None:
            return None
        settings = self.settings["model"]
        chosen = {k: v for k, v in before.items() if getattr(settings, k, None) == "auto"}
        if "device" in chosen:
            chosen["device"] = str(chosen["device"]).partition(":")[0]
        if chosen:
            settings = checked("model", type(settings), settings.model_dump() | chosen)
        return models.load(self.model, settings)

    def make_agent(self, model: Model | None) -> Agent:
        """Create the agent, which uses and closes `model`.

        Raises:
            ModelError: the model lacks an ability that the agent needs, or the agent can't be made.
            UnavailableError: something that it needs is missing on this machine.
        """
        return make_agent(self.agent, self.settings["agent"], model)


def plan(
    env: str,
    agent: str | AgentRegistration,
    *,
    backend: str | None = None,
    model: str | None = None,
    base_url: str | None = None,
    assignments: Sequence[str] | Mapping[str, object] = (),
    before: Mapping[str, Mapping[str, object]] = MappingProxyType({}),
    candidates: Choice | None = None,
    sight: Sight = Sight.SHOWN,
    grants: Sequence[Grant] = (),
    max_steps: int | None = None,
    seed: int = 0,
) -> RunPlan:
    """Resolve all names and settings.

    The agent may be named as FILE.py:NAME, and the file is then executed. It is granted what it
    needs, and chooses from what it declares unless `candidates` says otherwise.

    Raises:
        UnknownNameError: there is no such environment, backend, agent or kind of model.
        ModelError: a model is given but the agent uses none, or it is not KIND:NAME; or the file
            of an agent can't be used.
        SettingError: a setting is unknown or wrong, or the model has no base URL.
    """
    registration = find_env(env)
    if isinstance(agent, str):
        agent = load_agent(agent) if names_file(agent) else find_agent(agent)
    model = _model(agent, model)
    owners: dict[str, type[BaseModel]] = {
        "env": registration.settings,
        "agent": agent.settings,
        "run": RunSettings,
    }
    theirs: Mapping[str, Mapping[str, object]] = {}
    if model is not None:
        owners["model"] = models.find(model)[0].settings
        theirs = models.recommended(model, owners, assigned(tuple(assignments), owners))
    wants = {k: v for k, v in agent.wants.items() if k in registration.settings.model_fields}
    address = at_address(owners.get("model"), base_url)
    # A later one replaces what an earlier one says; assignments replace all of them.
    layers = ({"env": wants}, theirs, before, {"model": address})
    values = {o: {k: v for one in layers for k, v in one.get(o, {}).items()} for o in owners}
    return RunPlan(
        env=registration,
        backend=find_backend(registration, backend),
        agent=agent,
        model=model,
        settings=divide(assignments, owners, values),
        candidates=Choice(agent.candidates) if candidates is None else candidates,
        sight=sight,
        granted=frozenset(grants) | agent.needs,
        max_steps=max_steps,
        seed=seed,
    )


def find_backend(registration: Registration, name: str | None) -> str:
    """The backend of that name, or the default for None.

    Raises:
        UnknownNameError: the environment has no such backend.
    """
    if name is None:
        return registration.backends[0]
    if name not in registration.backends:
        raise UnknownNameError(f"backend of {registration.name}", name, registration.backends)
    return name


def make_env(
    registration: Registration, backend: str, settings: BaseModel, run: RunSettings
) -> Env:
    """Create an environment, in a worker process unless `run.in_process` is set.

    Raises:
        UnavailableError: something that the backend needs is missing on this machine.
        SimulatorError: it did not start.
    """
    if run.in_process:
        return checked_env(registration.make(backend, settings))
    return WorkerEnv(
        registration.name,
        backend,
        settings.model_dump(mode="json"),
        deadline=run.deadline,
        reset_deadline=run.reset_deadline,
    )


def machine() -> Mapping[str, JsonValue]:
    """The hardware of this machine that affects timings."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return {
        "processor": _processor() or platform.machine(),
        "processors": len(os.sched_getaffinity(0)),
        "memory_gb": round(memory / 2**30, 1),
    }


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return ""
    names = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(names, "")


def software(packages: Sequence[str]) -> Mapping[str, str]:
    """The versions of Python, the platform and the installed `packages`."""
    installed = {package: held for package in packages if (held := _version(package))}
    return {"python": platform.python_version(), "platform": platform.platform(), **installed}


@cache  # it looks through folders of installed packages
def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


@cache
def _commit() -> str | None:
    """The commit of the checkout that this package is of, with "-dirty" where files are changed."""
    top = Path(inhabit.__file__).parents[1]
    if not (top / ".git").exists():
        return None
    words = ["git", "-C", str(top), "describe", "--always", "--dirty", "--abbrev=40", "--exclude=*"]
    try:
        found = subprocess.run(words, capture_output=True, text=True, check=True, timeout=10)
    except (OSError, subprocess.SubprocessError):
        return None
    return found.stdout.strip() or None


def _model(agent: AgentRegistration, model: str | None) -> str | None:
    if model is not None and agent.model is None:
        raise ModelError(f"The agent {agent.name!r} asks no model: leave --model out.")
    return agent.earlier_models.get(model or "", model) or agent.model
