"""How figures and endings are written for people, on pages, in videos and by commands."""

from __future__ import annotations

import re
from itertools import takewhile

from inhabit.episodes.recording.schema import Ending

ENDINGS = {
    Ending.SUCCESS: "Solved",
    Ending.STOPPED: "Stopped by the agent, unsolved",
    Ending.STEP_LIMIT: "Step limit reached",
    Ending.INVALID_LIMIT: "Too many invalid actions",
    Ending.WRONG_ANSWER: "Wrong answer",
    Ending.FORMAT_ERROR: "Unreadable answer",
    Ending.BUDGET: "Budget exhausted",
    Ending.SCENE_REFUSED: "Scene refused",
    Ending.SIMULATOR_FAULT: "Simulator fault",
    Ending.MODEL_FAULT: "Model fault",
}


def counted(number: int, noun: str) -> str:
    """A number of things: "1 step", "1,200 steps"."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def spoken(text: str) -> str:
    """Names as people say them: "the laptop 1" for "the laptop_1"."""
    return re.sub(r"(?<=[^\W\d_])_(?=\d+\b)", " ", text)


def apart(one: str, other: str, most: int) -> tuple[str, str]:
    """Two texts that differ, cut to `most` characters that show where they part."""
    same = sum(1 for _ in takewhile(lambda pair: len({*pair}) == 1, zip(one, other, strict=False)))
    begin = max(0, same - most // 2) if max(len(one), len(other)) > most else 0
    return _around(one, begin, most), _around(other, begin, most)


def _around(text: str, begin: int, most: int) -> str:
    before, after = "..." if begin else "", "..." if len(text) > begin + most else ""
    return f"{before}{text[begin : begin + most]}{after}"


def percent(rate: float) -> str:
    """A rate in percent: "66.7 %", and "100 %" where the decimal is zero."""
    return f"{100 * rate:.1f}".removesuffix(".0") + "\N{NO-BREAK SPACE}%"


def duration(seconds: float) -> str:
    """A time that a person reads at a glance: "43 ms", "4.7 s", "2 min 5 s", "1 h 2 min"."""
    if seconds < 1:
        return f"{1000 * seconds:.0f} ms"
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    if minutes < 60:
        return f"{minutes} min {rest} s".removesuffix(" 0 s")
    return f"{minutes // 60} h {minutes % 60} min".removesuffix(" 0 min")


def nats(logprob: float) -> str:
    """A log-probability with a true minus sign: "−1.29 nats"."""
    return f"{round(logprob, 2) + 0:.2f}".replace("-", "\N{MINUS SIGN}") + "\N{NO-BREAK SPACE}nats"
