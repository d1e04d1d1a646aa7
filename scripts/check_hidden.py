"""Counts what the examples of a set give away, and what they look like, from the examples alone.

Within a group of a square or of twins, the best that a reader can do who does not see the image,
the goal, or either, is counted, not trained. Attacks are trained on other rooms.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from inhabit.eie.examples.example import Example

_COMMON = ("go to", "walk to", "put")
"""How the most common answers begin."""
_LONG, _WIDE = (2, 4), (3, 3)
Key = Callable[[Example], object]


def counted(examples: Sequence[Example]) -> Mapping[str, Any]:
    """Shares of the examples of a set that are counted."""
    squares = [example for example in examples if example.square]
    shapes = _shapes(squares)
    answers = [example.candidates[example.answer] for example in examples]
    right = {(_group(e), e.candidates[e.answer]) for e in examples}
    # A question that names no goal, as that of a video, has a reason without one.
    asking = [example for example in examples if example.goal in example.question]
    offered = {(_group(e), text) for e in examples for text in e.candidates}
    return {
        "by_kind": {
            kind: _hidden([e for e in examples if e.kind == kind])
            for kind in sorted({e.kind for e in examples})
        },
        "options": _share(sum(len(e.candidates) for e in examples), len(examples)),
        "never_right": len(offered - right),
        "go_to_and_put": _share(sum(a.startswith(_COMMON) for a in answers), len(answers)),
        "in_2x4": _share(sum(shapes[e.square] == _LONG for e in squares), len(examples)),
        "in_3x3": _share(sum(shapes[e.square] == _WIDE for e in squares), len(examples)),
        "asking_for_a_goal": len(asking),
        "ordered_reasons": _share(sum(map(_is_ordered, asking)), len(asking)),
        "place_and_length": _of_form(examples),
    }


def attacked(folder: Path, examples: Sequence[Example]) -> Mapping[str, Any]:
    """Shares of right answers of models that were trained on other rooms.

    Args:
        folder: of the set.
        examples: of it.
    """
    # scikit-learn, which most checks have no use for, takes seconds to import.
    from inhabit.eie.sets.baselines import measure
    from inhabit.eie.sets.seeing import EyeFeatures

    report = measure(lambda: examples, eyes=EyeFeatures(folder))
    if report is None:
        return {}
    found: dict[str, Any] = {b.name: round(b.accuracy, 3) for b in report.baselines}
    return {"chance": round(report.chance, 3), **found}


def _hidden(examples: Sequence[Example]) -> Mapping[str, Any]:
    return {
        "examples": len(examples),
        "goal_hidden": _best(examples, lambda e: e.image),
        "image_hidden": _best(examples, lambda e: e.question),
        "both_hidden": _best(examples, lambda e: ""),
    }


def _best(examples: Sequence[Example], shown: Key) -> float:
    """How often the commonest answer is right among examples of a group that show the same."""
    alike: dict[object, Counter[str]] = defaultdict(Counter)
    for example in examples:
        alike[_group(example), shown(example)][example.candidates[example.answer]] += 1
    return _share(sum(max(answers.values()) for answers in alike.values()), len(examples))


def _of_form(examples: Sequence[Example]) -> Mapping[str, float]:
    """How often the option at the best place is right, the longest one, and the shortest one."""
    places = Counter(example.answer for example in examples)
    lengths = [[len(text) for text in example.candidates] for example in examples]
    pairs = list(zip(examples, lengths, strict=True))
    chance = sum(1 / len(example.candidates) for example in examples)
    return {
        "chance": _share(chance, len(examples)),
        "best_place": _share(max(places.values(), default=0), len(examples)),
        "longest": _share(sum(_tied(n, max(n), e.answer) for e, n in pairs), len(examples)),
        "shortest": _share(sum(_tied(n, min(n), e.answer) for e, n in pairs), len(examples)),
    }


def _tied(lengths: Sequence[int], chosen: int, answer: int) -> float:
    """The chance that the answer is chosen among options of one length."""
    return (lengths[answer] == chosen) / lengths.count(chosen)


def _is_ordered(example: Example) -> bool:
    """Whether its reason tells what is seen, then what is asked, then what to do."""
    if not example.seen or not example.reason.startswith(example.seen):
        return False
    rest = example.reason[len(example.seen) :]
    asks = re.search(r"\b(?:goal|task|asked)\b", rest)
    acts = re.search(r"\b(?:[Ss]o|[Tt]herefore|[Hh]ence|[Tt]hat is why)\b", rest)
    return asks is not None and acts is not None and asks.start() < acts.start()


def _shapes(squares: Iterable[Example]) -> Mapping[str, tuple[int, int]]:
    found: dict[str, tuple[int, int]] = {}
    for example in squares:
        rows, columns = found.get(example.square, (0, 0))
        found[example.square] = max(rows, example.row + 1), max(columns, example.column + 1)
    return found


def _group(example: Example) -> str:
    return example.square or example.group or example.id


def _share(part: float, whole: int) -> float:
    return round(part / whole, 3) if whole else 0.0
