"""The contract's own tests, as they are: a check for each."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from inhabit.envs.contract import EnvContract
from inhabit.envs.core import Env, Task
from inhabit.episodes.validating.check import Check, CheckFigure
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


CHECKS = tuple(_row(test) for test in vars(EnvContract) if test.startswith("test_"))
