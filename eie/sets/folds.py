"""Cross-validation folds that share no room, nor a group of twins."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from inhabit.eie.examples.example import Example

FOLDS = 5


def folds(examples: Sequence[Example]) -> list[int]:
    """The fold of each example, 0 to `FOLDS` - 1, of about equal size.

    Rooms are kept together; where there are too few, groups of twins.
    """
    keys = [example.room or example.twins or example.id for example in examples]
    if len(set(keys)) < FOLDS:
        keys = [example.twins or example.id for example in examples]
    sizes = [0] * FOLDS
    fold: dict[str, int] = {}
    # Large keys first, each to the smallest fold.
    for key, count in sorted(Counter(keys).items(), key=lambda item: (-item[1], item[0])):
        fold[key] = sizes.index(min(sizes))
        sizes[fold[key]] += count
    return [fold[key] for key in keys]
