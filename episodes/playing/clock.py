"""Time accounting: seconds in the simulator, the model, the recorder, and elsewhere."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from enum import StrEnum

from inhabit.episodes.recording.schema import Seconds


class TimeShare(StrEnum):
    """What time is spent on; the remainder is `other`."""

    SIMULATOR = "simulator"
    MODEL = "model"
    RECORD = "record"


class Clock:
    """Adds up the seconds of one episode, by a monotonic clock.

    Simulator time inside a measurement of the model, such as an agent that asks for a plan, counts
    for the simulator only.
    """

    def __init__(self) -> None:
        self._begun = time.perf_counter()
        self._sums = dict.fromkeys(TimeShare, 0.0)
        self._latest = dict.fromkeys(TimeShare, 0.0)
        self._recorded = 0.0
        self._overhead_ms: list[float] = []
        self.begin_step()

    @contextmanager
    def measure(self, part: TimeShare) -> Iterator[None]:
        """Add the time until the block ends to `part`, except what is added to others inside it."""
        begun, claimed = time.perf_counter(), sum(self._sums.values())
        try:
            yield
        finally:
            theirs = sum(self._sums.values()) - claimed
            self.add(part, max(0.0, time.perf_counter() - begun - theirs))

    def add(self, part: TimeShare, seconds: float) -> None:
        """Add time that was measured elsewhere, such as on the thread of the simulator."""
        self._sums[part] += seconds
        self._latest[part] = seconds

    def add_recorded(self, seconds: float) -> None:
        """Add model time of a recorded decision that is re-executed."""
        self._recorded += seconds
        self._latest[TimeShare.MODEL] = seconds

    def latest(self, part: TimeShare) -> float:
        """What the last measurement of `part` took."""
        return self._latest[part]

    def begin_step(self) -> None:
        """Start a step; earlier time, such as loading a scene, does not count for it."""
        self._step = time.perf_counter()
        self._step_claimed = self._claimed()

    def end_step(self) -> None:
        """End a step and start the next one."""
        whole = time.perf_counter() - self._step
        overhead = whole - (self._claimed() - self._step_claimed)
        self._overhead_ms.append(round(1000 * max(0.0, overhead), 3))
        self.begin_step()

    @property
    def overhead_ms(self) -> tuple[float, ...]:
        """Milliseconds of each finished step in neither simulator nor model."""
        return tuple(self._overhead_ms)

    @property
    def elapsed(self) -> float:
        """Seconds since the attempt began."""
        return time.perf_counter() - self._begun

    def total(self) -> Seconds:
        """The sums until now."""
        other = time.perf_counter() - self._begun - sum(self._sums.values())
        sums = self._sums | {TimeShare.MODEL: self._sums[TimeShare.MODEL] + self._recorded}
        parts = {part.value: round(seconds, 6) for part, seconds in sums.items()}
        return Seconds(**parts, other=round(max(0.0, other), 6))

    def _claimed(self) -> float:
        return self._sums[TimeShare.SIMULATOR] + self._sums[TimeShare.MODEL]
