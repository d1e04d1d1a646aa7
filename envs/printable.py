"""Texts from elsewhere, made fit for a terminal and for a spreadsheet."""

from __future__ import annotations

import re

_CONTROL = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]"
)
"""What moves the cursor, recolours or renames a terminal, or turns the direction of writing; and
halves of surrogate pairs, which no terminal can be sent."""
_FORMULA = ("=", "+", "-", "@", "\t", "\r")


def printable(text: str) -> str:
    r"""`text` with every control character written out, as "\x1b"; newlines and tabs stay."""
    return _CONTROL.sub(lambda found: repr(found[0])[1:-1], text)


def cell(text: str) -> str:
    """`text`, made printable, as a cell of a CSV file that no spreadsheet takes for a formula.

    A quotation mark is put before what begins as one, as OWASP advises.
    """
    return f"'{printable(text)}" if text.startswith(_FORMULA) else printable(text)
