"""What planners learn from the steps behind them."""

from __future__ import annotations

from collections import Counter

from inhabit.agents.core import View
from inhabit.envs.core import Action

_TWICE = 2


def without_failed(view: View) -> tuple[Action, ...]:
    """The candidates, without those that failed since the last step that worked.

    Nothing has changed since then, so what failed will fail again. Where all candidates have
    failed, all are returned.
    """
    failed = set()
    for step in reversed(view.history):
        if step.reason is None:
            break
        failed.add(step.action)
    return tuple(a for a in view.candidates if a.text not in failed) or view.candidates


def offered(view: View, *, repeats: bool) -> tuple[Action, ...]:
    """`without_failed`, and also `without_repeated` unless `repeats`."""
    return without_failed(view) if repeats else without_repeated(view)


def without_repeated(view: View) -> tuple[Action, ...]:
    """`without_failed`, without actions that were repeated twice with the same feedback as before.

    This gets a small model out of a loop. The count starts again whenever an action works with
    feedback that is new, because that may change what the other actions do.
    """
    known: set[tuple[str, str]] = set()
    repeated: Counter[str] = Counter()
    for step in view.history:
        result = step.action, step.feedback
        if result in known:
            repeated[step.action] += 1
        elif step.reason is None:
            repeated.clear()
        known.add(result)
    left = without_failed(view)
    return tuple(a for a in left if repeated[a.text] < _TWICE) or left
