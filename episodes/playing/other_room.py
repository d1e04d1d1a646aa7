"""What a run with pictures of another room shows to its agent."""

from __future__ import annotations

from collections.abc import Sequence

from inhabit.envs.core import Task, TaskError
from inhabit.envs.registry import find
from inhabit.episodes.recording.reader import Run
from inhabit.episodes.recording.schema import Sight


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
