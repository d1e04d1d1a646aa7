"""What can be named: what stands in this project, and what other packages bring along."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from importlib.metadata import entry_points
from typing import Generic, TypeVar

from pydantic import ValidationError

from inhabit.envs.core import UnknownNameError

R = TypeVar("R")


@dataclass(frozen=True, slots=True)
class Entries(Generic[R]):
    """Registrations by name, ours first. Nothing is imported before it is looked up."""

    what: str
    """What is registered, in a word for people."""
    kind: type[R]
    group: str
    """The entry-point group by which packages of others join."""
    ours: Mapping[str, str]
    """Name -> "module:attribute"."""

    def names(self) -> Sequence[str]:
        """Every name, ours first."""
        return [*self.ours, *(p.name for p in entry_points(group=self.group))]

    def find(self, name: str) -> R:
        """What is registered under `name`.

        Raises:
            UnknownNameError: nothing is.
        """
        if name in self.ours:
            module, _, attribute = self.ours[name].partition(":")
            found = getattr(import_module(module), attribute)
        elif theirs := entry_points(group=self.group, name=name):
            found = next(iter(theirs)).load()
        else:
            raise UnknownNameError(self.what, name, self.names())
        if not isinstance(found, self.kind):
            raise TypeError(
                f"The {self.what} {name!r} registers {found!r}, not a {self.kind.__name__}."
            )
        return found


def first_problem(error: ValidationError) -> str:
    """What pydantic found first, as "field: what is wrong"."""
    problem = error.errors(include_url=False, include_context=False)[0]
    field = ".".join(str(part) for part in problem["loc"])
    wrong = problem["msg"].removeprefix("Value error, ")
    return f"{field}: {wrong}" if field else wrong
