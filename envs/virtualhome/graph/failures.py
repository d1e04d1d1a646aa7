"""Maps the evolving graph's failure messages to reasons."""

from __future__ import annotations

import re
from dataclasses import dataclass

from inhabit.envs.core import Reason


@dataclass(frozen=True, slots=True)
class Failure:
    """The reason of a failed line, and the simulator's message."""

    reason: Reason
    message: str


_KINDS = [
    (r"is inside other closed thing", Reason.CLOSED),
    (r"does not have a free hand", Reason.HANDS_FULL),
    (r"does not hold anything", Reason.HANDS_EMPTY),
    (r"is not holding a knife", Reason.MISSING_ITEM),
    (r"is not holding|not grabbed|is not on <character>", Reason.MISSING_ITEM),
    (r"already grabbed|is not (closed|open|off|on|plugged_in|plugged_out)\b", Reason.ALREADY),
    (r"is not open or is not openable", Reason.CLOSED),
    (r"is still on|is unplugged|is sitting|is lying|is not sitting", Reason.WRONG_STATE),
    (r"is not lying|does not face|is not facing", Reason.WRONG_STATE),
    (r"Too many things on", Reason.NO_ROOM),
    (r"Door\(s\)|No path between", Reason.BLOCKED),
    (r"is not close to", Reason.OUT_OF_REACH),
    (r"char room .* is not node room", Reason.OUT_OF_REACH),
    (r"cannot be found|Could not find", Reason.NOT_FOUND),
    (
        r"is not \w+|not lookable|can not be opened|does not have a? ?(switch|plug)|none of object",
        Reason.NOT_ALLOWED,
    ),
]
"""The first pattern that matches a message counts."""


def read_failure(message: str) -> Failure:
    """The reason of a message of `evolving_graph` (`ExecutionInfo.get_error_string`).

    A sentence that none of its executors writes reads as UNKNOWN_ACTION.
    """
    for pattern, reason in _KINDS:
        if re.search(pattern, message):
            return Failure(reason, message)
    return Failure(Reason.UNKNOWN_ACTION, message)
