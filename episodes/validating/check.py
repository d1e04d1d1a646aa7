"""A check: a figure, the bound it has to keep, and the verdict."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from unittest import SkipTest

from pydantic import BaseModel

from inhabit.envs import registry
from inhabit.envs.core import SimulatorError
from inhabit.envs.entries import raised
from inhabit.episodes.validating.subject import DoesNotApply, Subject

_AGAIN = "inhabit validate {played} --only {name}"


class CheckVerdict(StrEnum):
    """How a check ended."""

    OK = "ok"
    FAILED = "failed"
    NOT_APPLICABLE = "does not apply"


@dataclass(frozen=True, slots=True)
class CheckFigure:
    """What a check found."""

    figure: float
    evidence: str = ""
    """The worst case in a sentence; empty where there is nothing to show."""


Measure = Callable[[Subject], CheckFigure]
"""Raises `DoesNotApply` where the environment has nothing to measure."""


@dataclass(frozen=True, slots=True)
class Check:
    """A row of `checks.toml`. Exactly one of `at_most` and `at_least` is a number."""

    name: str
    """Name, with its group before the first full stop, as RFC 008 of OpenEnv has it."""
    what: str
    """What is measured, as the name of a figure."""
    why: str
    measure: Measure
    at_most: float | None = None
    at_least: float | None = None
    see: str = _AGAIN
    """A command that shows what was found. `{name}` stands for the check, `{env}` for the
    environment; `{sampled}` adds the settings, and `{played}` adds settings, backend and tasks."""

    def run(self, subject: Subject) -> CheckFinding:
        """Measure, and compare with the bound. What the environment raises is a failure."""
        figure: float | None = None
        try:
            measured = self.measure(subject)
        except (DoesNotApply, SkipTest) as why:
            verdict, evidence = CheckVerdict.NOT_APPLICABLE, str(why)
        except Exception as error:  # noqa: BLE001 - whatever it raises is the finding
            # A checked environment wraps what it raised, and quotes the whole traceback.
            wrapped = error.__cause__ if isinstance(error, SimulatorError) else None
            verdict, evidence = CheckVerdict.FAILED, f"The environment {raised(wrapped or error)}."
        else:
            figure, evidence = round(measured.figure, 6), measured.evidence
            verdict = CheckVerdict.OK if self._keeps(figure) else CheckVerdict.FAILED
        # Other commands know registered environments alone.
        see = self.see if subject.target in registry.names() else _AGAIN
        return CheckFinding(
            name=self.name,
            group=self.name.partition(".")[0],
            what=self.what,
            why=self.why,
            figure=figure,
            bound=self.bound,
            verdict=verdict,
            evidence=evidence,
            see=see.format(name=self.name, **subject.words),
        )

    @property
    def bound(self) -> str:
        """The bound in words, such as "at most 0.5"."""
        return (
            f"at most {self.at_most:g}" if self.at_least is None else f"at least {self.at_least:g}"
        )

    def _keeps(self, figure: float) -> bool:
        if self.at_least is not None:
            return figure >= self.at_least
        assert self.at_most is not None, "A check has a bound."
        return figure <= self.at_most


class CheckFinding(BaseModel, frozen=True):
    """What a check found of one environment."""

    name: str
    group: str
    what: str
    why: str
    figure: float | None
    """The figure; None where the check does not apply, or the environment failed meanwhile."""
    bound: str
    verdict: CheckVerdict
    evidence: str
    """What was found, or why the check does not apply."""
    see: str
    """A command that shows what was found."""
