"""What became of evolved tasks: each change with its tasks, kept share and plan lengths."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from inhabit.eie.sets.folder import SetFolder

NONE = "none: a seed task"


@dataclass(slots=True)
class ChangeEffect:
    """The effect of one change on the tasks of a set."""

    change: str
    tasks: int = 0
    """Tasks that the author proposed."""
    kept: int = 0
    """Tasks that gave examples."""
    examples: int = 0
    before: list[int] = field(default_factory=list)
    """Actions of the expert's plan for the parent, of kept tasks."""
    after: list[int] = field(default_factory=list)
    """The same for the task itself."""

    @property
    def mean_before(self) -> float | None:
        """Mean plan length of the parents; None where it is not known."""
        return sum(self.before) / len(self.before) if self.before else None

    @property
    def mean_after(self) -> float | None:
        """Mean plan length of the tasks."""
        return sum(self.after) / len(self.after) if self.after else None


def effects(opened: SetFolder) -> Sequence[ChangeEffect]:
    """The changes of a set by number of tasks, seed tasks first.

    Sets made by earlier versions lack plan lengths, and the tasks of which nothing was kept.

    Raises:
        SetError: the set can't be read.
    """
    found: dict[str, ChangeEffect] = {}
    known: set[str] = set()
    for example in opened.examples():
        if (lineage := example.lineage) is None:
            continue
        effect = found.setdefault(lineage.change, ChangeEffect(lineage.change or NONE))
        effect.examples += 1
        if lineage.seed_task in known:
            continue
        known.add(lineage.seed_task)
        effect.kept += 1
        if lineage.steps is not None:
            effect.after.append(lineage.steps)
        if lineage.parent_steps is not None:
            effect.before.append(lineage.parent_steps)
    tried = Counter(attempt.change for attempt in opened.attempts() if attempt.change is not None)
    for change, effect in found.items():
        effect.tasks = max(tried[change], effect.kept)
    for change in tried.keys() - found.keys():
        found[change] = ChangeEffect(change or NONE, tried[change])
    return sorted(found.values(), key=lambda e: (e.change != NONE, -e.tasks, e.change))
