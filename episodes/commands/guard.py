"""A process beside a command: it ends the command if no Python of it runs.

Started by `inhabit.episodes.commands.interrupt` as a script that imports nothing of ours. Standard
input brings a byte for each signal that the command is sent, and ends with the command.
"""

import os
import select
import signal
import sys
import time

CLEAN_END = 10.0
"""Seconds that a command may take to end after the first signal."""
AT_ONCE = 1.0
"""Seconds that a command may take to end after the second signal."""
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def main(command: int) -> None:
    """Wait for two signals to the process `command`, or for the first to have no effect."""
    for number in SIGNALS:
        signal.signal(number, signal.SIG_IGN)
    handle = os.pidfd_open(command)
    if os.getppid() != command or not _signalled(None):
        return
    if not _signalled(CLEAN_END):
        signal.pidfd_send_signal(handle, signal.SIGTERM)
    until = time.monotonic() + AT_ONCE
    while (left := until - time.monotonic()) > 0:
        _signalled(left)
    signal.pidfd_send_signal(handle, signal.SIGKILL)


def _signalled(seconds: float | None) -> bool:
    """Whether another signal came in that time. Ends this process where the command has ended."""
    until = None if seconds is None else time.monotonic() + seconds
    while select.select([0], [], [], until and max(0.0, until - time.monotonic()))[0]:
        if not (byte := os.read(0, 1)):
            sys.exit()
        if byte[0] in SIGNALS:
            return True
    return False


if __name__ == "__main__":
    main(int(sys.argv[1]))
