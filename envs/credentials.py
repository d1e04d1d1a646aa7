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

REDACTED = "[key]"
"""Replaces a key in everything that is recorded or printed."""
KEPT = "INHABIT_KEEP_ENV"
"""Names the variables, separated by spaces, that processes are given although they look like keys,
such as a licence that a simulator asks for."""
_WORDS = re.compile(
    r"(?:^|[^A-Z0-9])(?:KEYS?|APIKEY|TOKENS?|SECRETS?|PASSWORDS?|PASSWD|PASSPHRASE|PAT"
    r"|CREDENTIALS?|AUTH)(?:$|[^A-Z0-9])"
)
"""An environment variable with one of these words in its name holds a key."""
_LOGIN = re.compile(r"://[^/@\s]*:[^/@\s]+@")
"""A user's name and password in an address."""
_SHORTEST = 8
"""Characters: what is shorter is no key, and may well be a word that a record needs."""


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


def credentials(environment: Mapping[str, str] | None = None) -> Sequence[str]:
    """The values of all keys among the variables, the longest first."""
    every = os.environ if environment is None else environment
    found = {value.strip() for name, value in every.items() if _is_credential(name, value)}
    return sorted((v for v in found if len(v) >= _SHORTEST), key=lambda v: (-len(v), v))


def redact(text: str, keys: Sequence[str] | None = None) -> str:
    """`text` with "[key]" in place of every key, also where the key is escaped as in JSON.

    Args:
        text: of anybody.
        keys: to leave out, the longest first; those of this process's variables if None.
    """
    for key in credentials() if keys is None else keys:
        text = text.replace(key, REDACTED).replace(json.dumps(key)[1:-1], REDACTED)
    return text


def _is_credential(name: str, value: str) -> bool:
    return bool(_WORDS.search(name.upper())) or bool(_LOGIN.search(value))
