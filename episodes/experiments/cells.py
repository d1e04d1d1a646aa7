"""The runs of an experiment: planned, asked for once, and what each depends on."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from types import MappingProxyType

from pydantic import BaseModel, JsonValue

import inhabit
from inhabit.agents.core import ModelError
from inhabit.agents.custom import names_file
from inhabit.agents.models import registry as models
from inhabit.agents.models.beam_search import BeamRules
from inhabit.agents.models.core import GenerateOptions, Message, Model, Ranking, Reply
from inhabit.agents.registry import find as find_agent
from inhabit.envs import tasksets
from inhabit.envs.core import Determinism, Task, TaskError
from inhabit.envs.marks import places, trusting
from inhabit.envs.registry import find as find_env
from inhabit.episodes.experiments.schema import (
    AgentChoice,
    EnvChoice,
    EpisodeOutcome,
    Experiment,
    ExperimentError,
    digest_of,
)
from inhabit.episodes.playing.plan import RunPlan, plan
from inhabit.episodes.playing.run import record_run
from inhabit.episodes.playing.settings import RunSettings, SettingError
from inhabit.episodes.playing.tasks import gather, next_room
from inhabit.episodes.recording.folder import folder_of
from inhabit.episodes.recording.index import Index
from inhabit.episodes.recording.reader import Run
from inhabit.episodes.recording.schema import Sight


@dataclass(frozen=True, slots=True)
class ExperimentCell:
    """A run of an experiment."""

    env: EnvChoice
    agent: AgentChoice
    seed: int
    sight: Sight
    plan: RunPlan
    tasks: Sequence[Task]

    @property
    def folder(self) -> str:
        """Where it lies, seen from the folder of the experiment."""
        own = Path("runs", self.env.name, self.agent.name, f"seed-{self.seed}")
        return str(folder_of(own, self.sight))

    def depends(self, details: Mapping[str, JsonValue]) -> Mapping[str, str]:
        """What its result depends on, with a digest or a version; `details` are of its model."""
        header = self.plan.header(Determinism.NONE, self.tasks, ())
        free, settings = self.plan.without_effect(), self.plan.settings
        local = {f"{o}.{name}" for o, kind in settings.items() for name in places(type(kind))}
        recorded = header.settings.model_dump(mode="json")
        kept = {
            f"{owner}.{name}": value
            for owner, values in recorded.items()
            for name, value in values.items()
            if f"{owner}.{name}" not in free | local
        }
        rules = header.model_dump(
            mode="json", include={"candidates", "grants", "image", "max_steps", "seed", "backend"}
        )
        software = {n: v for n, v in header.software.items() if n != "commit"}
        return {
            "tasks": digest_of(self.tasks),
            "settings": _digest(json.dumps({**kept, **rules}, sort_keys=True).encode()),
            "prompts": tree_digest("agents/dialogue", "agents/planners"),
            "package": tree_digest("."),
            **{f"model {name}": str(value) for name, value in sorted(details.items())},
            **{f"software {name}": value for name, value in sorted(software.items())},
        }


def cells(experiment: Experiment) -> Sequence[ExperimentCell]:
    """The runs of `experiment`, in the order in which they are played.

    Raises:
        ExperimentError: it names no agent, or tasks have another digest.
        UserError: a name, a setting or a source of tasks is wrong.
    """
    if not experiment.agents:
        raise ExperimentError(
            f"The experiment {experiment.name!r} names no agent: give --agent, and --model."
        )
    found: list[ExperimentCell] = []
    for env in experiment.environments:
        tasks: Sequence[Task] | None = None
        for agent in experiment.agents:
            if agent.only and env.name not in agent.only:
                continue
            for seed in experiment.seeds:
                planned = _plan(experiment, env, agent, seed)
                if tasks is None:
                    tasks = _tasks(experiment, env, planned)
                    if Sight.OTHER in experiment.sights:
                        next_room(tasks, tasks[0])
                found += (
                    ExperimentCell(env, agent, seed, sight, replace(planned, sight=sight), tasks)
                    for sight in experiment.sights
                )
    return found


def _plan(experiment: Experiment, env: EnvChoice, agent: AgentChoice, seed: int) -> RunPlan:
    settings = {
        **{f"env.{name}": value for name, value in env.settings.items()},
        **{f"run.{name}": value for name, value in experiment.settings.items()},
        **agent.settings,
    }
    return plan(
        env.env,
        agent.agent,
        backend=env.backend,
        model=agent.model,
        base_url=agent.base_url,
        assignments=settings,
        candidates=agent.candidates,
        grants=agent.grants,
        max_steps=experiment.max_steps,
        seed=seed,
    )


def _tasks(experiment: Experiment, env: EnvChoice, planned: RunPlan) -> Sequence[Task]:
    said = env.tasks
    if said.n is None and said.source is None:
        raise ExperimentError(
            f"The tasks of {env.name} need a number (n) or a source, which --tasks gives too."
        )
    try:
        found = gather(
            planned.env,
            planned.settings["env"],
            n=said.n,
            seed=said.seed,
            source=said.source,
            kinds=said.kinds,
            rooms=said.rooms,
        )
    except TaskError as error:
        needs = f" {experiment.name} needs {experiment.needs}" if experiment.needs else ""
        raise ExperimentError(f"{error}{needs}") from error
    if said.digest not in (None, digest_of(found)):
        raise ExperimentError(
            f"The tasks of {env.name} are other ones: their digest is {digest_of(found)}, and "
            f"{said.digest} is asked for."
        )
    return found


def check_trust(lock: Path, said: Experiment) -> None:
    """See that a lock from elsewhere names no program, file, model or address. Nothing is opened.

    Raises:
        UnknownNameError: there is no such environment, agent or kind of model.
        SettingError: it names one.
    """
    named: set[str] = set()
    kinds: list[tuple[type[BaseModel], Mapping[str, JsonValue]]] = [(RunSettings, said.settings)]
    envs = [find_env(env.env).settings for env in said.environments]
    kinds += ((kind, env.settings) for kind, env in zip(envs, said.environments, strict=True))
    for env in said.environments:
        source = env.tasks.source
        if source is not None and tasksets.find(source) is None:
            named.add(source)
    for agent in said.agents:
        if names_file(agent.agent):
            named.add(agent.agent)
            continue
        chosen = find_agent(agent.agent)
        # They may also be of the environment or the run, as with `--set`.
        kinds += ((kind, agent.settings) for kind in (*envs, RunSettings, chosen.settings))
        if (spec := agent.model or chosen.model) is not None:
            registration, name = models.find(spec)
            kinds.append((registration.settings, agent.settings))
            if spec != chosen.model and registration.is_place(name):
                named.add(spec)
        if agent.base_url is not None:
            named.add(agent.base_url)
    for kind, given in kinds:
        own = places(kind) | trusting(kind)
        named |= {f"{k}={v}" for k, v in given.items() if k.rpartition(".")[2] in own}
    if named:
        raise SettingError(
            f"{lock} names {', '.join(sorted(named))}. Programs, files, models and addresses named "
            "in a lock are not used unless you give --trust-record."
        )


@dataclass(frozen=True, slots=True)
class CellRequest:
    """What was found out of an agent's model before an episode was spent."""

    prompt: Sequence[Message]
    """Prompt of the first decision; empty for a model that is sent no messages."""
    details: Mapping[str, JsonValue]
    """`Model.details` of the agent's model."""


async def ask_once(cell: ExperimentCell, *, only_prompt: bool = False) -> CellRequest:
    """Let the agent of `cell` make its first decision, outside of its run.

    With `only_prompt`, the model is loaded and not asked.

    Raises:
        ModelError: it gives no answer.
        LackingError, UnavailableError, SimulatorError: what is needed is missing here.
    """
    # The one fault of a model that is not asked stops nothing.
    own = cell.plan.run_settings.model_copy(update={"max_faults": 0})
    settings = {**cell.plan.settings, "run": own}
    chosen = replace(cell.plan, sight=Sight.SHOWN, max_steps=1, settings=settings)
    prompts: list[Sequence[Message]] = []
    if only_prompt:
        values = {one.name: getattr(chosen, one.name) for one in fields(chosen)}
        chosen = _OnlyPrompt(**values, prompts=prompts)
    with TemporaryDirectory(prefix="inhabit-") as folder:
        run = await record_run(chosen, cell.tasks[:1], Path(folder), command=["inhabit"])
        end = run.episode(0).end()
        if end is not None and end.is_fault and not only_prompt:
            raise ModelError(f"{cell.agent.name} can't play {cell.env.name}: {end.error}")
        return CellRequest(prompts[0] if prompts else (), run.header.model_details)


@dataclass(frozen=True, slots=True)
class _OnlyPrompt(RunPlan):
    """A plan whose model is loaded, and keeps what it is asked in place of an answer."""

    prompts: list[Sequence[Message]] = field(default_factory=list)

    def load_model(self, before: Mapping[str, JsonValue] = MappingProxyType({})) -> Model | None:
        model = RunPlan.load_model(self, before)
        return None if model is None else _Unasked(model, self.prompts)


class _Unasked(Model):
    def __init__(self, model: Model, prompts: list[Sequence[Message]]) -> None:
        self._model, self._prompts = model, prompts
        self.name, self.abilities, self.details = model.name, model.abilities, model.details
        self.samples, self.instead, self.checked = model.samples, model.instead, model.checked

    async def rank(self, prompt: Sequence[Message], candidates: Sequence[str]) -> Ranking:
        raise self._kept(prompt)

    async def _beam(
        self, prompt: Sequence[Message], candidates: Sequence[str], rules: BeamRules
    ) -> Ranking:
        raise self._kept(prompt)

    async def _generate(self, prompt: Sequence[Message], options: GenerateOptions) -> Reply:
        raise self._kept(prompt)

    async def choose(self, prompt: Sequence[Message], letters: Sequence[str]) -> Ranking:
        raise self._kept(prompt)

    async def close(self) -> None:
        await self._model.close()

    def _kept(self, prompt: Sequence[Message]) -> ModelError:
        self._prompts.append(prompt)
        return ModelError("The model is not asked.")


def outcomes(run: Run) -> Iterator[EpisodeOutcome]:
    """How the episodes of `run` ended, as far as they have."""
    for episode, end in zip(run.episodes(), Index(run).ends(), strict=True):
        if end is None:
            continue
        said = [s.decide.action or s.decide.raw for s in episode.steps() if s.decide]
        yield EpisodeOutcome(
            id=episode.task.id,
            ending=end.ending,
            met=end.met,
            total=end.total,
            steps=end.steps,
            cost=end.cost,
            actions=_digest(json.dumps(said).encode())[:16],
        )


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


@cache
def tree_digest(*folders: str) -> str:
    """SHA-256 of folders of the package: names and contents, without what is compiled."""
    lines = []
    for folder in folders:
        top = Path(inhabit.__file__).parent / folder
        for place, below, names in os.walk(top, followlinks=True):
            below[:] = sorted(set(below) - {"__pycache__"})
            for name in sorted(names):
                if not name.endswith(".pyc"):
                    file = Path(place, name)
                    lines.append(f"{file.relative_to(top)} {_digest(file.read_bytes())}\n")
    return _digest("".join(lines).encode())
