"""Sessions at the start of a task, kept to be copied."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from threading import Lock

from inhabit.api.session import Session
from inhabit.envs.core import Forkable, Task


@dataclass(frozen=True, slots=True, eq=False)
class Start:
    """A session, and the lock of all that share its simulator: copies take turns in it."""

    session: Session
    lock: Lock

    def copy(self) -> Start:
        """An independent session in the same state."""
        with self.lock:
            return Start(self.session.fork(), self.lock)

    def restart(self, task: Task, seed: int) -> None:
        """Start another task in the same simulator."""
        with self.lock:
            self.session.reset(task, seed=seed)

    def close(self) -> None:
        """Let go of the simulator."""
        with self.lock:
            self.session.close()


class Starts:
    """Sessions at the start of a task, to copy. The one used longest ago starts the next task.

    Args:
        size: how many are kept; 0 keeps none.
    """

    def __init__(self, size: int) -> None:
        self._size, self._lock = size, Lock()
        self._kept: OrderedDict[int, Start] = OrderedDict()

    def take(
        self, index: int, task: Task, seed: int, used: Start | None, open: Callable[[], Session]
    ) -> Start:
        """A session at the start of a task: a copy of a kept one, a restarted or a new one.

        Args:
            index: number of the task.
            task: the task itself.
            seed: of the episode.
            used: a session that is not needed any more. It is restarted or closed, also when
                starting fails.
            open: opens a session at the start of this task.

        Raises:
            SceneError, SimulatorError, UnavailableError: the task can't be started.
        """
        unneeded = [] if used is None else [used]
        try:
            with self._lock:
                if index in self._kept:
                    self._kept.move_to_end(index)
                    return self._kept[index].copy()
                if len(self._kept) >= self._size > 0:
                    unneeded.append(self._kept.popitem(last=False)[1])
            if unneeded:
                unneeded[-1].restart(task, seed)
                made = unneeded[-1]
            else:
                made = Start(open(), Lock())
                unneeded.append(made)
            if not self._size or not isinstance(made.session.env, Forkable):
                unneeded.remove(made)
                return made
            with self._lock:
                copy = made.copy()
                unneeded.remove(made)
                # Another thread may have kept the same start meanwhile.
                if index in self._kept:
                    unneeded.append(self._kept[index])
                self._kept[index] = made
                # Threads that start tasks at once may together keep more than there is room for.
                while len(self._kept) > self._size:
                    unneeded.append(self._kept.popitem(last=False)[1])
            return copy
        finally:
            for one in unneeded:
                one.close()
