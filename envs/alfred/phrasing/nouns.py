"""Names of objects in goals: as people say them, and unambiguous in the room."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from inhabit.envs.alfred.language.verbs import word
from inhabit.envs.alfred.scenes.initial_room import InitialRoom
from inhabit.envs.alfred.world.things import SYNONYMS
from inhabit.envs.world.phrasing import facts, pick
from inhabit.envs.world.words import plural, with_article

_KEPT = 0.01
"""Share of a noun's mentions below which a name is left out, unless it is the noun itself."""


@dataclass(frozen=True, slots=True)
class RoomNames:
    """Names of the objects of one room."""

    room: InitialRoom
    rng: random.Random
    style: random.Random
    """Decides about articles and what is told besides."""
    colors: bool = True
    """Whether colours and materials may be told, which are those of the embedded household."""
    plain: bool = False
    """Whether to leave out names that have no word in common with those in actions."""

    def names(self, noun: str) -> Sequence[str]:
        """Every name of a noun that fits the room and means nothing else in it."""
        others = self.room.nouns - {noun}
        kind = str(self.room.where.kind(self.room.name))
        kept = [
            name
            for name in _common(noun)
            if not any(name == other or name in _common(other) for other in others)
            and not (self.plain and _is_strange(name, noun))
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
        said = " ".join(filter(None, (adjective, self._look(noun, name), name)))
        return with_article(said) if determiner == "a" else f"{determiner} {said}".strip()

    def _look(self, noun: str, name: str) -> str:
        """Now and then a colour or a material that all objects of the noun have."""
        if not self.colors or noun in _PLAIN or self.style.random() >= _COLORED:
            return ""
        looks = [word for word in self.room.looks(noun) if word not in name]
        return (
            self.style.choice(_LOOKS.get(look := self.style.choice(looks), (look,)))
            if looks
            else ""
        )

    def two(self, noun: str, adjective: str = "") -> str:
        """Two objects: "two sets of keys"; "both vases" where there are only two."""
        name = self.name(noun, countable=True)
        exactly = self.room.number(noun) == 2
        determiner = pick("det two", self.style, lambda d: d == "two" or (exactly and d in _BOTH))
        if determiner == "two" and self.style.random() < _PAIR:
            determiner = self.style.choice(("a pair of", "a couple of", "2", "any two"))
        words = (determiner, self._look(noun, name), adjective, plural(name))
        return " ".join(filter(None, words))

    def place(self, noun: str) -> str:
        """A receptacle or a lamp, mostly with "the"; now and then with where it stands."""
        said = self.one(noun, unit="det place")
        if not said.startswith("the ") or self.style.random() >= _WHERE:
            return said
        found = self.room.whereabouts.of(noun)
        if not found:
            return said
        place = self.rng.choice(found)
        form = self.rng.choice(_RELATIONS[place.relation])
        return f"{said} {form.format(self.name(place.other) if place.other else '')}"


_WHERE = 0.4
"""Share of places that are said with where they stand, if something can be said."""
_RELATIONS: Mapping[str, Sequence[str]] = {
    "beside": (
        "next to the {}",
        "by the {}",
        "beside the {}",
        "right next to the {}",
        "near the {}",
        "close to the {}",
        "that is next to the {}",
    ),
    "left": (
        "to the left of the {}",
        "left of the {}",
        "on the left side of the {}",
        "on the left of the {}",
    ),
    "right": (
        "to the right of the {}",
        "right of the {}",
        "on the right side of the {}",
        "on the right of the {}",
    ),
    "on": ("on the {}", "on top of the {}", "that is on the {}"),
    "window": ("by the window", "near the window", "next to the window", "close to the window"),
    "corner": (
        "in the corner",
        "in the corner of the room",
        "in a corner",
        "that is in the corner",
    ),
}
_COLORED = 0.2
"""Share of nouns that are said with a colour or a material, if there is one."""
_PAIR = 0.12
"""Share of "two" that is said in other words."""
_LOOKS = {
    "gray": ("gray", "grey"),
    "metal": ("metal", "silver", "shiny"),
    "wooden": ("wooden", "wood"),
}
_FOOD = ("apple", "bread", "egg", "lettuce", "potato", "tomato")
_PLAIN = frozenset(
    (*_FOOD, *(f"{one} slice" for one in _FOOD), "drawer", "cabinet", "shelf", "candle")
)
"""Nouns said without: food changes, and of several fronts in a row any may be meant."""
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
def _is_strange(name: str, noun: str) -> bool:
    """Whether no word of a name is in the noun, or in another noun of actions: "glass" of a cup."""
    known = " ".join((noun, *(said for said, type in SYNONYMS.items() if word(type) == noun)))
    return not any(part in known for part in name.split() if part != "of")


@lru_cache(maxsize=512)
def noun_of(type: str, *, sliced: bool = False) -> str:
    """The noun of an object type, or of its slices."""
    return word(f"{type}Sliced" if sliced else type)
