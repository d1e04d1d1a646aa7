"""Names of objects in goals: as people say them, and unambiguous in the room."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from inhabit.envs.alfred.language.naming import word
from inhabit.envs.alfred.phrasing.facts import facts, pick
from inhabit.envs.alfred.scenes.initial_room import InitialRoom

_IRREGULAR = {"knife": "knives", "shelf": "shelves", "loaf": "loaves"}
_KEPT = 0.02
"""Share of a noun's mentions below which a name is left out, unless it is the noun itself."""


def with_article(name: str) -> str:
    """The name with "a" or "an"."""
    return f"{'an' if name[:1] in 'aeiou' else 'a'} {name}"


def plural(name: str) -> str:
    """The plural: "sets of keys", "knives"."""
    head, of, rest = name.partition(" of ")
    first, space, last = head.rpartition(" ")
    if last in _IRREGULAR:
        last = _IRREGULAR[last]
    elif last.endswith(("s", "sh", "ch", "x", "to")):
        last = f"{last}es"
    else:
        last = f"{last}s"
    return f"{first}{space}{last}{of}{rest}"


@dataclass(frozen=True, slots=True)
class RoomNames:
    """Names of the objects of one room."""

    room: InitialRoom
    rng: random.Random
    style: random.Random
    """Decides about articles."""

    def names(self, noun: str) -> Sequence[str]:
        """Every name of a noun that fits the room and means nothing else in it."""
        others = self.room.nouns - {noun}
        kind = str(self.room.where.kind(self.room.name))
        kept = [
            name
            for name in _common(noun)
            if not any(name == other or name in _common(other) for other in others)
            and all(name not in facts()[f"only {k}"] for k in _KINDS if k != kind)
        ]
        return kept or [noun]

    def name(self, noun: str, *, countable: bool = False) -> str:
        """A name, by how often people use it; one with a plural if `countable`."""
        known = set(self.names(noun))
        if countable:
            known -= facts()["mass"].keys() | facts()["plural"].keys()
        return pick(f"name {noun}", self.rng, known.__contains__) or noun

    def one(self, noun: str, adjective: str = "", unit: str = "det one") -> str:
        """One object with its determiner: "a clean mug", "the keys", "soap"."""
        name = self.name(noun)
        # "The cabinet" may be any of several; "the mug" that is wanted is the only one.
        definite = unit == "det place" or self.room.number(noun) == 1
        determiner = pick(unit, self.style, lambda d: d in ("", "a") or (d == "the" and definite))
        if name in facts()["plural"]:
            determiner = "the"
        if name in facts()["mass"]:
            determiner = self.style.choice(("some", "the")) if determiner == "a" else determiner
        said = f"{adjective} {name}".strip()
        return with_article(said) if determiner == "a" else f"{determiner} {said}".strip()

    def two(self, noun: str) -> str:
        """Two objects: "two sets of keys"; "both vases" where there are only two."""
        name = plural(self.name(noun, countable=True))
        exactly = self.room.number(noun) == 2
        determiner = pick("det two", self.style, lambda d: d == "two" or (exactly and d in _BOTH))
        return f"{determiner} {name}"

    def place(self, noun: str) -> str:
        """A receptacle or a lamp, mostly with "the"; now and then with what stands next to it."""
        said = self.one(noun, unit="det place")
        if said.startswith("the ") and self.style.random() < _NEXT_TO:
            beside = self.room.beside(noun)
            if beside is not None:
                other = self.name(beside)
                said = f"{said} {self.rng.choice(_BESIDE)} the {other}"
        return said


_NEXT_TO = 0.25
"""Share of places that are said to be next to something, where that is so."""
_BESIDE = ("next to", "next to", "by", "beside", "right next to", "near")
_KINDS = ("kitchen", "living room", "bedroom", "bathroom")
_BOTH = ("both", "the two")


@lru_cache(maxsize=1)
def called() -> Mapping[str, frozenset[str]]:
    """Every name in goals, singular and plural -> the nouns that it may mean."""
    found: dict[str, set[str]] = {}
    for unit in facts():
        if unit.startswith("name "):
            noun = unit.removeprefix("name ")
            for name in _common(noun):
                found.setdefault(name, set()).add(noun)
                found.setdefault(plural(name), set()).add(noun)
    return {name: frozenset(nouns) for name, nouns in sorted(found.items())}


@lru_cache(maxsize=512)
def _common(noun: str) -> Sequence[str]:
    """The names of a noun that are not rare."""
    found = facts().get(f"name {noun}", {})
    least = _KEPT * sum(found.values())
    return [name for name, n in found.items() if n >= least or name == noun]


@lru_cache(maxsize=512)
def noun_of(type: str, *, sliced: bool = False) -> str:
    """The noun of an object type, or of its slices."""
    return word(f"{type}Sliced" if sliced else type)
