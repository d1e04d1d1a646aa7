"""Chooses tasks by kind and room, through what the environment declares about its tasks."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from itertools import islice
from typing import Any

from inhabit.envs.core import Task, TaskError, UnknownNameError
from inhabit.envs.entries import raised
from inhabit.envs.errors import UserError
from inhabit.envs.registry import Registration

_FIRST = 64
"""Tasks to sample at first; then four times as many, and so on."""
_MOST, _MOST_EACH = 2000, 200
"""Tasks to sample at most: so many, and so many more for each that is wanted."""


class TaskFilter:
    """Keeps the tasks of some kinds and rooms; no names mean any."""

    def __init__(
        self,
        registration: Registration,
        settings: Any,
        kinds: Collection[str] = (),
        rooms: Collection[str] = (),
    ) -> None:
        """Check the names as far as the environment declares them.

        Raises:
            UnknownNameError: it declares its kinds or rooms, and a name is none of them.
            TaskError: its declaration fails.
        """
        self._env, self._room_of = registration.name, registration.room_of
        self._kinds, self._rooms = frozenset(kinds), frozenset(rooms)
        try:
            self._known_kinds = frozenset(registration.kinds(settings))
            groups = {name: frozenset(of) for name, of in registration.rooms(settings).items()}
        except UserError:
            raise
        except Exception as error:
            raise TaskError(
                f"The environment {self._env!r} can't name its kinds and rooms: it {raised(error)}."
            ) from error
        self._known_rooms = frozenset(groups)
        self._wanted_rooms = frozenset().union(*(groups.get(name, {name}) for name in self._rooms))
        self._seen_kinds: set[str] = set()
        self._seen_rooms: set[str] = set()
        if self._known_kinds:
            self._check("task kind", self._kinds, self._known_kinds)
        if self._known_rooms:
            self._check("room", self._rooms, self._known_rooms)

    def __bool__(self) -> bool:
        return bool(self._kinds or self._rooms)

    def keep(self, tasks: Iterable[Task]) -> Iterator[Task]:
        """Those of `tasks` that are wanted.

        Raises:
            UnknownNameError: no task has a name that is asked for.
        """
        yield from filter(self._fits, tasks)
        self._check_seen()

    def sample(
        self, registration: Registration, n: int, seed: int, settings: Any
    ) -> Iterator[Task]:
        """Sample until `n` tasks fit. The first k of n are those of k.

        Raises:
            UnknownNameError: as `keep`.
            TaskError: too few tasks fit.
        """
        looked, kept, amount = 0, 0, max(_FIRST, 16 * n)
        most = _MOST + _MOST_EACH * n
        if registration.sample_where is not None:
            fitting = registration.sample_where(
                most, seed, settings, self._kinds, self._wanted_rooms
            )
            for kept, task in enumerate(fitting, 1):  # noqa: B007 - counted for the error
                yield task
            looked = most
        while looked < most:
            for task in islice(registration.sample(amount, seed, settings), looked, None):
                looked += 1
                if self._fits(task):
                    kept += 1
                    yield task
            self._check_seen()
            if looked < amount:
                break
            amount *= 4
        raise TaskError(
            f"{kept} of {looked} sampled tasks of {self._env} are of these kinds and rooms, and "
            f"{n} are wanted. Ask for fewer tasks, or for more kinds or rooms."
        )

    def _fits(self, task: Task) -> bool:
        room = self._room_of(task)
        self._seen_kinds.add(task.kind)
        if room is not None:
            self._seen_rooms.add(room)
        return (not self._kinds or task.kind in self._kinds) and (
            not self._rooms or room in self._wanted_rooms
        )

    def _check_seen(self) -> None:
        """See that every name is declared, or was that of a task."""
        self._check("task kind", self._kinds, self._known_kinds | self._seen_kinds)
        self._check("room", self._rooms, self._known_rooms | self._seen_rooms)

    def _check(self, what: str, wanted: Collection[str], known: Collection[str]) -> None:
        for name in sorted(set(wanted) - set(known)):
            if not known:
                raise TaskError(f"The tasks of {self._env} name no {what}: leave {name!r} out.")
            raise UnknownNameError(f"{what} of {self._env}", name, known)
