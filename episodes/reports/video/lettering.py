"""Text on images, in the typeface that Pillow brings along, so that it looks alike everywhere.

Letters that it lacks, such as Chinese ones, are drawn in a typeface of this machine that has them.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from itertools import groupby
from pathlib import Path

from PIL import ImageDraw, ImageFont

_OWN = frozenset("“”‘’…·«»°±")  # noqa: RUF001
"""What the typeface has beyond ASCII."""
_NEAREST = str.maketrans("–—−×→", "---x>")  # noqa: RUF001
_LONGEST = 2000
"""Characters of a text that are looked at: far more than fits on an image."""
_FOLDERS = ("/usr/share/fonts", "/usr/local/share/fonts", "~/.local/share/fonts", "~/.fonts")
_NO_LETTER = "\uffff"
"""Drawn as what a typeface draws for letters that it lacks."""


@cache
def font(size: int, file: Path | None = None) -> ImageFont.FreeTypeFont:
    """The typeface of a file, by default Pillow's own, at `size` pixels."""
    found = ImageFont.load_default(size) if file is None else ImageFont.truetype(file, size)
    if not isinstance(found, ImageFont.FreeTypeFont):
        raise RuntimeError("Pillow was built without FreeType; install a wheel of it from PyPI.")
    return found


def font_for(text: str, size: int) -> ImageFont.FreeTypeFont:
    """One typeface for a whole name: that of its first letter which Pillow's own lacks."""
    return font(size, next((file for file, _ in _parts(text) if file), None))


def write(
    pen: ImageDraw.ImageDraw,
    place: tuple[float, float],
    text: str,
    colour: tuple[int, int, int],
    size: int,
) -> None:
    """Draw one line of `printable` text, whose upper left corner is `place`."""
    x, y = place[0], place[1] + font(size).getmetrics()[0]
    for file, part in _parts(text):
        pen.text((x, y), part, colour, font(size, file), anchor="ls")
        x += font(size, file).getlength(part)


def length(text: str, size: int) -> float:
    """How many pixels wide `write` draws a text."""
    return sum(font(size, file).getlength(part) for file, part in _parts(text))


def printable(text: str) -> str:
    """`text` in letters that can be drawn: accents are dropped, and "?" stands for what no typeface
    here has.
    """
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
    if length(text, size) <= width:
        return text
    return _fitting(text, size, width - length("…", size)).rstrip() + "…"


def _letter(character: str) -> str:
    if " " <= character <= "~" or character in _OWN:
        return character
    if character.isspace():
        return " "
    plain = "".join(c for c in unicodedata.normalize("NFKD", character) if " " <= c <= "~")
    return plain or (character if _file_of(character) else "?")


def _parts(text: str) -> Iterator[tuple[Path | None, str]]:
    """`text` in parts of one typeface each. A space belongs to what is before it: words of a
    script that is written from right to left have to be drawn together.
    """
    file: Path | None = None
    files: list[Path | None] = []
    for character in text:
        file = file if character == " " else _file_of(character)
        files.append(file)
    for file, group in groupby(zip(files, text, strict=True), lambda one: one[0]):
        yield file, "".join(character for _, character in group)


@cache
def _file_of(character: str) -> Path | None:
    """The typeface that has a letter; None for Pillow's own, and if none has it."""
    if " " <= character <= "~" or character in _OWN:
        return None
    if unicodedata.category(character).startswith("C"):  # Controls, and what has no meaning.
        return None
    return next((file for file in _files() if _has(font(20, file), character)), None)


def _has(typeface: ImageFont.FreeTypeFont, character: str) -> bool:
    return bytes(typeface.getmask(character)) != bytes(typeface.getmask(_NO_LETTER))


@cache
def _files() -> list[Path]:
    """The typefaces of this machine, upright ones of usual weight first."""
    found: list[tuple[bool, Path]] = []
    for folder in _FOLDERS:
        for file in Path(folder).expanduser().rglob("*.[to]t[fc]"):
            with suppress(OSError):  # Bitmaps of other sizes, and broken files.
                found.append((font(20, file).getname()[1] not in ("Regular", "Book"), file))
    return [file for _, file in sorted(found)]


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
        if length(text[:middle], size) <= width:
            low = middle
        else:
            high = middle - 1
    return text[:low]
