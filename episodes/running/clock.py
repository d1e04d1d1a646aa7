"""Where the time went: in the simulator, in the model, in recording, or anywhere else."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from enum import StrEnum

from inhabit.episodes.recording.schema import Seconds


class TimeShare(StrEnum):
    """Whose time it is. What nobody claims is `other`."""

    SIMULATOR = "simulator"
    MODEL = "model"
    RECORD = "record"


class Clock:
    """Adds up the seconds of one episode, by a clock that never jumps.

    Time of the simulator inside a spell of the model (an agent that asks for a plan, or for what a
    text means) is the simulator's alone.
    """

    def __init__(self) -> None:
        self._begun = time.perf_counter()
        self._sums = dict.fromkeys(TimeShare, 0.0)
        self._latest = dict.fromkeys(TimeShare, 0.0)
        self._recalled = 0.0
        self._overhead_ms: list[float] = []
        self.begin_step()

    @contextmanager
    def spell(self, part: TimeShare) -> Iterator[None]:
        """The time until the block ends is of `part`, but for what others claim inside it."""
        begun, claimed = time.perf_counter(), sum(self._sums.values())
        try:
            yield
        finally:
            theirs = sum(self._sums.values()) - claimed
            self.add(part, max(0.0, time.perf_counter() - begun - theirs))

    def add(self, part: TimeShare, seconds: float) -> None:
        """Time that was measured elsewhere, such as on the simulator's own thread."""
        self._sums[part] += seconds
        self._latest[part] = seconds

    def recall(self, seconds: float) -> None:
        """Time that a model took for a decision of an earlier attempt, which is acted again."""
        self._recalled += seconds

    def latest(self, part: TimeShare) -> float:
        """What the last spell of `part` took."""
        return self._latest[part]

    def begin_step(self) -> None:
        """A step begins; what came before it, such as loading a scene, is none of it."""
        self._step = time.perf_counter()
        self._step_claimed = self._claimed()

    def end_step(self) -> None:
        """A step is over, and the next one begins."""
        whole = time.perf_counter() - self._step
        overhead = whole - (self._claimed() - self._step_claimed)
        self._overhead_ms.append(round(1000 * max(0.0, overhead), 3))
        self.begin_step()

    @property
    def overhead_ms(self) -> tuple[float, ...]:
        """Of each step that is over: its time in neither simulator nor model, in milliseconds."""
        return tuple(self._overhead_ms)

    @property
    def elapsed(self) -> float:
        """Seconds since the attempt began."""
        return time.perf_counter() - self._begun

    def total(self) -> Seconds:
        """The sums until now."""
        other = time.perf_counter() - self._begun - sum(self._sums.values())
        sums = self._sums | {TimeShare.MODEL: self._sums[TimeShare.MODEL] + self._recalled}
        parts = {part.value: round(seconds, 6) for part, seconds in sums.items()}
        return Seconds(**parts, other=round(max(0.0, other), 6))

    def _claimed(self) -> float:
        return self._sums[TimeShare.SIMULATOR] + self._sums[TimeShare.MODEL]
