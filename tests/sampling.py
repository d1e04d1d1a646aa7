"""Long lists of cases, of which the quick tests take some."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest


def every(n: int, cases: Iterable[Any]) -> list[Any]:
    """The cases of a parametrized test. All but each n-th, from the first on, are slow.

    A case that is a tuple has a value for each parameter.
    """
    return [
        pytest.param(
            *(case if isinstance(case, tuple) else (case,)),
            marks=pytest.mark.slow if number % n else (),
        )
        for number, case in enumerate(cases)
    ]
