"""What can be named: what this project brings, and what other packages add by entry points.

A third-party package may be broken in any way. That costs a warning which names it, and
nothing else: every other name works as before.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields
from enum import StrEnum
from functools import lru_cache
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from operator import attrgetter
from pathlib import Path
from traceback import extract_tb
from typing import Any, Generic, TypeVar

from pydantic import BaseModel, ValidationError

from inhabit.envs.core import UnavailableError, UnknownNameError
from inhabit.envs.world.words import with_article


def resolve(target: str) -> Any:
    """The object that "module:attribute" names; imports its module."""
    module, _, attribute = target.partition(":")
    return getattr(import_module(module), attribute)


def member(kind: type[E], what: str, name: E | str) -> E:
    """The member of an enumeration of names; `what` says what they name.

    Raises:
        UnknownNameError: none has this name.
    """
    try:
        return kind(name)
    except ValueError:
        raise UnknownNameError(what, name, kind) from None


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


R = TypeVar("R")
E = TypeVar("E", bound=StrEnum)
_KINDS: Mapping[str, tuple[Any, str]] = {
    "str": (str, "a text"),
    "tuple": ((tuple, list), "a tuple"),
    "Mapping": (Mapping, "a mapping"),
    "Callable": (Callable, "a function"),
}
"""Types of fields, as a dataclass has them, that are checked, with a word for people."""


class PluginError(UnavailableError):
    """A third-party package can't be used. Names the package, the cause and the fix."""


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
    name_of: Callable[[R], str] = attrgetter("name")
    check: Callable[[R], str | None] = lambda registration: None
    """third-party registration -> what is wrong with it, as a clause; None if nothing is. The types
    of most fields are checked in any case."""

    def names(self) -> Sequence[str]:
        """Every name once, ours first; those of broken packages among them."""
        return self._names(self._theirs())

    def find(self, name: str) -> R:
        """What is registered under `name`.

        Raises:
            UnknownNameError: nothing is.
            PluginError: what is there can't be used.
        """
        if not isinstance(name, str):
            raise UnknownNameError(self.what, name, self.names())
        if name in self.ours:
            found: R = resolve(self.ours[name])
            return found
        return self._find_other(name, self._theirs())

    def usable(self) -> tuple[Sequence[R], Sequence[PluginError]]:
        """Every registration that can be used, and what is wrong with each of the others."""
        theirs = self._theirs()
        found, problems = [], list(self._shadowed(theirs))
        for name in self._names(theirs):
            try:
                ours = name in self.ours
                found.append(self.find(name) if ours else self._find_other(name, theirs))
            except PluginError as error:
                problems.append(error)
        return found, problems

    def _theirs(self) -> Mapping[str, Sequence[EntryPoint]]:
        """Entry points by name; more than one where several packages offer the same."""
        found: dict[str, list[EntryPoint]] = {}
        for point in _installed(self.group):
            found.setdefault(point.name, []).append(point)
        return found

    def _names(self, theirs: Mapping[str, Sequence[EntryPoint]]) -> Sequence[str]:
        return list(dict.fromkeys([*self.ours, *theirs]))

    def _find_other(self, name: str, theirs: Mapping[str, Sequence[EntryPoint]]) -> R:
        """What another package registers under `name`."""
        if name not in theirs:
            raise UnknownNameError(self.what, name, self._names(theirs))
        return self._load(theirs[name])

    def _shadowed(self, theirs: Mapping[str, Sequence[EntryPoint]]) -> Iterator[PluginError]:
        """Entry points that are unreachable because a built-in has the same name."""
        for name, points in theirs.items():
            if name in self.ours:
                yield PluginError(
                    f"{_capital(_who(points[0]))} offers {with_article(self.what)} {name!r}, and "
                    "inhabit has one of that name. It is ignored: its author has to rename it."
                )

    def _load(self, points: Sequence[EntryPoint]) -> R:
        point, name = points[0], points[0].name
        if len(points) > 1:
            offers = " and ".join(_who(one) for one in points)
            raise PluginError(
                f"{_capital(offers)} both offer {with_article(self.what)} {name!r}. Uninstall one "
                "of them."
            )

        def refused(why: str) -> PluginError:
            return PluginError(f"The {self.what} {name!r} of {_who(point)} can't be used: {why}.")

        with faults_as(lambda e: refused(f"loading {point.value} {raised(e)}")), same_folder():
            found = point.load()
        if not isinstance(found, self.kind):
            is_what = f"{point.value} is {_shown(found)}, not {with_article(self.kind.__name__)}"
            raise refused(is_what)
        if (own := self.name_of(found)) != name:
            raise refused(
                f"its entry point is called {name!r} and its registration {own!r}. Give both the "
                "same name"
            )
        if problem := self.check(found) or _fields_problem(found):
            raise refused(problem)
        return found


def _installed(group: str) -> Iterable[EntryPoint]:
    """Entry points of a group. Packages are looked through once for each state of `sys.path`."""
    places = tuple((place, _changed(place)) for place in sys.path)
    found: Iterable[EntryPoint] = _all(places).select(group=group)
    return found


@lru_cache(maxsize=1)
def _all(places: tuple[tuple[str, int], ...]) -> Any:
    return entry_points()


def _changed(place: str) -> int:
    """When a folder got or lost an entry, in ns; 0 if there is none."""
    try:
        return Path(place or ".").stat().st_mtime_ns
    except OSError:
        return 0


def settings_problem(settings: object) -> str | None:
    """What is wrong with the `settings` of a registration, in a clause; None if nothing is."""
    if not (isinstance(settings, type) and issubclass(settings, BaseModel)):
        return f"its settings are {_shown(settings)}, not a class derived from pydantic.BaseModel"
    try:
        settings()
    except ValidationError as error:
        return f"its settings need a default for every field ({first_problem(error)})"
    except (Exception, SystemExit) as error:  # noqa: BLE001 - a default may be third-party code
        return (
            f"its settings can't be made of their defaults: {settings.__name__}() {raised(error)}"
        )
    return None


def _fields_problem(registration: Any) -> str | None:
    """What is wrong with the type of a field of a registration, in a clause; None if nothing is."""
    for field in fields(registration):
        value, declared = getattr(registration, field.name), str(field.type)
        optional = declared.endswith(" | None")
        kind, word = _KINDS.get(declared.removesuffix(" | None").split("[")[0], (object, ""))
        if not isinstance(value, kind) and not (optional and value is None):
            return f"its {field.name} is {_shown(value)}, not {word}{' or None' * optional}"
    return None


def first_problem(error: ValidationError) -> str:
    """What pydantic found first, as "field: what is wrong"."""
    problem = error.errors(include_url=False, include_context=False)[0]
    field = ".".join(str(part) for part in problem["loc"])
    wrong = problem["msg"].removeprefix("Value error, ").removesuffix(".")  # Callers add one.
    if problem["type"] == "model_type":
        wrong = "Input should be an object with named fields"
    return f"{field}: {wrong}" if field else wrong


def raised(error: BaseException) -> str:
    """An exception of third-party code as a clause: "raised KeyError: 'x' (a.py, line 3)"."""
    said = " ".join(message(error).split())
    frames = extract_tb(error.__traceback__)
    if isinstance(error, SyntaxError) and error.filename:
        file, line = error.filename, error.lineno
        said = str(error.msg)
    elif frames:
        file, line = frames[-1].filename, frames[-1].lineno
    else:
        return f"raised {type(error).__name__}: {said}"
    place = f"({Path(file).name}, line {line})"
    return f"raised {type(error).__name__}: {said} {place}".replace(":  (", " (")


def message(error: BaseException) -> str:
    """What an exception of somebody else's code says, even where its `__str__` fails."""
    try:
        return str(error)
    except Exception:  # noqa: BLE001 - code of others may raise anything
        return "(its message can't be read)"


def is_interrupt(error: BaseException) -> bool:
    """Whether `error` stops this program or task from outside.

    Anything else is a fault of the code that raised it: a `CancelledError` that nobody asked for,
    such as one that leaks from a library, and a `SystemExit`, too.
    """
    import asyncio  # slow to import, and most workers meet no error

    if not isinstance(error, asyncio.CancelledError):
        return isinstance(error, KeyboardInterrupt | GeneratorExit)
    try:
        task = asyncio.current_task()
    except RuntimeError:  # no event loop runs on this thread, so there is nothing to cancel
        return False
    return task is not None and task.cancelling() > 0


@contextmanager
def faults_as(
    failure: Callable[[BaseException], Exception], *own: type[BaseException]
) -> Iterator[None]:
    """Raise `failure(error)` for an error of somebody else's code in the block.

    That code may raise anything, or leave. What stops this program, and the errors that the caller
    calls its `own`, pass.
    """
    try:
        yield
    except BaseException as error:
        if isinstance(error, own) or is_interrupt(error):
            raise
        raise failure(error) from error


@contextmanager
def same_folder() -> Iterator[None]:
    """Stay in the current folder, wherever the code of others in the block goes."""
    here = os.open(".", os.O_RDONLY | os.O_DIRECTORY)
    try:
        yield
    finally:
        os.fchdir(here)
        os.close(here)


def _who(point: EntryPoint) -> str:
    """The package that an entry point comes from, with its version."""
    if point.dist is None:
        return "an installed package"
    return f"the package {point.dist.name} {point.dist.version}"


def _capital(clause: str) -> str:
    return clause[:1].upper() + clause[1:]


def _shown(value: object) -> str:
    return "None" if value is None else f"of type {type(value).__name__}"
