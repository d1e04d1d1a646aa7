"""Rollouts labelled with the expert's actions, by the expert or by the learner.

If the learner acts and the expert labels each step, the learner is trained on the states that its
own mistakes lead to: DAgger (Ross et al., 2011).
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from inhabit.agents.core import Step, View
from inhabit.agents.dialogue.history import without_repeated
from inhabit.agents.models.core import Message
from inhabit.agents.prompts.notes import Detections, Notes
from inhabit.envs.core import Action, Env, Expert, Observation, Task


@dataclass(frozen=True, slots=True, eq=False)
class LabelledPrompt:
    """A prompt, its candidates, and the expert's action."""

    prompt: tuple[Message, ...]
    candidates: tuple[Action, ...]
    """The possible actions, without those that just failed or lead in a circle."""
    best: Action


@dataclass(frozen=True, slots=True)
class RolloutResult:
    """How a rollout ended."""

    task: str
    success: bool
    steps: int


Actor = Callable[[LabelledPrompt], Action]
"""Chooses an action."""
Detector = Callable[[Observation], Detections]
"""Detects objects in an observation."""


def rollout(
    env: Env, task: Task, *, detect: Detector, act: Actor, seed: int, max_steps: int
) -> Iterator[LabelledPrompt | RolloutResult]:
    """Play `task`; yields a labelled prompt for every step, and then the result.

    It ends early if the expert has no plan, or ten actions have failed.

    Args:
        env: with an expert.
        task: of the episode.
        detect: detects objects in observations.
        act: chooses the actions.
        seed: of the episode.
        max_steps: maximum number of steps.
    """
    assert isinstance(env, Expert), "Practice needs an environment with an expert."
    env.reset(task, seed=seed)
    notes, words = Notes(), tuple(env.vocabulary())
    history: list[Step] = []
    earlier: list[Detections] = []
    failed = 0
    met, total = env.progress()
    while met < total and len(history) < max_steps and failed < 10:
        seen = env.observe()
        plan = env.plan()
        if not plan:
            break
        view = View(task.goal, seen, words, tuple(history), seed, _parse_nothing)
        current = detect(seen)
        step = LabelledPrompt(
            notes.messages(view, earlier, current), without_repeated(view), plan[0]
        )
        yield step
        action = act(step)
        outcome = env.act(action)
        failed += outcome.reason is not None
        history.append(Step(action.text, outcome.reason, outcome.feedback, text=seen.text))
        earlier.append(current)
        met, total = outcome.met, outcome.total
    yield RolloutResult(task.id, met == total, len(history))


def noisy_expert(share: float, seed: int) -> Actor:
    """The expert, with a share of random actions, so that a learner sees recoveries."""
    rng = random.Random(f"slips {seed}")

    def act(step: LabelledPrompt) -> Action:
        return rng.choice(step.candidates) if rng.random() < share else step.best

    return act


def with_known_answer(moments: Sequence[LabelledPrompt]) -> list[LabelledPrompt]:
    """The prompts whose candidates contain the answer."""
    return [m for m in moments if any(m.best == action for action in m.candidates)]


async def _parse_nothing(text: str) -> Action | None:
    """Parse nothing: no model is asked."""
    return None
