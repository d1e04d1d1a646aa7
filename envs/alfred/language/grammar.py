"""What actions are called: nouns as they are said, and the parser."""

from __future__ import annotations

import re
from collections.abc import Mapping

from inhabit.envs.alfred.language.naming import split_name, squeeze, word
from inhabit.envs.alfred.language.verbs import VERBS
from inhabit.envs.alfred.world.things import IN, SYNONYMS, TYPES
from inhabit.envs.world.language import Language

_WORDS: Mapping[str, str] = {
    **{squeeze(said): word(type) for said, type in SYNONYMS.items()},
    **{squeeze(type): word(type) for type in sorted(TYPES)},
    **{squeeze(word(type)): word(type) for type in sorted(TYPES)},
}
_IN = {word(type) for type in IN}
_EMPTY = frozenset({"a", "an", "the", "to", "in", "on", "off", "up", "down"})
"""Words that are not part of a name."""


def noun(phrase: str) -> str:
    """The canonical spelling of a noun: "Counter Top 2" is "countertop_2"; empty if it is none."""
    squeezed, number = split_name(phrase)
    known = _WORDS.get(squeezed)
    if known is None:
        words = re.sub(r"[\W_]+", " ", phrase).split()
        if number is not None:
            words = re.sub(r"[\W_]*\d+\W*$", "", " ".join(words)).split()
        known = "" if _EMPTY.issuperset(words) else " ".join(words)
    return f"{known}_{number}" if known and number is not None else known


def preposition(name: str) -> str:
    """The preposition "in" or "on", by receptacle type."""
    return "in" if name.rpartition("_")[0] in _IN or name in _IN else "on"


LANGUAGE = Language(VERBS, noun, preposition)
say, understand = LANGUAGE.say, LANGUAGE.understand
