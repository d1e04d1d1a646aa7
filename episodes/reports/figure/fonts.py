"""Fonts for texts in any script: matplotlib's own lacks Chinese, Japanese and many more."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from functools import cache
from unicodedata import east_asian_width

OWN = "sans-serif"


def families(text: str) -> Sequence[str]:
    """The families that have the letters of `text`, matplotlib's own first.

    The others are installed on this machine, and only those that are needed are named. Letters that
    no font has stay boxes, of which matplotlib warns.
    """
    from matplotlib.font_manager import FontProperties, findfont, fontManager

    found, lacking = [OWN], {*text} - {"\n"} - _letters(findfont(FontProperties(family=[OWN])))
    while lacking:
        files = {font.name: font.fname for font in fontManager.ttflist}
        name = max(sorted(files), key=lambda name: len(lacking & _letters(files[name])))
        if not lacking & _letters(files[name]):
            break
        found.append(name)
        lacking -= _letters(files[name])
    return found


def wrap(text: str, letters: int, lines: int | None = None) -> Sequence[str]:
    """The lines of `text`, at most so many, as wide as so many Latin letters.

    A Chinese letter is as wide as two.
    """
    width = sum(1 + (east_asian_width(letter) in "WF") for letter in text)
    fit = max(5, letters * len(text) // max(1, width))
    return textwrap.wrap(text, fit, max_lines=lines, placeholder=" ...")


@cache
def _letters(file: str) -> frozenset[str]:
    """Those of a TrueType font; none of another kind, which a PDF can't hold."""
    from fontTools.ttLib import TTFont

    with TTFont(file, fontNumber=0, lazy=True) as font:
        return frozenset(map(chr, font.getBestCmap() or ())) if "glyf" in font else frozenset()
