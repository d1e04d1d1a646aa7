"""One episode: observe, decide, act, with every step on disk before the next one."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TypeVar

from inhabit.agents.core import (
    NOTHING_GRANTED,
    Agent,
    BudgetError,
    CutShortError,
    Decision,
    Grants,
    ModelError,
    NoAnswerError,
    UndoError,
)
from inhabit.agents.deciding import check_budget, decide
from inhabit.envs.core import Action, SceneError, SimulatorError, TaskError, UnavailableError
from inhabit.envs.errors import ExitCode, UserError
from inhabit.envs.host.env import WorkerError
from inhabit.episodes.episode import Episode, Moment
from inhabit.episodes.playing.clock import Clock, TimeShare
from inhabit.episodes.playing.env_thread import EnvThread, grants
from inhabit.episodes.playing.plan import RunPlan
from inhabit.episodes.playing.poses import pose_of, things_of
from inhabit.episodes.playing.resume import Prefix
from inhabit.episodes.playing.retrace import compare_outcome, compare_seen, recorded_decision
from inhabit.episodes.recording.schema import Choice, Ending, EndLine, PoseRecord, TokenCounts
from inhabit.episodes.recording.writer import EpisodeWriter


class FaultsError(UserError, RuntimeError):
    """A run stopped because its model failed in episode after episode."""

    exit_code = ExitCode.STOPPED


class Faults:
    """The faults of the model that one command meets."""

    def __init__(self, most: int) -> None:
        """Allow fewer than `most` episodes in a row to end by one; any number for 0."""
        self._most, self._row = most, 0
        self.decided = False
        """Whether a model has answered: if not, a refusal is a mistake in the command."""

    def count(self, end: EndLine) -> None:
        """Count an episode that has ended. Raises FaultsError where it was one fault too many."""
        self._row = self._row + 1 if end.ending is Ending.MODEL_FAULT else 0
        if self._row and self._row == self._most:
            raise FaultsError(
                f"The run stopped: {self._row} episodes in a row ended by a fault of the model "
                f"(--set max_faults={self._most}). The last one: {end.error}\nMend this and run "
                "the same command again, with --retry-faults for episodes that had begun."
            )


T = TypeVar("T")

TAKEN_BACK = "The last step was taken back. The next attempt continues without it."
"""Why an attempt ended in which a person said "undo"."""


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
class EpisodePlay:
    """Plays an episode once, and records every step as it happens.

    A decision is on disk before it is executed, so an interrupted run never pays for it again.
    """

    env_thread: EnvThread
    agent: Agent
    episode: Episode
    writer: EpisodeWriter
    """Writes the record of this attempt."""
    plan: RunPlan
    faults: Faults
    """Model faults of this command so far."""
    prefix: Prefix | None
    """Recorded steps that are re-executed before the agent is asked."""
    spent: float = 0.0
    """Seconds that earlier attempts took; they count towards `max_seconds`."""
    can_undo: bool = False
    """Whether a person may take back the last step."""
    grants: Grants = field(default=NOTHING_GRANTED, init=False)
    clock: Clock = field(default_factory=Clock, init=False)
    tokens_read: int = field(default=0, init=False)
    tokens_written: int = field(default=0, init=False)
    started: bool = field(default=False, init=False)
    """Whether the record of this attempt has begun."""
    posed: bool = field(default=False, init=False)
    """Whether the simulator tells where the agent stands."""

    async def run(self, *, again: bool = False) -> EndLine:
        """How the attempt ended; possibly with a fault of the simulator or the model.

        With `again`, another attempt follows a simulator fault.

        Raises:
            DiskError: the record can't be written.
            NoAnswerError: the model did not answer, and no decision was made before; the attempt
                has no end then.
            DivergedError: a step of `prefix` differs from the record; the attempt has no end then.
            UndoError: a person takes back the last step. This attempt is over, and another one
                continues it without that step.
        """
        fault: Fault | None = None
        try:
            check_budget(self.agent)
            now = await self._begin()
            while now.ending is None:
                now = await self._act(await self._decide(now))
        except UndoError:
            await self._end(note=TAKEN_BACK)
            raise
        except _FAULTS as error:
            if isinstance(error, NoAnswerError) and not self.faults.decided:
                raise
            fault = error
        return await self._end(fault, again=again)

    async def _begin(self) -> Moment:
        """Build the scene, record the start, and look."""
        episode, plan = self.episode, self.plan
        now = await self._on_env(episode.reset)
        self.grants = await grants(self.env_thread, plan.granted, episode)
        words = None
        if plan.candidates is Choice.VOCABULARY:
            words = await self._on_env(lambda: now.candidates)
        state = await self._on_env(lambda: now.state)
        self.posed = pose_of(state) is not None
        with self.clock.measure(TimeShare.RECORD):
            continues = self.prefix.attempt if self.prefix else None
            progress = now.met, now.total
            things = things_of(state)
            self.writer.start(episode.task, episode.seed, progress, words, continues, things)
        self.started = True
        await self._look(now)
        self.clock.begin_step()
        return now

    async def _decide(self, now: Moment) -> Decision:
        """The agent's decision, or the recorded one; on disk when this returns."""
        prefix = self.prefix
        if prefix and (step := prefix.step(now.number)) and step.decide:
            compare_seen(step, now, prefix.level)
            decision = await self._on_env(lambda: recorded_decision(step, self.episode.env))
            self.clock.add_recorded(step.decide.seconds)
        else:
            decision = await self._ask_agent(now)
        await self._record_decision(now, decision)
        return decision

    async def _act(self, decision: Decision) -> Moment:
        """Carry out a decision. Its outcome is on disk before it is looked at."""
        before = self.episode.now
        now = await self._on_env(lambda: self.episode.act(decision))
        seconds = self.clock.latest(TimeShare.SIMULATOR) if decision.action else 0.0
        if decision.stop:
            return now
        prefix = self.prefix
        if prefix and (step := prefix.step(before.number)):
            compare_outcome(step, now, prefix.level)
        with self.clock.measure(TimeShare.RECORD):
            self.writer.act(before.number, now, seconds)
        await self._look(now)
        self.clock.end_step()
        return now

    async def _look(self, now: Moment) -> None:
        """Ask for everything that the agent and the record need, and record it."""

        def look() -> PoseRecord | None:
            _ = now.observation, now.candidates, now.digest
            return pose_of(now.state) if self.posed else None

        pose = await self._on_env(look)
        with self.clock.measure(TimeShare.RECORD):
            seconds, seen = self.clock.latest(TimeShare.SIMULATOR), now.observation
            self.writer.see(now.number, seen, now.candidates, now.digest, pose, seconds)

    async def _ask_agent(self, now: Moment) -> Decision:
        """The agent's decision; where it fails, the calls that were answered are on disk."""
        settings = self.plan.run_settings
        most = settings.max_seconds
        if most is not None and self.spent + self.clock.elapsed >= most:
            raise BudgetError(f"The {most:g} s that max_seconds allows an episode are over.")
        view = now.view(self._parse, self.grants, can_undo=self.can_undo)
        try:
            with self.clock.measure(TimeShare.MODEL):
                try:
                    decision = await decide(self.agent, view, settings.decision_deadline)
                finally:
                    self.clock.add(TimeShare.SIMULATOR, self.env_thread.seconds())
        except ModelError as error:
            if error.decision.calls:
                self.faults.decided = True  # The model is there, at least.
                await self._record_decision(now, error.decision)
            raise
        except CutShortError as error:
            await self._record_decision(now, error.decision)
            raise error.fault from error
        self.faults.decided = True
        return decision

    async def _record_decision(self, now: Moment, decision: Decision) -> None:
        """Record a decision, or the calls made until something failed."""
        with self.clock.measure(TimeShare.RECORD):
            seconds = self.clock.latest(TimeShare.MODEL)
            await self.writer.decide(now.number, decision, seconds)
        self.tokens_read += sum(call.tokens_in for call in decision.calls)
        self.tokens_written += sum(call.tokens_out for call in decision.calls)

    async def _end(
        self, fault: Fault | None = None, *, again: bool = False, note: str | None = None
    ) -> EndLine:
        """Record the end; `again` if another attempt follows a simulator fault.

        With a `note` a person has ended it, and without a fault its last moment says how.
        """
        clock, now, tally = self.clock, self.episode.now, self.episode.now.tally
        clock.add(TimeShare.SIMULATOR, self.env_thread.seconds())
        with clock.measure(TimeShare.RECORD):
            if not self.started:
                self.writer.start(self.episode.task, self.episode.seed, None)
            await self.writer.pictures_written()
        ending = _ending(fault) if fault else Ending.STOPPED if note else now.ending
        assert ending is not None, "An episode without a fault is played until it is over."
        end = EndLine(
            time=time.time(),
            ending=ending,
            success=ending is Ending.SUCCESS,
            met=now.met,
            total=now.total,
            steps=now.number,
            cost=tally.cost,
            invalid=tally.invalid,
            unmatched=tally.unmatched,
            replans=tally.replans,
            seconds=clock.total(),
            overhead_ms=clock.overhead_ms,
            tokens=TokenCounts(read=self.tokens_read, written=self.tokens_written),
            error=str(fault) if fault else note,
            attempt=self.writer.attempt,
            again=note is not None or (again and ending is Ending.SIMULATOR_FAULT),
            printed=tuple(fault.printed) if isinstance(fault, WorkerError) else (),
        )
        await self.writer.end(end)
        return end

    async def _parse(self, text: str) -> Action | None:
        if not isinstance(text, str):
            raise ModelError(f"The agent gave View.parse a {type(text).__name__}, not a text.")
        return await self.env_thread.call(lambda env: env.parse(text))

    async def _on_env(self, work: Callable[[], T]) -> T:
        """Run `work` on the thread of the environment, and measure its time."""
        try:
            return await self.env_thread.call(lambda _: work())
        finally:
            self.clock.add(TimeShare.SIMULATOR, self.env_thread.seconds())


def _ending(fault: Fault) -> Ending:
    return next(ending for kind, ending in _ENDINGS.items() if isinstance(fault, kind))
