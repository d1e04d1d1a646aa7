"""The report: every check in its order, with its verdict; first the contract's own tests."""

from __future__ import annotations

import tomllib
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from importlib.metadata import version
from pathlib import Path

from pydantic import BaseModel

from inhabit.envs.contract import EnvContract
from inhabit.envs.core import Env, Task
from inhabit.envs.errors import UserError, did_you_mean
from inhabit.episodes.validating import acting, bounds, card, floors, leaks, pictures, reproduction
from inhabit.episodes.validating.check import (
    Check,
    CheckFigure,
    CheckFinding,
    CheckVerdict,
    Measure,
)
from inhabit.episodes.validating.subject import Subject

_TASKS = 3
"""Tasks that the contract is tried on."""


def _measure(test: str) -> Callable[[Subject], CheckFigure]:
    def measure(subject: Subject) -> CheckFigure:
        class Contract(EnvContract):
            def make(self) -> Env:
                return subject.registration.make(subject.backend, subject.settings)

            def tasks(self) -> Sequence[Task]:
                return list(subject.tasks[:_TASKS])

        try:
            getattr(Contract(), test)()
        except AssertionError as error:
            return CheckFigure(1, str(error))
        return CheckFigure(0)

    return measure


def _row(test: str) -> Check:
    why, _, _ = (getattr(EnvContract, test).__doc__ or "").partition("\n")
    return Check(
        f"contract.{test.removeprefix('test_')}",
        "broken rules of the contract",
        why.strip(),
        _measure(test),
        at_most=0,
    )


CONTRACT = tuple(_row(test) for test in vars(EnvContract) if test.startswith("test_"))


_MEASURES: Mapping[str, Measure] = {
    name: measure
    for module in (reproduction, floors, acting, leaks, pictures, bounds, card)
    for name, measure in module.MEASURES.items()
}
_ROWS = tomllib.loads(Path(__file__).with_name("checks.toml").read_text(encoding="utf-8"))
CHECKS: Sequence[Check] = (
    *CONTRACT,
    *(Check(name=name, measure=_MEASURES[name], **row) for name, row in _ROWS.items()),
)
"""All checks, in the order in which they run."""


class ValidationReport(BaseModel, frozen=True):
    """What was found of one environment."""

    env: str
    backend: str
    inhabit: str
    """Version of `inhabit` that checked the environment."""
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
