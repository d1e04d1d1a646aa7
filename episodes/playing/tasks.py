"""Where the tasks of a run come from: sampled, or read from a file or a benchmark."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path

from pydantic import BaseModel

from inhabit.envs import tasksets
from inhabit.envs.core import Task, TaskError
from inhabit.envs.entries import raised
from inhabit.envs.errors import UserError
from inhabit.envs.registry import Registration
from inhabit.episodes.playing.task_filter import TaskFilter
from inhabit.episodes.recording.reader import read_tasks


def gather(
    registration: Registration,
    settings: BaseModel,
    *,
    n: int | None,
    seed: int,
    source: str | None,
    kinds: Collection[str] = (),
    rooms: Collection[str] = (),
) -> Sequence[Task]:
    """The tasks of a run, in order: the first `n` of `source`, or `n` sampled ones.

    Args:
        registration: the environment they are for.
        settings: of the environment.
        n: how many; None takes all that `source` has.
        seed: of the sample.
        source: a `.jsonl` file, a frozen set such as "alfred-v1", or whatever the environment
            itself understands.
        kinds: of tasks to keep; any by default.
        rooms: to keep tasks of, by what the environment calls them; any by default.

    Raises:
        UnknownNameError: there is no such kind or room.
        TaskError: they can't be read, or are no set of tasks for this environment.
        UserError: as the environment says it, such as what it lacks on this machine.
        OSError: a file of the environment can't be read.
    """
    tasks: Iterable[Task]
    chosen = TaskFilter(registration, settings, kinds, rooms) if kinds or rooms else None
    if source is None:
        source = f"The sample of {registration.name} with seed {seed}"
        wanted = n = 1 if n is None else n
        if chosen is None:
            tasks = _asked(lambda: registration.sample(wanted, seed, settings), registration)
        else:
            sampled = chosen
            tasks = _asked(
                lambda: sampled.sample(registration, wanted, seed, settings), registration
            )
            chosen = None
    elif (file := tasksets.find(source) or Path(source)).suffix == ".jsonl":
        tasks = read_tasks(file)
    else:
        named = source
        tasks = _asked(lambda: registration.read(named, settings), registration)
    tasks = _checked(tasks, source, registration.name)
    found = tuple(islice(tasks if chosen is None else chosen.keep(tasks), n))
    if not found:
        of_these = "" if chosen is None else " of these kinds and rooms"
        raise TaskError(f"{source} holds no task{of_these}.")
    return found


def _asked(ask: Callable[[], Iterable[Task]], registration: Registration) -> Iterator[Task]:
    """What an environment of anybody's gives.

    Raises:
        TaskError: it failed, or returned something that is not a task.
    """
    try:
        for task in ask():
            if not isinstance(task, Task):
                raise TaskError(
                    f"The environment {registration.name!r} gave a {type(task).__name__} where a "
                    "Task was expected."
                )
            yield task
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
