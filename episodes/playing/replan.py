"""Asks another agent about every recorded step, without a simulator."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from dataclasses import dataclass
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from inhabit.agents.core import Agent, Decision, ModelError, Step, View
from inhabit.agents.deciding import decide
from inhabit.envs.core import Action, Observation
from inhabit.episodes.episode import remembered
from inhabit.episodes.recording.disk import FRAMES, read_picture
from inhabit.episodes.recording.reader import Attempt, EpisodeRecord, StepRecord
from inhabit.episodes.recording.schema import DecideLine, Sight
from inhabit.episodes.view import shown


@dataclass(frozen=True, slots=True)
class Replanned:
    """The recorded decision of a step, and that of another agent."""

    episode: EpisodeRecord
    step: int
    recorded: DecideLine
    decision: Decision | None
    """Decision of the other agent; None if the model failed."""
    error: str | None
    unseen: bool
    """Whether the agent was asked without the image that was there to see."""

    @property
    def agrees(self) -> bool:
        """Whether both chose the same action, or both stopped."""
        if self.decision is None:
            return False
        if self.decision.action is None:
            return self.decision.stop and self.recorded.stop
        return self.decision.action.text == self.recorded.action


async def replan(
    episode: EpisodeRecord, agent: Agent, *, sight: Sight, remember: int, at_once: int = 1
) -> AsyncIterator[Replanned]:
    """Ask `agent` about every recorded step, and yield its decisions in order.

    Images are the recorded JPEG files, a few grey levels off the original. Only recorded candidates
    are understood as actions; nothing is granted. An episode that never started has no steps.

    Raises:
        RecordError: the record can't be read.
    """
    if (attempt := episode.last()) is None:
        return
    views = _views(episode, attempt, sight, remember)
    while asked := list(islice(views, at_once)):
        answers = await asyncio.gather(*(_ask(agent, view) for _, view in asked))
        for (step, view), (decision, error) in zip(asked, answers, strict=True):
            assert step.decide is not None, "Only what was decided is asked about."
            lost = view.observation.rgb is None and bool(step.see.digest)
            unseen = lost and sight is not Sight.NONE
            yield Replanned(episode, step.number, step.decide, decision, error, unseen)


async def _ask(agent: Agent, view: View) -> tuple[Decision | None, str | None]:
    try:
        return await decide(agent, view), None
    except ModelError as error:
        return None, str(error)


def _views(
    episode: EpisodeRecord, attempt: Attempt, sight: Sight, remember: int
) -> Iterator[tuple[StepRecord, View]]:
    history: tuple[Step, ...] = ()
    for step in attempt.steps:
        if step.decide is None:
            return
        seen = shown(Observation(step.see.text, _pixels(episode, step)), sight)
        candidates = tuple(Action(text, verb="") for text in step.candidates)
        yield (
            step,
            View(
                goal=attempt.start.task.goal,
                observation=seen,
                candidates=candidates,
                history=history,
                seed=attempt.start.seed,
                parse=_among(candidates),
            ),
        )
        if step.act is None:
            return
        said = step.decide.action or step.decide.raw
        done = Step(said, step.act.reason, step.act.feedback, seen.rgb, seen.text)
        history = remembered(history, done, remember)


def _among(candidates: tuple[Action, ...]) -> Callable[[str], Awaitable[Action | None]]:
    async def parse(text: str) -> Action | None:
        plain = " ".join(text.casefold().split())
        return next((a for a in candidates if a.text.casefold() == plain), None)

    return parse


def _pixels(episode: EpisodeRecord, step: StepRecord) -> NDArray[np.uint8] | None:
    if (file := episode.frame(step.see)) is None:
        return None
    opened = read_picture(file, episode.run, FRAMES)
    return None if opened is None else np.asarray(opened.convert("RGB"), np.uint8)
