"""The rows of `things.toml`: what is known of each of AI2-THOR's types of objects.

A record of the simulator says what one object can do; a row says what holds for all of its type.
Its lists are written as words in one string.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import Annotated, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, TypeAdapter

Trait = Literal[
    "encloses",  # its contents, when closed
    "door",  # to close again after something is taken out
    "inside",  # things go in it, not on it
    "vessel",  # a receptacle that is carried
    "carried",  # the same, and footstools
    "hanger",  # for one thing at a time
    "low_rimmed",  # large things may extend over its rim
    "sunk",  # nothing may be put across it, though it does not rise above the counter
    "lies_on_x",  # at rest its own x points up
    "lies_on_z",
    "tough",  # breakable, but not by a fall, nor into pieces
    "runs_closed",  # and opens only when off
    "turned_right",  # has no oriented box, but a recorded rotation that is reliable
    "carcass",  # may have drawers, doors and boards that are objects of their own
    "hung",  # on a wall, facing away from it
    "cushioned",
    "cooks",
    "knife",
    "lamp",
    "landmark",  # tells where other things stand
    "roomy",  # a surface where things may start
    "hollow",  # likewise, with a door or drawn out
    "target",  # of sampled walks
    "food",
    "cutlery",
    "dish",
    "drink",
    "small",
    "sheet",
]
RoomKind = Literal["kitchen", "living-room", "bedroom", "bathroom"]


def _words(value: object) -> object:
    return tuple(value.split()) if isinstance(value, str) else value


class Thing(BaseModel):
    """A type of object."""

    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)

    role: Literal["holder", "item", "fixture"] | None = None
    """A receptacle; something to carry that holds nothing; or another thing to open, switch or go
    to. None for types that nobody acts on by name."""
    rooms: Annotated[tuple[RoomKind, ...], BeforeValidator(_words)] = ()
    """Kinds of rooms that may have it, as AI2-THOR 5 lists them: what may be there, not what is."""
    word: str = ""
    """Noun of the type; empty if that is its name in small letters, with spaces."""
    also: tuple[str, ...] = ()
    """Synonyms that are understood."""
    can: Annotated[tuple[str, ...], BeforeValidator(_words)] = ()
    """What may be done to it, as verbs need it: "open", "switch", "slice"."""
    traits: Annotated[tuple[Trait, ...], BeforeValidator(_words)] = ()
    suits: Annotated[
        tuple[Literal["heat", "cool", "clean", "light"], ...], BeforeValidator(_words)
    ] = ()
    """What tasks ask to be done to it; "light": that it is looked at in the light."""
    places: Annotated[tuple[str, ...], BeforeValidator(_words)] = ()
    """Types that tasks put it in or on."""
    loads: Annotated[tuple[str, ...], BeforeValidator(_words)] = ()
    """Types that tasks put in or on it and carry with it."""
    basin: str = ""
    """The type of its basin, by which it is named."""
    rests: float | None = None
    """Metres above its bottom at which contents rest."""
    share: float | None = None
    """`rests` as a fraction of the object's height. With neither, things lie on top."""
    narrowed: float | None = None
    """Usable fraction of its width and depth."""
    takes: Annotated[tuple[str, ...] | None, BeforeValidator(_words)] = None
    """Types that may be put in or on it; None for all."""
    capacity: int | None = None
    """Number of objects that it takes at most."""
    slices: int | None = None
    """Number of its slices in the tasks of `inhabit`, from the ids in ALFRED's trajectories."""
    parts: int | None = None
    """Number of AI2-THOR's slices, whose ids count from 0: the greatest number in published ids,
    and one."""
    numbered: int = 0
    """How many of it can be gone to by number."""


@cache
def _file() -> tuple[Mapping[str, str], Mapping[str, Thing]]:
    text = (
        files("inhabit.envs.simulators.household.types").joinpath("things.toml").read_text("utf-8")
    )
    table = tomllib.loads(text)
    return table["groups"], TypeAdapter(dict[str, Thing]).validate_python(table["things"])


_GROUPS, THINGS = _file()
"""Type -> its row, in the order of the file: tasks are drawn in it."""


def those(trait: Trait) -> frozenset[str]:
    """The types with a trait."""
    return frozenset(name for name, thing in THINGS.items() if trait in thing.traits)


def spelled_out(words: Sequence[str]) -> tuple[str, ...]:
    """The types that words mean: groups and traits stand for several, "-Pan" takes one away."""
    found: dict[str, None] = {}
    for word in words:
        if word.startswith("-"):
            found.pop(word[1:])
        elif word in THINGS:
            found[word] = None
        elif word in _GROUPS:
            found.update(dict.fromkeys(_GROUPS[word].split()))
        else:
            members = [name for name, thing in THINGS.items() if word in thing.traits]
            if not members:
                raise ValueError(f"things.toml: {word!r} is no type, group or trait.")
            found.update(dict.fromkeys(members))
    return tuple(found)


ENCLOSING = those("encloses")
"""Types that enclose their contents when closed."""
BASINS: Mapping[str, str] = {name: thing.basin for name, thing in THINGS.items() if thing.basin}
"""Sinks and tubs -> the basins that water runs into."""
RUNS_CLOSED = those("runs_closed")
"""Types that run only when closed, and open only when off."""
LAMPS = tuple(sorted(those("lamp")))
