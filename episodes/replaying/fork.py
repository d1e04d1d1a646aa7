"""Goes on from the middle of an episode in another way."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from inhabit.agents.core import Agent, Decision, View
from inhabit.envs.errors import UserError
from inhabit.envs.files import make_folder
from inhabit.episodes.recording.disk import Pictures
from inhabit.episodes.recording.folder import begin
from inhabit.episodes.recording.reader import Attempt, Episode, RecordError, Run
from inhabit.episodes.recording.schema import Fork
from inhabit.episodes.recording.writer import EpisodeWriter
from inhabit.episodes.replaying.diff import weaker
from inhabit.episodes.replaying.preference import PreferencePair, keep_pair
from inhabit.episodes.replaying.resume import DivergedError, Prefix, decided
from inhabit.episodes.running.env_thread import EnvThread
from inhabit.episodes.running.plan import RunPlan
from inhabit.episodes.running.play import play


class ForkError(UserError, ValueError):
    """A fork asks for a step or an action that there isn't. Says what there is."""


class ForkAgent(Agent):
    """Does one step otherwise; the agent in it decides all the others."""

    def __init__(self, agent: Agent, fork: Fork) -> None:
        self._agent = agent
        self._fork = fork

    async def decide(self, view: View) -> Decision:
        """What is to be done in the forked step, or what the agent decides."""
        fork = self._fork
        if len(view.history) != fork.step:
            return await self._agent.decide(view)
        if fork.action is not None:
            if (action := await view.parse(fork.action)) is None:
                known = "; ".join(a.text for a in view.candidates[:8])
                raise ForkError(
                    f"{fork.action!r} means nothing to {fork.run}'s environment. It could be: "
                    f"{known}."
                )
            return Decision(action, raw=fork.action)
        if fork.hint is not None:
            told = f"{view.observation.text} Hint: {fork.hint}".strip()
            view = replace(view, observation=replace(view.observation, text=told))
        return await self._agent.decide(view)

    def check_budget(self) -> None:
        """That of the agent in it."""
        self._agent.check_budget()

    async def close(self) -> None:
        """Close the agent in it."""
        await self._agent.close()


async def fork_episode(
    run: Run, episode: Episode, fork: Fork, plan: RunPlan, command: Sequence[str]
) -> PreferencePair:
    """Act `episode` again up to the forked step, go on otherwise, and keep the pair.

    The other way is a run of its own, `forks/0000` and so on in the folder of `run`; the pair is a
    line of `forks.jsonl` there.

    Args:
        run: that is forked.
        episode: of it.
        fork: where, and what is done otherwise.
        plan: of the other way: that of `run`, perhaps with another model.
        command: for the record.

    Raises:
        ForkError: there is no such step, or its action means nothing.
        DivergedError: the steps before it come out differently now.
        RecordError, DiskError: the record can't be read or written.
        SimulatorError, UnavailableError, ModelError: the environment or the model does not start.
    """
    attempt = _forkable(episode, fork.step)
    agent: Agent | None = None
    stage: EnvThread | None = None
    try:
        same = plan.model == run.header.model
        model = plan.load_model(run.header.model_details if same else {})
        agent = ForkAgent(plan.make_agent(model), fork)
        stage = await EnvThread.build(plan.make_env)
        level = weaker(run.header.determinism, stage.env.determinism)
        steps = decided(attempt, level)[: fork.step]
        prefix = Prefix(attempt.start.attempt, steps) if steps else None
        header = plan.header(stage.env.determinism, [episode.task], command, model)
        header = header.model_copy(update={"fork": fork})
        forked = begin(_new_folder(run), header, [episode.task])
        try:
            await _play(forked, stage, agent, plan, attempt.start.seed, prefix)
        except (ForkError, DivergedError):
            shutil.rmtree(forked.folder)
            raise
    finally:
        if stage is not None:
            await stage.close()
        if agent is not None:
            await agent.close()
    return keep_pair(run, episode, attempt, forked, fork)


async def _play(
    forked: Run, stage: EnvThread, agent: Agent, plan: RunPlan, seed: int, prefix: Prefix | None
) -> None:
    episode = forked.episode(0)
    with Pictures() as pictures:
        journal = EpisodeWriter(episode, pictures if plan.rules.frames else None)
        try:
            await play(stage, agent, episode.task, journal, plan.rules, seed=seed, prefix=prefix)
        finally:
            journal.close()


def _forkable(episode: Episode, step: int) -> Attempt:
    attempt = episode.last()
    last = -1 if attempt is None else sum(s.decide is not None for s in attempt.steps) - 1
    if attempt is None or not 0 <= step <= last:
        there = f"0..{last}" if last >= 0 else "none"
        raise ForkError(
            f"Episode {episode.number} has no step {step} to go on from otherwise; it has {there}."
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
