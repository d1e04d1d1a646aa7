"""What planners learn from the steps behind them."""

from __future__ import annotations

from agents.core import View
from envs.core import Action


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
