"""Reports on stderr how far a command has come."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterable
from itertools import chain, repeat
from typing import Self

from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

from inhabit.episodes.commands.output import remarks
from inhabit.episodes.reports.wording import duration

_FIRST_MINUTE = (10.0, 20.0, 30.0)
_LATER = 60.0
"""Seconds between two lines where stderr is not a terminal."""


class ProgressReport:
    """A bar on a terminal; elsewhere a line with an estimate, three in the first minute."""

    def __init__(
        self, what: str, total: int, *, done: int = 0, note: str = "", silent: bool = False
    ) -> None:
        """Start at `done` of `total` steps of work.

        Args:
            what: is counted, such as "episodes".
            total: steps of work, those already done included.
            done: steps done by an earlier call of the command.
            note: shown beside the count, such as a rate.
            silent: print nothing.
        """
        self._what, self._total = what, total
        self._earlier = self._done = done
        self._note = note
        self._started = time.monotonic()
        self._over = threading.Event()
        console = remarks()
        self._bar = Progress(
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("{task.fields[note]}", markup=False),
            TimeElapsedColumn(),
            TimeRemainingColumn(),
            console=console,
        )
        self._row = self._bar.add_task(what, total=total, completed=done, note=note)
        self._bars = not silent and console.is_terminal
        self._lines = not silent and not console.is_terminal

    def advance(self, *, note: str = "") -> None:
        """Count one more."""
        self.set_done(self._done + 1, note=note)

    def set_done(self, done: int, *, note: str = "") -> None:
        """Say how many are done."""
        self._done, self._note = done, note
        self._bar.update(self._row, completed=done, note=note)

    def line(self) -> str:
        """The state as one sentence, with an estimate of the time that is left."""
        elapsed = time.monotonic() - self._started
        parts = [f"{self._done} of {self._total} {self._what}"]
        if self._note:
            parts.append(self._note)
        parts.append(f"{duration(elapsed)} elapsed")
        if now := self._done - self._earlier:
            left = elapsed / now * (self._total - self._done)
            parts.append(f"about {duration(max(1.0, left))} left")
        return ", ".join(parts)

    def report_every(self, intervals: Iterable[float]) -> None:
        """Print a line after each of these intervals, in seconds, until all is done or over."""
        for interval in intervals:
            if self._over.wait(interval):
                return
            if self._done < self._total:
                remarks().print(self.line(), soft_wrap=True)

    def __enter__(self) -> Self:
        if self._bars:
            self._bar.start()
        if self._lines:
            schedule = chain(_FIRST_MINUTE, repeat(_LATER))
            threading.Thread(target=self.report_every, args=(schedule,), daemon=True).start()
        return self

    def __exit__(self, *error: object) -> None:
        self._over.set()
        # Elsewhere than on a terminal, rich before 15 would print an empty line.
        if self._bars:
            self._bar.stop()
