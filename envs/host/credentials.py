"""Keeps API keys out of child processes and out of recorded files.

A simulator, a plug-in or a worker has no use for the keys of this user's accounts, and whatever it
prints may end in a record that is handed on. Keys are found by the names of their variables, such
as `OPENAI_API_KEY`, `HF_TOKEN` or `AWS_SECRET_ACCESS_KEY`.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping, Sequence
from functools import cache

REDACTED = "[key]"
"""Replaces a key in everything that is recorded or printed."""
KEPT = "INHABIT_KEEP_ENV"
"""Names the variables, separated by spaces, that processes are given although they look like keys,
such as a licence that a simulator asks for."""
_WORDS = re.compile(
    r"(?:KEYS?|TOKENS?|SECRETS?|PASSWORDS?|PASSWD|PASSPHRASE|PWD|CREDENTIALS?|WEBHOOK"
    r"|(?:^|[^A-Z0-9])(?:PAT|AUTH))(?:_?\d+)?(?:$|[^A-Z0-9])"
)
"""An environment variable with a part of its name that ends so holds a key."""
_NO_KEYS = re.compile(r"^(?:OLD)?PWD$|(?:^|_)(?:MAX|MIN|NUM|N)_(?:\w*_)?TOKENS$")
"""Names that are no key all the same: folders, and counts of a model's tokens."""
_LOGIN = re.compile(r"://[^/@\s]+@")
"""A user's name, token or password in an address."""
_SHORTEST = 12
"""Characters of a value that is redacted: a shorter one may well be a word that a record needs."""
_SHORTEST_MIXED = 8
"""Characters of a value with at least two of lower case, upper case, digits and other signs."""
_KINDS = ("[a-z]", "[A-Z]", "[0-9]", "[^a-zA-Z0-9]")


def without_credentials(environment: Mapping[str, str] | None = None) -> dict[str, str]:
    """The variables that a simulator, a worker or a tool may be started with.

    Args:
        environment: all variables; those of this process if None.

    Returns:
        All of them but for keys, except for keys that `INHABIT_KEEP_ENV` names.
    """
    every = os.environ if environment is None else environment
    kept = every.get(KEPT, "").split()
    return {n: value for n, value in every.items() if n in kept or not _is_credential(n, value)}


def drop_credentials() -> None:
    """Take all keys out of the environment of this process, before it runs code of others."""
    for name in os.environ.keys() - without_credentials().keys():
        del os.environ[name]


def credentials(environment: Mapping[str, str] | None = None) -> Sequence[str]:
    """The values of all keys among the variables, the longest first."""
    every = os.environ if environment is None else environment
    found = {value.strip() for name, value in every.items() if _is_credential(name, value)}
    return sorted(filter(is_long, found), key=lambda v: (-len(v), v))


def redact(text: str, keys: Sequence[str] | None = None) -> str:
    """`text` with "[key]" in place of every key, also where a key is escaped as in JSON.

    Args:
        text: of anybody.
        keys: to leave out, the longest first; those of this process's variables if None.
    """
    for key in credentials() if keys is None else keys:
        text = text.replace(key, REDACTED)
        if "\\" in text:
            text = _escaped(key).sub(REDACTED, text)
    return text


@cache
def _escaped(key: str) -> re.Pattern[str]:
    """Matches `key` in a JSON string, whichever of its characters are escaped."""
    return re.compile("".join(map(_forms, key)))


def _forms(character: str) -> str:
    """Matches the ways in which JSON may write a character."""
    units = character.encode("utf-16-be", "surrogatepass").hex()
    unicode = "".join(rf"\\u(?i:{units[at : at + 4]})" for at in range(0, len(units), 4))
    short = json.dumps(character)[1:-1]
    forms = {re.escape(character), re.escape(short), unicode}
    if character == "/":
        forms.add(r"\\/")
    return f"(?:{'|'.join(sorted(forms))})"


def is_long(value: str) -> bool:
    """Whether `value` is taken for a key; a shorter one, such as "none", would damage texts."""
    kinds = sum(bool(re.search(kind, value)) for kind in _KINDS)
    return len(value) >= (_SHORTEST_MIXED if kinds > 1 else _SHORTEST)


def _is_credential(name: str, value: str) -> bool:
    upper = name.upper()
    return bool(_LOGIN.search(value)) or bool(_WORDS.search(upper) and not _NO_KEYS.search(upper))
