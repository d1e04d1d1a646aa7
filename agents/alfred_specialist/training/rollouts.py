"""Rollouts labelled with the expert's actions, by the expert or by the learner.

If the learner acts and the expert labels each step, the learner is trained on the states that its
own mistakes lead to: DAgger (Ross et al., 2011).
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from inhabit.agents.alfred_specialist.ranker.notes import Detections, messages
from inhabit.agents.alfred_specialist.reading.reading import Reading
from inhabit.agents.core import Decision, View
from inhabit.agents.dialogue.history import without_repeated
from inhabit.agents.models.core import Message
from inhabit.envs.core import Action, Env, Expert, Observation, Task
from inhabit.episodes.episode import MAX_INVALID, Episode, Limits, Moment, steps
from inhabit.episodes.recording.schema import Choice


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
GoalReader = Callable[[View], Reading | None]
"""Reads the goal of a view; None where it can't."""


def rollout(
    env: Env,
    task: Task,
    *,
    detect: Detector,
    read: GoalReader,
    act: Actor,
    seed: int,
    max_steps: int,
) -> Iterator[LabelledPrompt | RolloutResult]:
    """Play `task`; yields a labelled prompt for every step, and then the result.

    It ends early if the expert has no plan, or ten actions have failed.
    """
    assert isinstance(env, Expert), "Practice needs an environment with an expert."
    limits = Limits(max_steps, MAX_INVALID)
    episode = Episode(env, task, seed, limits, Choice.VOCABULARY, remember=0)
    earlier: list[Detections] = []
    found: list[LabelledPrompt] = []

    def decide(now: Moment) -> Decision | None:
        if not (plan := env.plan()):
            return None
        view, current = now.view(), detect(now.observation)
        prompt = messages(view, earlier, current, read(view))
        found.append(LabelledPrompt(prompt, without_repeated(view), plan[0]))
        earlier.append(current)
        return Decision(act(found[-1]))

    for _ in steps(episode, decide):
        yield found[-1]
    yield RolloutResult(task.id, episode.now.met == episode.now.total, len(found))


def noisy_expert(share: float, seed: int) -> Actor:
    """The expert, with a share of random actions, so that a learner sees recoveries."""
    rng = random.Random(f"slips {seed}")

    def act(step: LabelledPrompt) -> Action:
        return rng.choice(step.candidates) if rng.random() < share else step.best

    return act


def with_known_answer(moments: Sequence[LabelledPrompt]) -> list[LabelledPrompt]:
    """The prompts whose candidates contain the answer."""
    return [m for m in moments if any(m.best == action for action in m.candidates)]
