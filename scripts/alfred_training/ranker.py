"""Trains a ranker to choose the expert's action among all candidates.

Rollouts are labelled with the expert's actions. If the learner acts meanwhile, it is trained on the
states that its own mistakes lead to: DAgger (Ross et al., 2011).
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch

from inhabit.agents.alfred_specialist.ranker.features import (
    RankerQuestion,
    RankerVocabulary,
    question,
)
from inhabit.agents.alfred_specialist.ranker.network import Network
from inhabit.agents.alfred_specialist.ranker.notes import Detections, messages
from inhabit.agents.alfred_specialist.ranker.parsing import action, notes
from inhabit.agents.alfred_specialist.reading.reading import Reading
from inhabit.agents.core import Decision, View
from inhabit.agents.dialogue.history import without_repeated
from inhabit.agents.models.core import Message
from inhabit.eie.tuning.settings import TuneError
from inhabit.envs.core import Action, Env, Expert, Observation, Task
from inhabit.envs.template import WordedGoal
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


@dataclass(frozen=True, slots=True)
class RankerTraining:
    """Hyperparameters of the ranker's training."""

    epochs: int = 12
    batch: int = 32
    rate: float = 2e-3
    decay: float = 1e-2
    forget: float = 0.15
    """See `inhabit.agents.alfred_specialist.ranker.network.Network`."""
    among: int = 48
    """Number of wrong choices per example and epoch, sampled anew each time."""


@dataclass(frozen=True, slots=True, eq=False)
class RankerExample:
    """A question, and the index of its answer."""

    question: RankerQuestion
    answer: int


def build_vocabulary(
    moments: Sequence[LabelledPrompt], goals: Iterable[WordedGoal]
) -> RankerVocabulary:
    """The nouns of goals and actions, and the task types."""
    asked = list(goals)
    named = {action(one.text).noun for moment in moments for one in moment.candidates}
    named |= {noun for goal in asked for noun in goal.parts}
    tasks = tuple(sorted({goal.kind for goal in asked}))
    return RankerVocabulary(tuple(sorted(named - {""})), tasks)


def featurize(
    moments: Sequence[LabelledPrompt], vocabulary: RankerVocabulary
) -> list[RankerExample]:
    """The labelled prompts as features."""
    found = []
    for moment in moments:
        said = [action(a.text) for a in moment.candidates]
        asked = question(notes("".join(moment.prompt[-1].texts)), said, vocabulary)
        found.append(RankerExample(asked, list(moment.candidates).index(moment.best)))
    return found


def train_ranker(
    vocabulary: RankerVocabulary,
    examples: Sequence[RankerExample],
    settings: RankerTraining,
    *,
    seed: int,
    tell: Callable[[str], None],
    before: Network | None = None,
) -> Network:
    """Train a network on `examples`.

    `before` is a trained network to start from. `tell` is called with a line after every epoch.

    Raises:
        TuneError: a loss is not finite.
    """
    torch.manual_seed(seed)
    network = Network(vocabulary, forget=settings.forget).train()
    if before is not None:
        network.load_state_dict(before.state_dict())
    weights = network.parameters()
    optimizer = torch.optim.AdamW(weights, lr=settings.rate, weight_decay=settings.decay)
    steps = settings.epochs * -(-len(examples) // settings.batch)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, settings.rate, total_steps=steps)
    for epoch in range(settings.epochs):
        rng = np.random.default_rng((seed, epoch))
        order = rng.permutation(len(examples))
        total, right = 0.0, 0
        for first in range(0, len(order), settings.batch):
            batch = [
                _some(examples[i], settings.among, rng)
                for i in order[first : first + settings.batch]
            ]
            scores = network([one.question for one in batch])
            chances = [score[one.answer] for score, one in zip(scores, batch, strict=True)]
            loss = -torch.stack(chances).mean()
            if not torch.isfinite(loss):
                raise TuneError(f"The loss of epoch {epoch + 1} is not a finite number.")
            optimizer.zero_grad()
            loss.backward()  # type: ignore[no-untyped-call]
            optimizer.step()
            schedule.step()
            total += loss.item() * len(batch)
            right += sum(int(s.argmax()) == o.answer for s, o in zip(scores, batch, strict=True))
        tell(f"epoch {epoch + 1}: loss {total / len(order):.3f}, right {right / len(order):.3f}")
    return network.eval()


def _some(example: RankerExample, among: int, rng: np.random.Generator) -> RankerExample:
    """The example with the answer first, and a random sample of the other choices."""
    asked = example.question
    if len(asked.verbs) <= among + 1:
        return example
    others = rng.choice(len(asked.verbs) - 1, among, replace=False)
    kept = np.concatenate([[example.answer], others + (others >= example.answer)])
    some = replace(
        asked,
        verbs=asked.verbs[kept],
        nouns=asked.nouns[kept],
        choices=asked.choices[kept],
    )
    return RankerExample(some, 0)
