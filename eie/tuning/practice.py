"""Moments with what an expert would do in them, met by acting: the expert, or who learns from it.

Where the learner acts and the expert says at each step what it would have done, the learner is
taught what to do in just those places that its own mistakes lead it to: DAgger (Ross et al., 2011).
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from inhabit.agents.core import Step, View
from inhabit.agents.models.core import Message
from inhabit.agents.prompts.history import unspent
from inhabit.agents.prompts.notes import Notes, Sighting
from inhabit.envs.core import Action, Env, Expert, Observation, Task


@dataclass(frozen=True, slots=True, eq=False)
class LabelledPrompt:
    """A prompt, and what the expert says to it."""

    prompt: tuple[Message, ...]
    candidates: tuple[Action, ...]
    """What can be said there, without what has just failed or leads round in a circle."""
    best: Action


@dataclass(frozen=True, slots=True)
class Played:
    """How an episode of practice ended."""

    task: str
    success: bool
    steps: int


Actor = Callable[[LabelledPrompt], Action]
"""Who acts."""
Watcher = Callable[[Observation], Sighting]
"""Who puts in words what an observation shows."""


def practise(
    env: Env, task: Task, *, watch: Watcher, act: Actor, seed: int, most: int
) -> Iterator[LabelledPrompt | Played]:
    """Play `task`: each moment as it comes, and how it ended.

    It ends early where the expert knows no way on, or ten actions have failed.

    Args:
        env: with an expert.
        task: to be played.
        watch: puts what is seen in words.
        act: chooses what is done.
        seed: of the episode.
        most: steps.
    """
    assert isinstance(env, Expert), "Practice needs an environment with an expert."
    env.reset(task, seed=seed)
    notes, words = Notes(), tuple(env.vocabulary())
    history: list[Step] = []
    then: list[Sighting] = []
    failed = 0
    met, total = env.progress()
    while met < total and len(history) < most and failed < 10:
        seen = env.observe()
        plan = env.plan()
        if not plan:
            break
        view = View(task.goal, seen, words, tuple(history), seed, _deaf)
        now = watch(seen)
        moment = LabelledPrompt(notes.messages(view, then, now), unspent(view), plan[0])
        yield moment
        action = act(moment)
        outcome = env.act(action)
        failed += outcome.reason is not None
        history.append(Step(action.text, outcome.reason, outcome.feedback, text=seen.text))
        then.append(now)
        met, total = outcome.met, outcome.total
    yield Played(task.id, met == total, len(history))


def expert_with_slips(share: float, seed: int) -> Actor:
    """The expert, who now and then does something else: so that one learns how to recover."""
    draw = random.Random(f"slips {seed}")

    def act(moment: LabelledPrompt) -> Action:
        return draw.choice(moment.candidates) if draw.random() < share else moment.best

    return act


def worth_learning(moments: Sequence[LabelledPrompt]) -> list[LabelledPrompt]:
    """Those whose answer can be said there: what failed or came to nothing new may not."""
    return [m for m in moments if any(m.best == action for action in m.candidates)]


async def _deaf(text: str) -> Action | None:
    """Nobody speaks here."""
    return None
