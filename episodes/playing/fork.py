"""Branches off a recorded episode at a step, and keeps the pair: two continuations from there."""

from __future__ import annotations

import json
import shutil
from collections.abc import Sequence
from contextlib import AsyncExitStack, closing
from dataclasses import replace
from pathlib import Path
from typing import Literal

from pydantic import BaseModel

from inhabit.agents.core import Agent, Decision, NoAnswerError, RequestError, View
from inhabit.agents.deciding import close_agent, decide
from inhabit.envs.files import make_folder
from inhabit.episodes.playing.env_thread import EnvThread
from inhabit.episodes.playing.from_record import comparable, with_todays_model
from inhabit.episodes.playing.plan import RunPlan
from inhabit.episodes.playing.play import EpisodePlay, Faults
from inhabit.episodes.playing.resume import Prefix, decided
from inhabit.episodes.playing.retrace import DivergedError
from inhabit.episodes.playing.tasks import elsewhere
from inhabit.episodes.recording.disk import LineFile, Pictures
from inhabit.episodes.recording.folder import begin
from inhabit.episodes.recording.reader import Attempt, EpisodeRecord, RecordError, Run, read_rows
from inhabit.episodes.recording.schema import FAULTS, Ending, Fork
from inhabit.episodes.recording.writer import EpisodeWriter

_FILE = "forks.jsonl"


class Continuation(BaseModel, frozen=True):
    """One continuation of an episode, from the step of the fork on."""

    action: str | None
    """The action of that step; None where the agent stopped or its answer was unreadable."""
    reason: str | None
    """Why the action failed; None if it succeeded."""
    feedback: str
    ending: Ending | None
    success: bool
    met: int
    total: int
    steps: int
    cost: int


class PreferencePair(BaseModel, frozen=True):
    """Two continuations from the same step, and the preferred one: a line of `forks.jsonl`."""

    fork: str
    """Run folder of the fork, relative to that of the original."""
    episode: int
    id: str
    goal: str
    step: int
    frame: str | None
    """Image observed before that step, relative to the run folder."""
    text: str
    candidates: tuple[str, ...]
    history: tuple[str, ...]
    """Actions before that step."""
    changed: Fork
    original: Continuation
    forked: Continuation
    better: Literal["original", "forked"] | None
    """The branch with the better result: by success, then by the share of goal conditions met, and
    of two successes by cost. None for a tie, and where a branch was cut off or ended by a fault."""


def keep_pair(
    run: Run, episode: EpisodeRecord, original: Attempt, forked: Run, fork: Fork
) -> PreferencePair:
    """Compare the original with its fork, and append the pair to `forks.jsonl` of `run`.

    Raises:
        RecordError, DiskError: a record can't be read, or the pair can't be written.
    """
    other = forked.episode(0).last()
    if other is None:
        raise RecordError(f"{forked.folder} holds no episode.")
    pair = _pair(run, episode, (original, other), forked, fork)
    with closing(LineFile(run.folder / _FILE, run.folder)) as lines:
        lines.append(json.dumps(pair.model_dump(mode="json"), ensure_ascii=False).encode())
    return pair


def read_pairs(run: Run) -> Sequence[PreferencePair]:
    """All preference pairs of `run`, oldest first.

    Raises:
        RecordError: the file can't be read.
    """
    file = run.folder / _FILE
    return tuple(read_rows(file, run.folder, PreferencePair.model_validate_json))


def _pair(
    run: Run, episode: EpisodeRecord, attempts: tuple[Attempt, Attempt], forked: Run, fork: Fork
) -> PreferencePair:
    before = attempts[0].steps[: fork.step]
    step = attempts[0].steps[fork.step]
    original, new = (_continuation(attempt, fork.step) for attempt in attempts)
    frame = episode.frame(step.see)
    return PreferencePair(
        fork=forked.folder.relative_to(run.folder).as_posix(),
        episode=episode.number,
        id=episode.task.id,
        goal=episode.task.goal,
        step=fork.step,
        frame=frame and frame.relative_to(run.folder).as_posix(),
        text=step.see.text,
        candidates=step.candidates,
        history=tuple((s.decide and s.decide.action) or "" for s in before),
        changed=fork,
        original=original,
        forked=new,
        better=preferred(original, new),
    )


def _continuation(attempt: Attempt, number: int) -> Continuation:
    step = attempt.steps[number] if number < len(attempt.steps) else None
    act, end = step and step.act, attempt.end
    return Continuation(
        action=step.decide.action if step and step.decide else None,
        reason=act.reason if act else None,
        feedback=act.feedback if act else "",
        ending=end.ending if end else None,
        success=end.success if end else False,
        met=end.met if end else 0,
        total=end.total if end else 0,
        steps=end.steps if end else 0,
        cost=end.cost if end else 0,
    )


def preferred(original: Continuation, forked: Continuation) -> Literal["original", "forked"] | None:
    """The branch with the better result; None for a tie.

    Cost counts between two successes only: an invalid action costs nothing, so among failures the
    cheaper branch is the one that failed sooner. A branch that a fault ended says nothing about
    its actions.
    """
    if _is_faulty(original) or _is_faulty(forked):
        return None
    one, other = _worth(original), _worth(forked)
    if one == other:
        return None
    return "original" if one > other else "forked"


def _is_faulty(branch: Continuation) -> bool:
    return branch.ending is None or branch.ending in (*FAULTS, Ending.BUDGET)


def _worth(branch: Continuation) -> tuple[bool, float, int]:
    met = branch.met / branch.total if branch.total else 0.0
    return branch.success, met, -branch.cost if branch.success else 0


class ForkError(RequestError):
    """A fork names a step or an action that does not exist, or changes nothing."""


class ForkAgent(Agent):
    """Changes one step; the wrapped agent decides all the others."""

    def __init__(self, agent: Agent, fork: Fork, recorded: str | None) -> None:
        """Let `agent` decide every step but the forked one.

        `recorded` is the action of that step in the original; None where there was none.
        """
        self._agent = agent
        self._fork = fork
        self._recorded = recorded

    async def decide(self, view: View) -> Decision:
        """The changed decision in the forked step, the wrapped agent's in every other."""
        fork = self._fork
        if len(view.history) != fork.step:
            return await decide(self._agent, view)
        if fork.action is not None:
            if (action := await view.parse(fork.action)) is None:
                known = "; ".join(a.text for a in view.candidates[:8])
                raise ForkError(
                    f"The environment does not understand {fork.action!r}. Candidates are: {known}."
                )
            if action.text == self._recorded:
                raise ForkError(
                    f"Step {fork.step} of the original is {action.text!r} already: a fork has to "
                    "change something. Give another --action."
                )
            return Decision(action, raw=fork.action)
        if fork.hint is not None:
            told = f"{view.observation.text} Hint: {fork.hint}".strip()
            view = replace(view, observation=replace(view.observation, text=told))
        return await decide(self._agent, view)

    def check_budget(self) -> None:
        """Check the budget of the wrapped agent."""
        self._agent.check_budget()

    async def close(self) -> None:
        """Close the wrapped agent."""
        await self._agent.close()


async def fork_episode(
    run: Run, episode: EpisodeRecord, fork: Fork, plan: RunPlan, command: Sequence[str]
) -> PreferencePair:
    """Re-execute `episode` up to the forked step, continue with the change, and keep the pair.

    The fork is a run of its own, `forks/0000` and so on in the folder of `run`; the pair is a line
    of `forks.jsonl` there.

    Raises:
        ForkError: there is no such step, the action is not understood, or nothing changes.
        DivergedError: the steps before it come out differently now.
        RecordError, DiskError: the record can't be read or written.
        SimulatorError, UnavailableError, ModelError: the environment or the model does not start.
    """
    attempt = _forkable(episode, fork.step)
    async with AsyncExitStack() as held:
        same = plan.model == with_todays_model(run.header, plan.agent).model
        model = plan.load_model(run.header.model_details if same else {})
        done = attempt.steps[fork.step].decide
        agent = ForkAgent(plan.make_agent(model), fork, done.action if done else None)
        held.push_async_callback(close_agent, agent)
        env_thread = await EnvThread.build(plan.make_env)
        held.push_async_callback(env_thread.close)
        level = comparable(run.header, env_thread.env.determinism)
        steps = decided(attempt)[: fork.step]
        prefix = Prefix(attempt.start.attempt, steps, level) if steps else None
        header = plan.header(env_thread.env.determinism, [episode.task], command, model)
        header = header.model_copy(update={"fork": fork})
        folder = _new_folder(run)
        try:
            forked = begin(folder, header, [episode.task])
            other, seed = elsewhere(run, episode.task), attempt.start.seed
            again = plan.episode(env_thread.env, episode.task, seed, other)
            with Pictures() as pictures:
                kept = pictures if plan.run_settings.frames else None
                with closing(EpisodeWriter(forked.episode(0), kept)) as writer:
                    faults = Faults(0)
                    await EpisodePlay(env_thread, agent, again, writer, plan, faults, prefix).run()
        except (ForkError, DivergedError, RecordError, NoAnswerError):
            shutil.rmtree(folder)
            raise
    return keep_pair(run, episode, attempt, forked, fork)


def _forkable(episode: EpisodeRecord, step: int) -> Attempt:
    attempt = episode.last()
    last = -1 if attempt is None else sum(s.decide is not None for s in attempt.steps) - 1
    if attempt is None or not 0 <= step <= last:
        there = f"0..{last}" if last >= 0 else "none"
        raise ForkError(
            f"Episode {episode.number} has no step {step} to branch off at. Its steps: {there}."
        )
    return attempt


def _new_folder(run: Run) -> Path:
    forks = run.folder / "forks"
    try:
        make_folder(forks, run.folder)
        taken = {entry.name for entry in forks.iterdir()}
        for number in range(10_000):
            if (name := f"{number:04d}") not in taken:
                make_folder(forks / name, run.folder)
                return forks / name
    except OSError as error:
        raise RecordError(f"{forks} can't be written to: {error.strerror}.") from error
    raise RecordError(f"{run.folder / 'forks'} is full: move some of it away.")
