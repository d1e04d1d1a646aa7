"""Finds reasons that go in a circle: that explain an action by itself or by its reversal."""

from __future__ import annotations

import re

_VERBS = "put|place|pick up|pick|take|open|close|turn on|turn off|turn|slice|go to"
_CLAUSE = rf"(?P<{{0}}>{_VERBS})\b(?P<{{0}}_rest>[^.;:,]*?)"
_FORWARD = re.compile(
    _CLAUSE.format("now")
    + r"(?: so that you can | in order to |; after that,? you can |: only then can you "
    r"|, because the next step is to |, which allows you to |, since afterwards you have to "
    r"|, as this makes it possible to )" + _CLAUSE.format("then") + r"(?=[.;:,]|$)"
)
_BACKWARD = re.compile(
    r"(?:before you can |the way to |if you want to |you can't |to )"
    + _CLAUSE.format("then")
    + r"(?:, | is to | unless you )"
    + _CLAUSE.format("now")
    + r"(?: first)?(?=[.;:,]|$)"
)
_SAME = {"place": "put", "pick": "pick up", "take": "pick up"}
_REVERSED = {"put": "pick up", "open": "close", "turn on": "turn off", "close": "open"}


def circle(reason: str) -> str:
    """The clause of a reason that goes in a circle; empty if there is none.

    "Put the slice in it so that you can pick up the slice" is one: the purpose undoes the action.
    So is "open the fridge so that you can open it".
    """
    text = re.sub(r"\s+", " ", reason.lower())
    for pattern in (_FORWARD, _BACKWARD):
        for match in pattern.finditer(text):
            if _is_circle(_clause(match, "now"), _clause(match, "then")):
                return match[0]
    return ""


def _clause(match: re.Match[str], name: str) -> tuple[str, str]:
    """The verb and its object: "put", "lettuce slice"."""
    verb, rest = match[name], match[f"{name}_rest"].strip()
    if particle := re.match(r"(?:.*\s)?(on|off|up)$", rest):
        verb = f"{verb} {particle[1]}" if verb in ("turn", "pick") else verb
        rest = rest.removesuffix(particle[1]).strip()
    noun = re.split(r" (?:in|on|into|onto|from|up) ", f"{rest} ")[0]
    return _SAME.get(verb, verb), re.sub(r"^(?:the|a|an) ", "", noun.strip())


def _is_circle(now: tuple[str, str], then: tuple[str, str]) -> bool:
    pronouns = {"it", "them"} & {now[1], then[1]}
    same = now[1] == then[1] or (bool(pronouns) and now[0] == then[0])
    return same and (now[0] == then[0] or _REVERSED.get(now[0]) == then[0])
