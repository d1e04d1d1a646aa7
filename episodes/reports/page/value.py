"""The value curve of an episode: the cost to go before each step, as `inhabit credit` found it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from inhabit.episodes.credit.schema import Effort, EpisodeCredit, StepCredit
from inhabit.episodes.reports.wording import counted

_TOP, _BOTTOM = 26, 82
"""Pixels of the greatest cost to go, and of none."""


@dataclass(frozen=True, slots=True)
class CurvePoint:
    """A step on the curve."""

    step: int
    x: float
    """Position in per cent of the width."""
    y: float
    """Position in pixels; where the goal is out of reach, at the top."""
    reached: bool
    """Whether a way to the goal is known."""
    lost: bool
    """Whether the action has a regret, or put the goal out of reach."""
    told: str
    """The point in words."""


@dataclass(frozen=True, slots=True)
class ValueCurve:
    """The cost to go before each step."""

    points: Sequence[CurvePoint]
    most: int
    """Greatest cost to go, in actions."""

    @property
    def lines(self) -> Sequence[tuple[CurvePoint, CurvePoint]]:
        """Neighbours between which the curve is drawn."""
        pairs = zip(self.points, self.points[1:], strict=False)
        return [(one, other) for one, other in pairs if one.reached and other.reached]


def value_curve(credit: EpisodeCredit | None) -> ValueCurve | None:
    """The curve of an episode; None where no way to the goal was known at any step."""
    steps = credit.steps if credit is not None else ()
    known = [step.before.actions for step in steps if step.before is not None]
    if not known:
        return None
    most = max(1, *known)
    points = [
        CurvePoint(
            step=step.step,
            x=100 * (place + 0.5) / len(steps),
            y=_TOP if step.before is None else _height(step.before, most),
            reached=step.before is not None,
            lost=step.cause is not None,
            told=_told(step),
        )
        for place, step in enumerate(steps)
    ]
    return ValueCurve(points, most)


def _height(effort: Effort, most: int) -> float:
    return _BOTTOM - (_BOTTOM - _TOP) * effort.actions / most


def _told(step: StepCredit) -> str:
    parts = [f"Step {step.step}, {step.action or 'no action'}: {_cost(step.before)} to go"]
    if step.closed:
        parts.append("afterwards the goal is out of reach")
    elif step.regret is not None:
        parts.append(f"regret {counted(step.regret.actions, 'action')}")
    if step.cause is not None:
        parts.append(f"cause: {step.cause.value}")
    told = ", ".join(parts) + "."
    if step.options:
        others = (
            f"{one.action}: {'the goal' if one.regret is None else f'+{one.regret.actions}'}"
            for one in step.options
        )
        told += f" Regret of other candidates: {'; '.join(others)}."
    return told


def _cost(effort: Effort | None) -> str:
    return "no way is known" if effort is None else counted(effort.actions, "action")
