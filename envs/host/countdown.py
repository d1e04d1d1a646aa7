"""Deadlines that don't pass while this process is stopped."""

from __future__ import annotations

import time

_LONGEST_WAIT = 1.0
"""Seconds."""
_STOPPED = 1.0
"""Seconds that a wait may take longer than asked for. One that takes longer still tells that this
process, or the whole machine, was stopped meanwhile: SIGSTOP, a debugger, a suspended laptop."""


class Countdown:
    """Seconds that pass only while this process runs.

    Wait in pieces, and look once more when all has passed:

        countdown = Countdown(60.0)
        while not ready(countdown.next_wait()):  # the last wait is one of 0.0 seconds
            ...

    A piece in which this process was stopped is waited once more, for what is waited for may have
    been stopped too. What is done between two calls must take less than a second.
    """

    def __init__(self, seconds: float | None) -> None:
        """Start counting; None counts for ever."""
        self._left = seconds
        self._asked = 0.0
        self._since = time.monotonic()

    def next_wait(self) -> float | None:
        """Seconds to wait now: at most one, 0.0 when none are left, None for any time."""
        if self._left is None:
            return None
        now = time.monotonic()
        passed = now - self._since
        if passed < self._asked + _STOPPED:
            self._left -= passed
        self._since = now
        self._asked = min(_LONGEST_WAIT, max(0.0, self._left))
        return self._asked
