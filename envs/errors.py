"""The base of every error that the command line reports as a sentence, without a traceback."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from enum import IntEnum


class ExitCode(IntEnum):
    """What the command `inhabit` returns for an error."""

    STOPPED = 1
    """A run or a data set could not be continued, such as on a full disk."""
    MISUSE = 2
    """An argument, a setting or an input file is wrong."""
    CANNOT_START = 3
    """An environment cannot start on this machine, or has failed."""


class UserError(Exception):
    """An error whose message says what is wrong, where, and what to do about it."""

    exit_code = ExitCode.MISUSE


def did_you_mean(name: str, known: Iterable[str], *, shown: int = 3) -> str:
    """A sentence that names up to `shown` of the `known` names that are nearest to `name`."""
    names = sorted(known)
    longer = [one for one in names if name and name in one]
    if 0 < len(longer) <= shown:
        return f"Did you mean: {', '.join(longer)}?"
    if near := difflib.get_close_matches(name, names, n=shown):
        return f"Did you mean: {', '.join(near)}?"
    if len(names) <= 12:
        return f"Known names: {', '.join(names)}."
    return f"Known names: {', '.join(names[:shown])} and {len(names) - shown} more."
