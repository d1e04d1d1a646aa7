"""What planners learn from the steps behind them."""

from __future__ import annotations

from collections import Counter

from agents.core import View
from envs.core import Action

_TWICE = 2


def untried(view: View) -> tuple[Action, ...]:
    """The candidates but those that have failed since anything last worked.

    Until something works the agent stands where it stood, and what failed will fail again. Where
    all of them have failed, all of them come back.
    """
    failed = set()
    for step in reversed(view.history):
        if step.reason is None:
            break
        failed.add(step.action)
    return tuple(a for a in view.candidates if a.text not in failed) or view.candidates


def unspent(view: View) -> tuple[Action, ...]:
    """Those of `untried` that have not twice come to the very same: a third time won't help.

    A small model that goes in circles gets out of them so.
    """
    came = Counter((step.action, step.feedback) for step in view.history)
    spent = {action for (action, _), count in came.items() if count >= _TWICE}
    left = untried(view)
    return tuple(a for a in left if a.text not in spent) or left
