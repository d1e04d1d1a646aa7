"""Branches off a recorded episode at a step."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from contextlib import AsyncExitStack, closing
from dataclasses import replace
from pathlib import Path

from inhabit.agents.core import Agent, Decision, RequestError, View
from inhabit.agents.deciding import close_agent, decide
from inhabit.envs.files import make_folder
from inhabit.episodes.playing.env_thread import EnvThread
from inhabit.episodes.playing.from_record import comparable, with_todays_model
from inhabit.episodes.playing.plan import RunPlan
from inhabit.episodes.playing.play import EpisodePlay, Faults
from inhabit.episodes.playing.preference import PreferencePair, keep_pair
from inhabit.episodes.playing.resume import Prefix, decided
from inhabit.episodes.playing.retrace import DivergedError
from inhabit.episodes.playing.tasks import elsewhere
from inhabit.episodes.recording.disk import Pictures
from inhabit.episodes.recording.folder import begin
from inhabit.episodes.recording.reader import Attempt, EpisodeRecord, RecordError, Run
from inhabit.episodes.recording.schema import Fork
from inhabit.episodes.recording.writer import EpisodeWriter


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
        forked = begin(_new_folder(run), header, [episode.task])
        try:
            other, seed = elsewhere(run, episode.task), attempt.start.seed
            again = plan.episode(env_thread.env, episode.task, seed, other)
            with Pictures() as pictures:
                kept = pictures if plan.run_settings.frames else None
                with closing(EpisodeWriter(forked.episode(0), kept)) as writer:
                    faults = Faults(0)
                    await EpisodePlay(env_thread, agent, again, writer, plan, faults, prefix).run()
        except (ForkError, DivergedError):
            shutil.rmtree(forked.folder)
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
