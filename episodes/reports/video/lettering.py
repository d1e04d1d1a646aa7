"""Text on images, in the typeface that Pillow brings along, so that it looks alike everywhere."""

from __future__ import annotations

import unicodedata
from functools import cache

from PIL import ImageFont

_OWN = frozenset("“”‘’…·«»°±")  # noqa: RUF001
"""What the typeface has beyond ASCII."""
_NEAREST = str.maketrans("–—−×→", "---x>")  # noqa: RUF001
_LONGEST = 2000
"""Characters of a text that are looked at: far more than fits on an image."""


@cache
def font(size: int) -> ImageFont.FreeTypeFont:
    """The typeface at `size` pixels."""
    found = ImageFont.load_default(size)
    if not isinstance(found, ImageFont.FreeTypeFont):
        raise RuntimeError("Pillow was built without FreeType; install a wheel of it from PyPI.")
    return found


def printable(text: str) -> str:
    """`text` in the letters that the typeface has: accents are dropped, the rest becomes "?"."""
    return "".join(_letter(c) for c in text[:_LONGEST].translate(_NEAREST))


def wrap(text: str, size: int, width: int, lines: int) -> list[str]:
    """`text` broken into at most `lines` lines of `width` pixels; an ellipsis where it was cut."""
    done: list[str] = []
    rest = " ".join(printable(text).split())
    while rest and len(done) < lines:
        line, rest = _first_line(rest, size, width)
        done.append(line)
    if rest:
        done[-1] = shorten(f"{done[-1]} {rest}", size, width)
    return done


def shorten(text: str, size: int, width: int) -> str:
    """`text` on one line of `width` pixels; an ellipsis where it was cut."""
    text = printable(text)
    if font(size).getlength(text) <= width:
        return text
    return _fitting(text, size, width - font(size).getlength("…")).rstrip() + "…"


def _letter(character: str) -> str:
    if " " <= character <= "~" or character in _OWN:
        return character
    if character.isspace():
        return " "
    plain = unicodedata.normalize("NFKD", character)
    return "".join(c for c in plain if " " <= c <= "~") or "?"


def _first_line(text: str, size: int, width: int) -> tuple[str, str]:
    head = _fitting(text, size, width) or text[:1]
    if len(head) == len(text):
        return text, ""
    if text[len(head)] != " " and " " in head:
        head = head[: head.rindex(" ")]
    return head.rstrip(), text[len(head) :].lstrip()


def _fitting(text: str, size: int, width: float) -> str:
    """The longest beginning of `text` that is no wider than `width`."""
    low, high = 0, len(text)
    while low < high:
        middle = (low + high + 1) // 2
        if font(size).getlength(text[:middle]) <= width:
            low = middle
        else:
            high = middle - 1
    return text[:low]
