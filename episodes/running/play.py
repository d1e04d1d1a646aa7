"""One episode: observe, decide, act, with every step on disk before the next one."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import TypeVar

from inhabit.agents.core import (
    Agent,
    BudgetError,
    CutShortError,
    Decision,
    Grant,
    Grants,
    ModelError,
    NoAnswerError,
    Step,
    UndoError,
    View,
)
from inhabit.agents.deciding import check_budget, decide
from inhabit.envs.core import (
    Action,
    Env,
    Observation,
    Outcome,
    Reason,
    SceneError,
    SimulatorError,
    Task,
    TaskError,
    UnavailableError,
)
from inhabit.envs.worker import WorkerError
from inhabit.episodes.recording.schema import Choice, Ending, EndLine, Sight
from inhabit.episodes.recording.writer import EpisodeWriter, ObservedState
from inhabit.episodes.replaying.resume import Prefix, Recorded
from inhabit.episodes.running.clock import Clock, TimeShare
from inhabit.episodes.running.env_thread import EnvThread
from inhabit.episodes.running.faults import Faults
from inhabit.episodes.running.poses import pose_of, things_of
from inhabit.episodes.running.settings import RunSettings
from inhabit.episodes.running.tally import Limits, Tally
from inhabit.episodes.running.view import grants, look, shown, state_of

T = TypeVar("T")

UNREADABLE = "That answer could not be understood as an action."
"""Feedback for an answer that matches no action."""
CUT_OFF = "That answer was cut off at the limit of tokens before it named an action."
"""Feedback for an answer that used up its tokens."""
TAKEN_BACK = "The last step was taken back. The next attempt continues without it."
"""Why an attempt ended in which a person said "undo"."""


@dataclass(frozen=True, slots=True)
class Rules:
    """Settings that hold for every episode of a run."""

    candidates: Choice = Choice.SEEN
    sight: Sight = Sight.SHOWN
    granted: frozenset[Grant] = frozenset()
    max_steps: int | None = None
    """Instead of each task's own limit."""
    settings: RunSettings = field(default_factory=RunSettings)

    def limits(self, task: Task) -> Limits:
        """The limits of an episode of `task`."""
        return Limits(self.max_steps or task.max_steps, self.settings.max_invalid)


async def play(
    env_thread: EnvThread,
    agent: Agent,
    task: Task,
    writer: EpisodeWriter,
    rules: Rules,
    faults: Faults,
    *,
    seed: int,
    prefix: Prefix | None = None,
    again: bool = False,
    spent: float = 0.0,
    can_undo: bool = False,
) -> EndLine:
    """Play `task` once and record every step as it happens.

    A decision is on disk before it is executed, so an interrupted run never pays for it again.

    Args:
        env_thread: the environment.
        agent: decides.
        task: of the episode.
        writer: of this attempt.
        rules: of the run.
        faults: that the command has met.
        seed: of the episode.
        prefix: recorded steps that are re-executed before the agent is asked.
        again: whether another attempt follows a simulator fault.
        spent: seconds that earlier attempts took; they count towards `max_seconds`.
        can_undo: whether a person may take back the last step.

    Returns:
        How the attempt ended; possibly with a fault of the simulator or the model.

    Raises:
        DiskError: the record can't be written.
        NoAnswerError: the model did not answer, and no decision was made before; the attempt has
            no end then.
        DivergedError: a step of `prefix` differs from the record; the attempt has no end then.
        UndoError: a person takes back the last step. This attempt is over, and another one
            continues it without that step.
    """
    episode = _Episode(
        env_thread, agent, task, writer, rules, faults, seed, prefix, spent, can_undo
    )
    fault: Fault | None = None
    try:
        check_budget(agent)
        await episode.begin()
        observed = await episode.see()
        while not episode.over:
            decision = await episode.decide(observed)
            if not decision.stop:
                await episode.act(decision, observed)
                observed = await episode.see()
    except UndoError:
        await episode.take_back()
        raise
    except _FAULTS as error:
        if isinstance(error, NoAnswerError) and not faults.decided:
            raise
        fault = error
    return await episode.end(fault, again=again)


Fault = SceneError | SimulatorError | TaskError | UnavailableError | ModelError
_ENDINGS: Mapping[type[Fault], Ending] = {
    SceneError: Ending.SCENE_REFUSED,
    SimulatorError: Ending.SIMULATOR_FAULT,
    # Raised in the middle of a run, by an environment that checks late.
    TaskError: Ending.SIMULATOR_FAULT,
    UnavailableError: Ending.SIMULATOR_FAULT,
    BudgetError: Ending.BUDGET,
    ModelError: Ending.MODEL_FAULT,
}
_FAULTS = tuple(_ENDINGS)


@dataclass(slots=True)
class _Episode:
    """A running episode: each part of a step is timed and recorded."""

    env_thread: EnvThread
    agent: Agent
    task: Task
    writer: EpisodeWriter
    rules: Rules
    faults: Faults
    seed: int
    prefix: Prefix | None
    spent: float
    can_undo: bool
    grants: Grants = field(default_factory=Grants)
    history: list[Step] = field(default_factory=list)
    tally: Tally = field(init=False)
    clock: Clock = field(default_factory=Clock)
    started: bool = False
    posed: bool = False

    def __post_init__(self) -> None:
        self.tally = Tally(self.rules.limits(self.task))

    @property
    def over(self) -> bool:
        """Whether it has ended."""
        return self.tally.ending is not None

    async def begin(self) -> None:
        """Build the scene, and record the start."""
        await self._ask(lambda env: env.reset(self.task, seed=self.seed))
        progress = await self._ask(lambda env: env.progress())
        self.tally.met, self.tally.total = progress
        rules = self.rules
        self.grants = await grants(self.env_thread, rules.granted, rules.candidates, rules.sight)
        words = None
        if self.rules.candidates is Choice.VOCABULARY:
            words = await self._ask(lambda env: env.vocabulary())
        state = await self._ask(state_of)
        self.posed = pose_of(state) is not None
        with self.clock.measure(TimeShare.RECORD):
            continues = self.prefix.attempt if self.prefix else None
            self.writer.start(self.task, self.seed, progress, words, continues, things_of(state))
        self.started = True

    async def see(self) -> ObservedState:
        """Observe. A step ends with the observation after it."""
        step = self.tally.steps
        observed = await self._ask(lambda env: look(env, self.rules.candidates, pose=self.posed))
        with self.clock.measure(TimeShare.RECORD):
            self.writer.see(step, observed, self.clock.latest(TimeShare.SIMULATOR))
        if step:
            self.clock.end_step()
        else:
            self.clock.begin_step()
        if (recorded := self._recorded()) is not None:
            recorded.check_seen(observed)
        return observed

    async def decide(self, observed: ObservedState) -> Decision:
        """The agent's decision, or the recorded one; on disk when this returns."""
        if (recorded := self._recorded()) is not None:
            decision = await self._repeated(recorded)
        else:
            decision = await self._asked(observed)
        await self._decided(decision)
        return decision

    async def _repeated(self, recorded: Recorded) -> Decision:
        said = recorded.line.action
        action = None if said is None else await self._ask(lambda env: env.parse(said))
        self.clock.add_recorded(recorded.line.seconds)
        return recorded.decision(action)

    async def _asked(self, observed: ObservedState) -> Decision:
        most = self.rules.settings.max_seconds
        if most is not None and self.spent + self.clock.elapsed >= most:
            raise BudgetError(f"The {most:g} s that max_seconds allows an episode are over.")
        view = View(
            goal=self.task.goal,
            observation=shown(observed.observation, self.rules.sight),
            candidates=observed.candidates,
            history=tuple(self.history),
            seed=self.seed,
            parse=self._parse,
            grants=self.grants,
            can_undo=self.can_undo,
        )
        try:
            with self.clock.measure(TimeShare.MODEL):
                try:
                    most = self.rules.settings.decision_deadline
                    decision = await decide(self.agent, view, most)
                finally:
                    self.clock.add(TimeShare.SIMULATOR, self.env_thread.seconds())
        except ModelError as error:
            if error.decision is not None and error.decision.calls:
                self.faults.decided = True  # The model is there, at least.
                await self._decided(error.decision)
            raise
        except CutShortError as error:
            await self._decided(error.decision)
            raise error.fault from error
        self.faults.decided = True
        return decision

    async def _decided(self, decision: Decision) -> None:
        """Record and count a decision, or the calls made until something failed."""
        with self.clock.measure(TimeShare.RECORD):
            seconds = self.clock.latest(TimeShare.MODEL)
            await self.writer.decide(self.tally.steps, decision, seconds)
        self.tally.decided(decision)

    async def act(self, decision: Decision, observed: ObservedState) -> None:
        """Execute the decision; an unreadable answer is a step without effect."""
        if (action := decision.action) is not None:
            outcome = await self._ask(lambda env: env.act(action))
            seconds = self.clock.latest(TimeShare.SIMULATOR)
            if (recorded := self._recorded()) is not None:
                recorded.check_outcome(outcome)
        else:
            met, total = self.tally.met, self.tally.total
            cut = decision.calls and decision.calls[-1].finish == "length"
            said = CUT_OFF if cut else UNREADABLE
            outcome = Outcome(Reason.UNKNOWN_ACTION, said, met, total, over=False, cost=0)
            seconds = 0.0
        with self.clock.measure(TimeShare.RECORD):
            self.writer.act(self.tally.steps, outcome, seconds)
        self.tally.acted(decision, outcome)
        self._remember(decision, outcome, shown(observed.observation, self.rules.sight))

    async def take_back(self) -> None:
        """Record that a person took back the last step, and so ended this attempt."""
        self.tally.ending = Ending.STOPPED
        await self.end(None, again=False, note=TAKEN_BACK)

    async def end(self, fault: Fault | None, *, again: bool, note: str | None = None) -> EndLine:
        """Record the end; `again` if another attempt follows a simulator fault."""
        tally, clock = self.tally, self.clock
        clock.add(TimeShare.SIMULATOR, self.env_thread.seconds())
        with clock.measure(TimeShare.RECORD):
            if not self.started:
                self.writer.start(self.task, self.seed, None)
            await self.writer.pictures_written()
        ending = _ending(fault) if fault else tally.ending
        assert ending is not None, "An episode without a fault is played until it is over."
        end = EndLine(
            time=time.time(),
            ending=ending,
            success=ending is Ending.SUCCESS,
            met=tally.met,
            total=tally.total,
            steps=tally.steps,
            cost=tally.cost,
            invalid=tally.invalid,
            unmatched=tally.unmatched,
            replans=tally.replans,
            seconds=clock.total(),
            overhead_ms=clock.overhead_ms,
            tokens=tally.tokens,
            error=note if fault is None else str(fault),
            attempt=self.writer.attempt,
            again=again and ending is Ending.SIMULATOR_FAULT,
            printed=tuple(fault.printed) if isinstance(fault, WorkerError) else (),
        )
        await self.writer.end(end)
        return end

    def _recorded(self) -> Recorded | None:
        return None if self.prefix is None else self.prefix.step(self.tally.steps)

    def _remember(self, decision: Decision, outcome: Outcome, seen: Observation) -> None:
        said = decision.action.text if decision.action else decision.raw
        step = Step(said, outcome.reason, outcome.feedback, seen.rgb, seen.text, seen.clips)
        self.history.append(replace(step, planned=decision.planned))
        if (old := len(self.history) - 1 - self.rules.settings.remember) >= 0:
            self.history[old] = replace(self.history[old], rgb=None, clips=())

    async def _parse(self, text: str) -> Action | None:
        if not isinstance(text, str):
            raise ModelError(f"The agent gave View.parse a {type(text).__name__}, not a text.")
        return await self.env_thread.call(lambda env: env.parse(text))

    async def _ask(self, ask: Callable[[Env], T]) -> T:
        try:
            return await self.env_thread.call(ask)
        finally:
            self.clock.add(TimeShare.SIMULATOR, self.env_thread.seconds())


def _ending(fault: Fault) -> Ending:
    return next(ending for kind, ending in _ENDINGS.items() if isinstance(fault, kind))
