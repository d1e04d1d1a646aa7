"""One episode: observe, decide, act, with every step on disk before the next one."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TypeVar

from inhabit.agents.core import (
    Agent,
    BudgetError,
    CutShortError,
    Decision,
    Grant,
    Grants,
    ModelError,
    Step,
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
from inhabit.episodes.running.poses import pose_of, things_of
from inhabit.episodes.running.settings import Resume
from inhabit.episodes.running.tally import Limits, Tally
from inhabit.episodes.running.view import grants, look, shown, state_of

T = TypeVar("T")

UNREADABLE = "That answer could not be understood as an action."
"""Feedback for an answer that matches no action."""


@dataclass(frozen=True, slots=True)
class Rules:
    """Settings that hold for every episode of a run."""

    candidates: Choice = Choice.SEEN
    sight: Sight = Sight.SHOWN
    granted: frozenset[Grant] = frozenset()
    max_steps: int | None = None
    """In place of each task's own limit."""
    max_invalid: int = 10
    remember: int = 50
    """Past pictures that a history holds."""
    retries: int = 0
    """Attempts more that an episode is given after faults of its simulator."""
    pause: float = 0.25
    """Seconds before the first of them; before each next one twice as long."""
    resume: Resume = Resume.CONTINUE
    frames: bool = True
    """Keep the pictures that were seen and sent."""
    max_seconds: float | None = None
    """After which no step is begun; None for any time."""

    def limits(self, task: Task) -> Limits:
        """When an episode of `task` is cut short."""
        return Limits(self.max_steps or task.max_steps, self.max_invalid)


async def play(
    env_thread: EnvThread,
    agent: Agent,
    task: Task,
    writer: EpisodeWriter,
    rules: Rules,
    *,
    seed: int,
    prefix: Prefix | None = None,
    again: bool = False,
    spent: float = 0.0,
) -> EndLine:
    """Play `task` once and write down every step as it happens.

    A decision is on disk before it is acted on, so a run that is cut off never pays for it again.

    Args:
        env_thread: where.
        agent: who decides.
        task: what is to be achieved.
        writer: of this attempt.
        rules: of the run.
        seed: of the episode.
        prefix: steps of an earlier attempt, acted again before the agent is asked.
        again: whether another attempt follows if a fault of the simulator cuts this one short.
        spent: seconds that earlier attempts took, of those that `rules` allow.

    Returns:
        How the attempt ended. A fault of the simulator or the model is a result too.

    Raises:
        DiskError: the record can't be written.
        DivergedError: a step of `prefix` came out differently; the attempt has no end then.
    """
    episode = _Episode(env_thread, agent, task, writer, rules, seed, prefix, spent)
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
    except _FAULTS as error:
        fault = error
    return await episode.end(fault, again=again)


Fault = SceneError | SimulatorError | TaskError | UnavailableError | ModelError
_ENDINGS: Mapping[type[Fault], Ending] = {
    SceneError: Ending.SCENE_REFUSED,
    SimulatorError: Ending.SIMULATOR_FAULT,
    # An environment that only finds out in the middle of a run what it can't read, or lacks.
    TaskError: Ending.SIMULATOR_FAULT,
    UnavailableError: Ending.SIMULATOR_FAULT,
    BudgetError: Ending.BUDGET,
    ModelError: Ending.MODEL_FAULT,
}
_FAULTS = tuple(_ENDINGS)


class _Episode:
    """An episode in the middle of being played: each part of a step, timed and written down."""

    def __init__(
        self,
        env_thread: EnvThread,
        agent: Agent,
        task: Task,
        writer: EpisodeWriter,
        rules: Rules,
        seed: int,
        prefix: Prefix | None,
        spent: float,
    ) -> None:
        self._env_thread = env_thread
        self._agent = agent
        self._task = task
        self._writer = writer
        self._rules = rules
        self._seed = seed
        self._prefix = prefix
        self._spent = spent
        self._grants = Grants()
        self._history: list[Step] = []
        self._tally = Tally(rules.limits(task))
        self._clock = Clock()
        self._started = False
        self._posed = False

    @property
    def over(self) -> bool:
        """Whether it has ended."""
        return self._tally.ending is not None

    async def begin(self) -> None:
        """Build the scene, and write down that it stands."""
        await self._ask(lambda env: env.reset(self._task, seed=self._seed))
        progress = await self._ask(lambda env: env.progress())
        self._tally.met, self._tally.total = progress
        rules = self._rules
        self._grants = await grants(self._env_thread, rules.granted, rules.candidates, rules.sight)
        words = None
        if self._rules.candidates is Choice.VOCABULARY:
            words = await self._ask(lambda env: env.vocabulary())
        state = await self._ask(state_of)
        self._posed = pose_of(state) is not None
        with self._clock.measure(TimeShare.RECORD):
            continues = self._prefix.attempt if self._prefix else None
            self._writer.start(self._task, self._seed, progress, words, continues, things_of(state))
        self._started = True

    async def see(self) -> ObservedState:
        """What there is to see now. A step is over once its consequences are seen."""
        step = self._tally.steps
        observed = await self._ask(lambda env: look(env, self._rules.candidates, pose=self._posed))
        with self._clock.measure(TimeShare.RECORD):
            self._writer.see(step, observed, self._clock.latest(TimeShare.SIMULATOR))
        if step:
            self._clock.end_step()
        else:
            self._clock.begin_step()
        if (recorded := self._recorded()) is not None:
            recorded.check_seen(observed)
        return observed

    async def decide(self, observed: ObservedState) -> Decision:
        """What the agent wants, or is on record to have wanted; written down when this returns."""
        if (recorded := self._recorded()) is not None:
            decision = await self._repeated(recorded)
        else:
            decision = await self._asked(observed)
        await self._decided(decision)
        return decision

    async def _repeated(self, recorded: Recorded) -> Decision:
        said = recorded.line.action
        action = None if said is None else await self._ask(lambda env: env.parse(said))
        self._clock.add_recorded(recorded.line.seconds)
        return recorded.decision(action)

    async def _asked(self, observed: ObservedState) -> Decision:
        most = self._rules.max_seconds
        if most is not None and self._spent + self._clock.elapsed >= most:
            raise BudgetError(f"The {most:g} s that max_seconds allows an episode are over.")
        view = View(
            goal=self._task.goal,
            observation=shown(observed.observation, self._rules.sight),
            candidates=observed.candidates,
            history=tuple(self._history),
            seed=self._seed,
            parse=self._parse,
            grants=self._grants,
        )
        try:
            with self._clock.measure(TimeShare.MODEL):
                try:
                    decision = await decide(self._agent, view)
                finally:
                    self._clock.add(TimeShare.SIMULATOR, self._env_thread.seconds())
        except ModelError as error:
            if error.decision is not None and error.decision.calls:
                await self._decided(error.decision)
            raise
        except CutShortError as error:
            await self._decided(error.decision)
            raise error.fault from error
        return decision

    async def _decided(self, decision: Decision) -> None:
        """Write down and count what was decided, or said and paid for until something failed."""
        with self._clock.measure(TimeShare.RECORD):
            seconds = self._clock.latest(TimeShare.MODEL)
            await self._writer.decide(self._tally.steps, decision, seconds)
        self._tally.decided(decision)

    async def act(self, decision: Decision, observed: ObservedState) -> None:
        """Carry the decision out; words that mean nothing are a step that had no effect."""
        if (action := decision.action) is not None:
            outcome = await self._ask(lambda env: env.act(action))
            seconds = self._clock.latest(TimeShare.SIMULATOR)
            if (recorded := self._recorded()) is not None:
                recorded.check_outcome(outcome)
        else:
            met, total = self._tally.met, self._tally.total
            outcome = Outcome(Reason.UNKNOWN_ACTION, UNREADABLE, met, total, over=False, cost=0)
            seconds = 0.0
        with self._clock.measure(TimeShare.RECORD):
            self._writer.act(self._tally.steps, outcome, seconds)
        self._tally.acted(decision, outcome)
        self._remember(decision, outcome, shown(observed.observation, self._rules.sight))

    async def end(self, fault: Fault | None, *, again: bool) -> EndLine:
        """Write down how it ended, and why; `again` if a fault of the simulator is not the last."""
        tally, clock = self._tally, self._clock
        clock.add(TimeShare.SIMULATOR, self._env_thread.seconds())
        with clock.measure(TimeShare.RECORD):
            if not self._started:
                self._writer.start(self._task, self._seed, None)
            await self._writer.pictures_written()
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
            error=None if fault is None else str(fault),
            attempt=self._writer.attempt,
            again=again and ending is Ending.SIMULATOR_FAULT,
            printed=tuple(fault.printed) if isinstance(fault, WorkerError) else (),
        )
        await self._writer.end(end)
        return end

    def _recorded(self) -> Recorded | None:
        return None if self._prefix is None else self._prefix.step(self._tally.steps)

    def _remember(self, decision: Decision, outcome: Outcome, seen: Observation) -> None:
        said = decision.action.text if decision.action else decision.raw
        step = Step(said, outcome.reason, outcome.feedback, seen.rgb, seen.text, seen.clips)
        self._history.append(step)
        if (old := len(self._history) - 1 - self._rules.remember) >= 0:
            self._history[old] = replace(self._history[old], rgb=None, clips=())

    async def _parse(self, text: str) -> Action | None:
        if not isinstance(text, str):
            raise ModelError(f"The agent gave View.parse a {type(text).__name__}, not a text.")
        return await self._env_thread.call(lambda env: env.parse(text))

    async def _ask(self, ask: Callable[[Env], T]) -> T:
        try:
            return await self._env_thread.call(ask)
        finally:
            self._clock.add(TimeShare.SIMULATOR, self._env_thread.seconds())


def _ending(fault: Fault) -> Ending:
    return next(ending for kind, ending in _ENDINGS.items() if isinstance(fault, kind))
