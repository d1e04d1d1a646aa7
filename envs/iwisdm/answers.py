"""What may be answered to an instruction."""

from __future__ import annotations

import re
from collections.abc import Sequence

from envs.iwisdm.stimuli import CATEGORIES

NULL = "null"
"""The answer where none is due."""
_TRUTHS = ("true", "false")
_PLACES = ("top left", "top right", "bottom left", "bottom right")
ANSWERS = (NULL, *_TRUTHS, *_PLACES, *CATEGORIES)


def plausible(instruction: str) -> Sequence[str]:
    """What the questions of an instruction can be answered with, without "null".

    Chance is one over their number: a half for what is true or false, a quarter for a place, an
    eighth for a category.
    """
    found: set[str] = set()
    for question in instruction.split("?")[:-1]:
        asked = re.split(r"\bthen |\belse |, ", question)[-1].strip()
        if "equals" in asked:
            found.update(_TRUTHS)
        elif asked.startswith("location"):
            found.update(_PLACES)
        elif asked.startswith("category"):
            found.update(CATEGORIES)
    return [answer for answer in ANSWERS if answer in found]
