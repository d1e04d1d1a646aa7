"""Functions that are imported when they are first called."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Any


def resolve(target: str) -> Any:
    """The object that "module:attribute" names; imports its module."""
    module, _, attribute = target.partition(":")
    return getattr(import_module(module), attribute)


@dataclass(frozen=True, slots=True)
class LazyFunction:
    """A function named as "module:attribute". Its module is imported by the first call."""

    target: str

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call it."""
        return resolve(self.target)(*args, **kwargs)


def lazy(target: str) -> Callable[..., Any]:
    """The function that "module:attribute" names, imported when it is first called."""
    return LazyFunction(target)
