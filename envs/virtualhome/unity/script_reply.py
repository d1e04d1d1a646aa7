"""Extracts failures from replies to `render_script`, in both of its forms."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from pydantic import JsonValue

from inhabit.envs.core import Reason
from inhabit.envs.virtualhome.graph.failures import Failure, read_failure

_WRAPPINGS = re.compile(
    r"ScriptExcutor \d+:|EXECUTION_GENERAL: Script is impossible to execute|PROCESS \w+:|\s+"
)
_UNITY = (
    (r"No interaction positions|Path|collision", Reason.BLOCKED),
    (r"Can not select object|Not found|not found", Reason.NOT_FOUND),
    (r"impossible to execute", Reason.WRONG_STATE),
    (r"Error parsing script", Reason.UNKNOWN_ACTION),
    (r"[Tt]ime.?out", Reason.DEADLINE),
)
"""Unity's own messages, tried in order after those of the evolving graph."""


def read_script_failure(message: str) -> Failure:
    """The failure in a reply of either form; see `script_messages`."""
    said = script_messages(message)
    text = next((t for t in said.values() if t and t != "Success"), message)
    bare = " ".join(_WRAPPINGS.sub(" ", text).split())
    if not bare:
        bare = "The simulator does not say why; the script is impossible to execute."
    failure = read_failure(bare)
    if failure.reason is not Reason.UNKNOWN_ACTION:
        return failure
    for pattern, reason in _UNITY:
        if re.search(pattern, bare):
            return Failure(reason, bare)
    return failure


def script_messages(message: str) -> Mapping[int, str]:
    """The message of every character in a reply to `render_script`.

    Both forms are understood: 2.3's JSON `{"0": {"message": ...}}`, and the older plain text
    `ScriptExcutor 0: ...` (their spelling), a paragraph for each character that failed. Text of
    neither form is taken to be about character 0.
    """
    given = _as_json(message)
    if isinstance(given, Mapping):
        return {
            int(key): str(value.get("message", "") if isinstance(value, Mapping) else value)
            for key, value in given.items()
            if key.isdigit()
        }
    text = message if given is None else str(given)
    parts = text.split("ScriptExcutor ")
    found: dict[int, str] = {}
    for part in parts[1:]:
        number, _, rest = part.partition(":")
        if number.strip().isdigit():
            found[int(number)] = rest.strip()
    return found or ({0: text.strip()} if text.strip() else {})


def _as_json(text: str) -> JsonValue | Mapping[str, Any] | None:
    try:
        value: JsonValue = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return value
