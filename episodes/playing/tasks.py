"""Where the tasks of a run come from: sampled, or read from a file or a benchmark."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from difflib import get_close_matches
from functools import partial
from itertools import islice
from operator import index
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from inhabit.envs import tasksets
from inhabit.envs.core import Task, TaskError, UnknownNameError
from inhabit.envs.entries import raised
from inhabit.envs.errors import UserError
from inhabit.envs.registry import Registration, find
from inhabit.episodes.recording.reader import Run, read_tasks
from inhabit.episodes.recording.schema import Sight

_FIRST = 64
"""Tasks to sample at first; then four times as many, and so on."""
_MOST, _MOST_EACH = 2000, 200
"""Tasks to sample at most: so many, and so many more for each that is wanted."""


_MOST_TASKS = 1_000_000
"""Tasks of a sample: more would take hours to begin."""


def whole(what: str, value: Any) -> int:
    """`value`, which may be a number of NumPy, as an int.

    Raises:
        TaskError: it is no whole number; says `what` it was given for.
    """
    try:
        return index(value)
    except TypeError:
        raise TaskError(f"{what} is {value!r}, and must be a whole number.") from None


class TaskFilter:
    """Keeps the tasks of some kinds and rooms; no names mean any."""

    def __init__(
        self,
        registration: Registration,
        settings: Any,
        kinds: Collection[str],
        rooms: Collection[str],
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


def gather(
    registration: Registration,
    settings: BaseModel,
    *,
    n: int | None,
    seed: int,
    source: Iterable[Task] | Path | str | None,
    kinds: Collection[str] = (),
    rooms: Collection[str] = (),
) -> tuple[Task, ...]:
    """The tasks of a run, in order: the first `n` of `source`, or `n` sampled ones.

    Args:
        registration: the environment they are for.
        settings: of the environment.
        n: how many; None takes all that `source` has.
        seed: of the sample.
        source: a `.jsonl` file, a frozen set such as "alfred-v1", or whatever the environment
            itself understands; or the tasks themselves.
        kinds: of tasks to keep; any by default.
        rooms: to keep tasks of, by what the environment calls them; any by default.

    Raises:
        UnknownNameError: there is no such kind or room.
        TaskError: they can't be read, or are no set of tasks for this environment.
        UserError: as the environment says it, such as what it lacks on this machine.
        OSError: a file of the environment can't be read.
    """
    tasks: Iterable[Task]
    # Programs bring numbers of NumPy and pandas, paths, and a single name instead of several.
    n, seed = None if n is None else whole("n", n), whole("seed", seed)
    source = str(source) if isinstance(source, Path) else source
    kinds, rooms = ((names,) if isinstance(names, str) else names for names in (kinds, rooms))
    if n is not None and n < 1:
        raise TaskError(f"{n} tasks are asked for (n): ask for one at least.")
    chosen = TaskFilter(registration, settings, kinds, rooms) if kinds or rooms else None
    if source is None:
        source = f"The sample of {registration.name} with seed {seed}"
        n = 1 if n is None else n
        if n > _MOST_TASKS:
            raise TaskError(f"{source} would be {n:,} tasks: {_MOST_TASKS:,} are the most.")
        draw = registration.sample if chosen is None else partial(chosen.sample, registration)
        tasks, chosen = _asked(registration, draw, n, seed, settings), None
    elif not isinstance(source, str):
        if not isinstance(source, Iterable):
            raise TaskError(f"{source!r} is neither tasks nor where to read them (n is how many).")
        tasks, source = source, "The list of tasks"
    elif (file := tasksets.find(source) or Path(source)).suffix == ".jsonl":
        tasks = read_tasks(file)
    else:
        sets = [*tasksets.SETS, *tasksets.BENCHMARKS.names()]
        if get_close_matches(source, sets, cutoff=0.8) and not Path(source).exists():
            raise UnknownNameError("task set", source, sets)
        tasks = _asked(registration, registration.read, source, settings)
    tasks = _checked(tasks, source, registration.name)
    found = tuple(islice(tasks if chosen is None else chosen.keep(tasks), n))
    if not found:
        of_these = "" if chosen is None else " of these kinds and rooms"
        raise TaskError(f"{source} holds no task{of_these}.")
    return found


def _asked(
    registration: Registration, give: Callable[..., Iterable[Task]], *arguments: object
) -> Iterator[Task]:
    """What an environment of anybody's gives."""
    try:
        yield from give(*arguments)
    except (UserError, OSError):
        raise
    except (Exception, SystemExit) as error:
        raise TaskError(
            f"The environment {registration.name!r} can't give tasks: it {raised(error)}."
        ) from error


def _checked(tasks: Iterable[Task], source: str, env: str) -> Iterator[Task]:
    """Every task once, and all of them for `env`."""
    numbers: dict[str, int] = {}
    for number, task in enumerate(tasks, 1):
        if not isinstance(task, Task):
            raise TaskError(f"{source}, task {number}: it is a {type(task).__name__}, not a Task.")
        if task.env != env:
            raise TaskError(
                f"{source}, task {number} ({task.id!r}): its env is {task.env!r}, "
                f"and this run is of {env!r}."
            )
        if (other := numbers.setdefault(task.id, number)) != number:
            raise TaskError(
                f"{source}, task {number}: its id {task.id!r} is that of task {other} too."
            )
        yield task


def elsewhere(run: Run, task: Task) -> Task | None:
    """The task whose pictures `task` is played with: the next one of another room.

    None where a run shows no other pictures.

    Raises:
        TaskError: all tasks are of one room.
    """
    if run.header.image is not Sight.OTHER:
        return None
    return next_room(run.tasks, task)


def next_room(tasks: Sequence[Task], task: Task) -> Task:
    """The next of `tasks` after `task` in another room, or with another scene where no room has a
    name; after the last comes the first.

    Raises:
        TaskError: there is none.
    """
    room = find(task.env).room_of
    here, at = _place(room(task), task), next(i for i, t in enumerate(tasks) if t.id == task.id)
    for other in (*tasks[at + 1 :], *tasks[:at]):
        if _place(room(other), other) != here:
            return other
    raise TaskError(
        "Pictures of another room (--sight other) need tasks of two rooms at least, and all "
        f"{len(tasks)} are of one: take more tasks (--n), or leave --rooms out."
    )


def _place(room: str | None, task: Task) -> object:
    return task.scene if room is None else room
