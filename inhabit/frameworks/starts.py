"""Episodes at the start of a task, kept to be copied."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from threading import Lock

from inhabit.envs.core import Env, Forkable
from inhabit.episodes.episode import Episode

Begin = Callable[[Env | None], Episode]
"""Starts an episode in an environment, or in a new one, and looks at its first moment."""


@dataclass(frozen=True, slots=True, eq=False)
class LockedEpisode:
    """An episode, and the lock of all that share its simulator: copies take turns in it."""

    episode: Episode
    lock: Lock

    def copy(self) -> LockedEpisode:
        """An independent episode at the same moment."""
        with self.lock:
            return LockedEpisode(self.episode.fork(), self.lock)

    def restarted(self, begin: Begin) -> LockedEpisode:
        """Another episode in the same simulator."""
        with self.lock:
            return LockedEpisode(begin(self.episode.env), self.lock)

    def close(self) -> None:
        """Let go of the simulator."""
        with self.lock:
            self.episode.close()


class Starts:
    """Episodes at the start of a task, to copy. The one used longest ago starts the next task.

    Args:
        size: how many are kept; 0 keeps none.
    """

    def __init__(self, size: int) -> None:
        self._size, self._lock = size, Lock()
        self._kept: OrderedDict[int, LockedEpisode] = OrderedDict()

    def take(self, index: int, used: LockedEpisode | None, begin: Begin) -> LockedEpisode:
        """An episode at the start of a task: a copy of a kept one, or one that `begin` starts.

        The environment of `used`, which is over, is used or closed, also when starting fails.

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
                made = unneeded[-1] = unneeded[-1].restarted(begin)
            else:
                made = LockedEpisode(begin(None), Lock())
                unneeded.append(made)
            if not self._size or not isinstance(made.episode.env, Forkable):
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
