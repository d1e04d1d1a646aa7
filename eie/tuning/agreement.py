"""Chooses how a model's candidates are read in training, by comparison with plain forward passes.

An architecture may ignore a mask, or stack the images of several prompts in its own way. Neither
raises an error in all cases; it shows in the logits.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch

from inhabit.agents.models.local.scoring import possible_ways
from inhabit.eie.tuning.objective import score
from inhabit.eie.tuning.passes import Way, read
from inhabit.eie.tuning.questions import Question
from inhabit.eie.tuning.settings import TuneError
from inhabit.eie.tuning.shared_prompts import can_share, read_shared

_EXACT, _ROUNDED = 1e-3, 0.75
"""Tolerance in nats for float32, and for other dtypes and quantized weights, whose rounding differs
from batch to batch."""


@dataclass(frozen=True, slots=True)
class ReadingPlan:
    """How the questions of a training are read."""

    way: Way
    together: bool
    """Whether one forward pass may hold several questions."""
    remarks: tuple[str, ...] = ()
    """A sentence for each cheaper way that was rejected."""


@torch.no_grad()
def choose(model: Any, questions: Sequence[Question], *, pad: int, batched: bool) -> ReadingPlan:
    """Compare the ways on some questions; `model` is in evaluation mode.

    `questions` are of different lengths, either all with images or all without.
    """
    quantized = getattr(model, "is_quantized", False)
    exact = model.config.dtype in (None, torch.float32) and not quantized
    tolerance = _EXACT if exact else _ROUNDED
    plain = [_scores(model, [question], "rows", pad)[0] for question in questions]
    remarks: list[str] = []
    way: Way = "rows"
    several = any(len(question.trie.paths) > 1 for question in questions)
    window = getattr(model.config.get_text_config(), "sliding_window", None)
    longest = max(len(q.prompt.ids) + int(q.trie.depths.max()) for q in questions)
    trees = possible_ways(model)[0] == "tree" and not (window and longest >= window)
    if several and not trees:
        remarks.append(
            "Candidates are read as a row each, with the whole prompt: the attention of this model "
            "takes no tree masks. Set negatives to compare with fewer."
        )
    elif several:
        alone = _tried(model, [[one] for one in questions], "packed", pad)
        if problem := _problem(alone, plain, tolerance):
            remarks.append(
                f"Candidates are read as a row each, with the whole prompt: tree masks {problem}."
            )
        else:
            way = "packed"
    if not batched or len(questions) < 2:
        return ReadingPlan(way, batched, tuple(remarks))
    problem = _problem(_tried(model, [questions], way, pad), plain, tolerance)
    if problem:
        remarks.append(f"Examples are read one by one: several in one forward pass {problem}.")
    return ReadingPlan(way, not problem, tuple(remarks))


@torch.no_grad()
def check_shared(model: Any, questions: Sequence[Question], *, pad: int) -> None:
    """Check that prompts can be read together, as `read_shared` does it.

    Raises:
        TuneError: this architecture reads them otherwise.
    """
    problem: str | None = "need another arrangement of positions or images"
    if can_share(model, [question.prompt for question in questions]):
        exact = model.config.dtype in (None, torch.float32)
        plain = [_scores(model, [question], "rows", pad)[0] for question in questions]
        found = read_shared(model, questions)
        shared = [score(one, q.trie).sums for one, q in zip(found, questions, strict=True)]
        problem = _problem(shared, plain, _EXACT if exact else _ROUNDED)
    if problem:
        raise TuneError(
            f"The prompts of an episode can't be read together with this model: they {problem}. "
            "Leave out episodes=true."
        )


def _scores(
    model: Any, questions: Sequence[Question], way: Way, pad: int
) -> Sequence[torch.Tensor]:
    found = read(model, questions, way, pad=pad)
    return [score(one, q.trie).sums for one, q in zip(found, questions, strict=True)]


def _tried(
    model: Any, groups: Sequence[Sequence[Question]], way: Way, pad: int
) -> Sequence[torch.Tensor] | str:
    """The scores of `groups`, each read in one pass; or why one of them can't be."""
    try:  # an architecture may raise anything
        return [found for group in groups for found in _scores(model, group, way, pad)]
    except Exception as error:  # noqa: BLE001
        return f"fail with {type(error).__name__}: {error}"


def _problem(
    found: Sequence[torch.Tensor] | str, plain: Sequence[torch.Tensor], tolerance: float
) -> str | None:
    if isinstance(found, str):
        return found
    worst = max(float((a - b).abs().max()) for a, b in zip(found, plain, strict=True))
    return None if worst <= tolerance else f"are off by {worst:.3g} nat"
