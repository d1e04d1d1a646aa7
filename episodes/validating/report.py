"""The report: every check in its order, with its verdict."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from importlib.metadata import version

from pydantic import BaseModel

from inhabit.envs.errors import UserError, did_you_mean
from inhabit.episodes.validating import (
    acting,
    bounds,
    card,
    conformance,
    floors,
    leaks,
    pictures,
    reproduction,
)
from inhabit.episodes.validating.check import Check, CheckFinding, CheckVerdict
from inhabit.episodes.validating.subject import Subject

CHECKS: Sequence[Check] = (
    *conformance.CHECKS,
    *reproduction.CHECKS,
    *floors.CHECKS,
    *acting.CHECKS,
    *leaks.CHECKS,
    *pictures.CHECKS,
    *bounds.CHECKS,
    *card.CHECKS,
)
"""All checks, in the order in which they run."""


class ValidationReport(BaseModel, frozen=True):
    """What was found of one environment."""

    env: str
    backend: str
    inhabit: str
    """The version that checked it."""
    tasks: int
    fast: bool
    findings: tuple[CheckFinding, ...]

    @property
    def counts(self) -> Mapping[CheckVerdict, int]:
        """How many checks ended in each way."""
        return Counter(one.verdict for one in self.findings)

    @property
    def failed(self) -> Sequence[CheckFinding]:
        """The findings that failed."""
        return [one for one in self.findings if one.verdict is CheckVerdict.FAILED]


def chosen(only: Collection[str]) -> Sequence[Check]:
    """The checks whose names are in `only`, or begin with one of its groups; all for none.

    Raises:
        UserError: no check has such a name.
    """
    for name in only:
        if not any(_under(check.name, name) for check in CHECKS):
            names = {check.name for check in CHECKS} | {c.name.split(".")[0] for c in CHECKS}
            raise UserError(f"There is no check {name!r}. {did_you_mean(name, names)}")
    return [c for c in CHECKS if not only or any(_under(c.name, name) for name in only)]


def validate(
    subject: Subject,
    checks: Sequence[Check] = CHECKS,
    tell: Callable[[CheckFinding], None] = lambda finding: None,
) -> ValidationReport:
    """Run the checks, one after another. A check that fails ends none of the others.

    Args:
        subject: what is validated; it stays open.
        checks: which.
        tell: told of each finding as soon as it is there.
    """
    found = []
    for check in checks:
        found.append(check.run(subject))
        tell(found[-1])
    return ValidationReport(
        env=subject.name,
        backend=subject.backend,
        inhabit=version("inhabit"),
        tasks=len(subject.tasks),
        fast=subject.fast,
        findings=tuple(found),
    )


def _under(name: str, group: str) -> bool:
    return f"{name}.".startswith(f"{group.rstrip('.')}.")
