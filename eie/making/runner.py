"""Runs one attempt: proposal, scene, extraction, and one revision if the proposal fails.

What makes a set is loaded from its header, on any machine.
"""

from __future__ import annotations

import asyncio
import json
import re
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TypeVar

from pydantic import BaseModel

from inhabit.agents.models import registry as models
from inhabit.agents.models.core import Model
from inhabit.eie.examples.draft import Piece
from inhabit.eie.examples.example import Refused, Rejection
from inhabit.eie.examples.settings import SynthSettings
from inhabit.eie.making.author import (
    Author,
    AuthorReply,
    AuthorRequest,
    Procedural,
    SilentAuthorError,
)
from inhabit.eie.making.goal_reader import GoalReader, GoalReading
from inhabit.eie.making.llm_author import LlmAuthor
from inhabit.eie.making.pipeline import Pipeline
from inhabit.eie.sets.folder import SetHeader
from inhabit.envs.core import Env, SimulatorError, UnavailableError
from inhabit.envs.entries import PluginError, raised
from inhabit.envs.errors import UserError
from inhabit.envs.marks import as_recorded
from inhabit.envs.registry import find
from inhabit.envs.template import Template
from inhabit.episodes.playing.plan import make_env
from inhabit.episodes.playing.settings import RunSettings


@dataclass(frozen=True, slots=True)
class Components:
    """An author, the pipeline that checks its tasks, and the environment."""

    author: Author
    pipeline: Pipeline
    make: Callable[[], Env]
    settings: SynthSettings
    reader: GoalReader | None = None

    async def close(self) -> None:
        """Close the models."""
        try:
            await self.author.close()
        finally:
            if self.reader is not None:
                await self.reader.close()


def load_components(header: SetHeader) -> Components:
    """Create the components; the models are loaded. Call it where no event loop runs.

    Raises:
        UnavailableError: something is missing on this machine, or the environment has no template.
        ModelError: a model can't be loaded.
        PluginError: the template raised.
    """
    registration = find(header.env)
    if registration.template is None:
        raise UnavailableError(f"{registration.name} offers no template for tasks to be written.")
    of_env = registration.settings.model_validate(
        as_recorded(registration.settings, header.settings["env"])
    )
    chosen = SynthSettings.model_validate(header.settings["synth"])
    run = RunSettings(deadline=chosen.deadline, in_process=chosen.in_process)
    with faults_of_template(header.env):
        template = registration.template(of_env)
        pipeline = Pipeline(header.env, template, chosen, header.seed)
    author, reader = _models(header, template)
    return Components(
        author,
        pipeline,
        lambda: make_env(registration, header.backend, of_env, run),
        chosen,
        reader,
    )


def _models(header: SetHeader, template: Template) -> tuple[Author, GoalReader | None]:
    """The author, and the reader of its goals if there is one."""
    if header.author == Procedural.name:
        return Procedural(header.env, template), None
    with ExitStack() as loaded:
        model = _model(header, header.author, "model")
        loaded.callback(lambda: asyncio.run(model.close()))
        author, reader = LlmAuthor(header.env, template, model), None
        if header.reader:
            second = _model(header, header.reader, "reader")
            loaded.callback(lambda: asyncio.run(second.close()))
            with faults_of_template(header.env):
                reader = GoalReader(template, second)
        loaded.pop_all()
        return author, reader


def _model(header: SetHeader, name: str, owner: str) -> Model:
    """The model KIND:NAME with the settings of `owner`."""
    kind = models.find(name)[0].settings
    return models.load(name, kind.model_validate(header.settings[owner]))


@contextmanager
def faults_of_template(env: str) -> Iterator[None]:
    """Say in a sentence what the template of `env` raises, which anybody may have written."""
    try:
        yield
    except (UserError, OSError):
        raise
    except Exception as error:
        raise PluginError(f"The template of {env!r} {raised(error)}.") from error


def owners(env: str, author: str, reader: str) -> dict[str, type[BaseModel]]:
    """The groups of settings for `--set`: "env", "synth", and those of the models in use.

    The author's is "model", and that of the one that reads its goals "reader".
    """
    found: dict[str, type[BaseModel]] = {"env": find(env).settings, "synth": SynthSettings}
    if author != Procedural.name:
        found["model"] = models.find(author)[0].settings
    if reader:
        found["reader"] = models.find(reader)[0].settings
    return found


T = TypeVar("T")

_BUILDS = 3
"""Number of simulators that are started for one attempt before it is rejected."""


@dataclass(slots=True)
class AttemptResult:
    """The result of an attempt, before duplicates are removed."""

    number: int
    pieces: list[Piece] = field(default_factory=list)
    task: str = ""
    """Id of the author's task; empty where the author did not answer."""
    tokens: dict[str, int] = field(default_factory=dict)
    """Tokens of the models, "in" and "out": of the author, and of the reader of its goals."""
    seconds: float = 0.0
    change: str = ""
    """The change that evolved the task."""
    reading: str = ""
    """The task's goal as a second model says it."""

    def pay(self, tokens: Mapping[str, int]) -> None:
        """Add the tokens of an answer."""
        for name, count in tokens.items():
            self.tokens[name] = self.tokens.get(name, 0) + count


class AttemptRunner:
    """Makes attempts one after the other in its own environment."""

    def __init__(self, components: Components, seed: int) -> None:
        """Prepare. Nothing starts before the first attempt, and no model is closed."""
        self._author = components.author
        self._reader = components.reader
        self._pipeline = components.pipeline
        self._make = components.make
        self._seed = seed
        self._env: Env | None = None
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="synth")

    async def attempt(self, number: int) -> AttemptResult:
        """Make the attempt with this number. The result depends only on the number and the seed.

        Raises:
            SimulatorError: no simulator can be started.
            UnavailableError: the environment lacks something on this machine.
            PluginError: its template raised.
        """
        begun = time.perf_counter()
        made = AttemptResult(number)
        with faults_of_template(self._pipeline.env):
            await self._try(made)
        made.seconds = time.perf_counter() - begun
        return made

    async def _try(self, made: AttemptResult) -> None:
        request = AuthorRequest(made.number, self._seed)
        for again in (True, False):
            try:
                answer = await self._author.propose(request)
                made.pay(answer.tokens)
                made.task, made.change, made.reading = answer.name, answer.change, ""
                reading = await self._reading(answer, request, made)
            except SilentAuthorError as error:
                made.pay(error.tokens)
                made.pieces.append(Refused(Rejection.NO_ANSWER, str(error)))
                break
            if reading is not None and reading.incomplete:
                why = f"Its reader says that {reading.text!r} leaves something of the goal out."
                pieces: list[Piece] = [Refused(Rejection.MEANING, why)]
            else:
                read = replace(answer, reading=reading.text if reading else "")
                pieces = await self._cut(read, made.number)
            made.pieces += pieces
            refused = pieces[0] if len(pieces) == 1 else None
            if not (again and self._author.takes_feedback and isinstance(refused, Refused)):
                break
            said = (
                answer.raw
                if isinstance(answer.raw, str)
                else json.dumps(answer.raw, ensure_ascii=False)
            )
            request = AuthorRequest(made.number, request.seed, refused.sentence, said)

    async def _reading(
        self, answer: AuthorReply, request: AuthorRequest, made: AttemptResult
    ) -> GoalReading | None:
        """The goal as the reader says it; None if there is no reader, or no goal."""
        goal = answer.raw.get("goal") if isinstance(answer.raw, dict) else None
        if self._reader is None or not isinstance(goal, str):
            return None
        reading = await self._reader.read(goal, 2 * request.number + bool(request.feedback))
        made.pay(reading.tokens)
        made.reading = reading.text
        return reading

    async def close(self) -> None:
        """End the environment. Safe to call twice."""
        env, self._env = self._env, None
        if env is not None:
            await self._on_thread(env.close)
        self._thread.shutdown()

    async def _cut(self, answer: AuthorReply, number: int) -> list[Piece]:
        """The pieces of an answer. After a simulator fault it is tried again, then rejected.

        The result must not depend on which worker's simulator failed.
        """
        why = ""
        for _ in range(_BUILDS):
            if self._env is None:
                self._env = await self._on_thread(self._make)
            env = self._env
            try:
                return await self._on_thread(partial(self._pieces, env, answer, number))
            except SimulatorError as error:
                self._env = None
                await self._on_thread(env.close)
                # Without the lines that it printed, and the words that announce them.
                why = re.sub(r"(?<=[.]) [^.]*:$", "", str(error).strip().partition("\n")[0])
        return [Refused(Rejection.REFUSED, f"The simulator fails: {why}")]

    def _pieces(self, env: Env, answer: AuthorReply, number: int) -> list[Piece]:
        return list(self._pipeline.pieces(env, answer, self._author.name, number))

    async def _on_thread(self, work: Callable[[], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._thread, work)
