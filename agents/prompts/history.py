"""What planners learn from the steps behind them."""

from __future__ import annotations

from collections import Counter

from inhabit.agents.core import View
from inhabit.envs.core import Action

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
    """Those of `untried` that were not done twice in vain since anything new came of something.

    In vain is what comes to what it had come to before. A small model that goes in circles gets
    out of them so; but what works and never came before may have changed what all others come to.
    """
    known: set[tuple[str, str]] = set()
    again: Counter[str] = Counter()
    for step in view.history:
        came = step.action, step.feedback
        if came in known:
            again[step.action] += 1
        elif step.reason is None:
            again.clear()
        known.add(came)
    left = untried(view)
    return tuple(a for a in left if again[a.text] < _TWICE) or left
