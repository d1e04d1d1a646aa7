"""Names of objects, and actions as English text and back."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache, lru_cache

import numpy as np
from numpy.typing import NDArray

from inhabit.envs.alfred.thor.body import AgentBody
from inhabit.envs.alfred.thor.objects import ThorObject
from inhabit.envs.alfred.world.things import (
    CARRIED,
    FIXTURES,
    HOLDERS,
    IN,
    ITEMS,
    SYNONYMS,
    TYPES,
    Kind,
    that_can,
)
from inhabit.envs.core import Action, SceneError
from inhabit.envs.simulators.household.types.things import BASINS, THINGS
from inhabit.envs.template import ActionKind
from inhabit.envs.world.rows import IT, Language, Verb

_SHELL = ("Ceiling", "Doorway", "Floor", "Wall")
"""Types that have no name."""


@lru_cache(maxsize=1024)
def word(type: str) -> str:
    """The word for an object type: "AlarmClock" is "alarm clock"."""
    known = THINGS[type].word if type in THINGS else ""
    return known or re.sub(r"(?<=[a-z])(?=[A-Z])", " ", type).lower()


@lru_cache(maxsize=4096)
def squeeze(text: str) -> str:
    """Text without spaces, case and punctuation: "Counter Top" and "countertop" agree."""
    return re.sub(r"[\W_]+", "", text.lower())


@lru_cache(maxsize=4096)
def split_name(text: str) -> tuple[str, int | None]:
    """A spoken name as squeezed word and number: "the Mug 2" is ("mug", 2)."""
    plain = re.sub(r"^(the|a|an)\s+", "", text.strip().lower())
    match = re.fullmatch(r"(.*?\D)[\s_]*(\d{1,4})", plain, re.DOTALL)
    if match is None:
        return squeeze(plain), None
    return squeeze(match[1]), int(match[2])


class ObjectNames:
    """The names of one room's objects. New objects get new names; no name changes."""

    def __init__(self, things: Iterable[ThorObject] = ()) -> None:
        self._by_id: dict[str, str] = {}
        self._by_name: dict[tuple[str, int], str] = {}
        self._count: dict[str, int] = {}
        self.add(things)

    def add(self, things: Iterable[ThorObject]) -> None:
        """Name every object that has no name yet."""
        things = list(things)
        types = {thing.type for thing in things}
        for thing in sorted(things, key=lambda t: t.id):
            unspoken = thing.type in _SHELL or BASINS.get(thing.type) in types
            if thing.id not in self._by_id and not unspoken:
                self._name(thing)

    def _name(self, thing: ThorObject) -> None:
        said = word(thing.type)
        number = self._count[said] = self._count.get(said, 0) + 1
        self._by_id[thing.id] = f"{said}_{number}"
        self._by_name[squeeze(said), number] = thing.id

    def __contains__(self, id: object) -> bool:
        return id in self._by_id

    def of(self, id: str) -> str:
        """The name of an object.

        Raises:
            KeyError: it has none: a sink that is named by its basin, or not an object of the room.
        """
        return self._by_id[id]

    def id(self, squeezed: str, number: int) -> str | None:
        """The id of a name, in the form that `split_name` returns."""
        return self._by_name.get((squeezed, number))

    def all(self) -> Mapping[str, str]:
        """Id -> name, in the order of naming."""
        return self._by_id

    def copy(self) -> ObjectNames:
        """An independent copy."""
        twin = ObjectNames()
        twin._by_id = dict(self._by_id)
        twin._by_name = dict(self._by_name)
        twin._count = dict(self._count)
        return twin


_GO, _STEP = r"(?:go|walk|move|navigate)(?: over)?(?: to)?", r"(?:move|step|walk|go)"
_LAY, _SWITCH = r"(?:put|place|set|lay)", r"(?:turn|switch|toggle)"
_SIDE = r"(?!on |off )"  # "turn off the lamp on" is not said to turn something on

VERBS: Sequence[Verb[ThorObject]] = (
    Verb("look around", "look around", ActionKind.SEARCH, (r"look around|look",)),
    Verb("explore", "explore", ActionKind.SEARCH, (r"explore(?: the room| further)?",)),
    Verb("move ahead", "move ahead", also=(rf"{_STEP} (?:ahead|forwards?)",)),
    Verb("move back", "move back", also=(rf"{_STEP} (?:back|backwards?)",)),
    Verb("move left", "move left", also=(rf"{_STEP} (?:to the )?left",)),
    Verb("move right", "move right", also=(rf"{_STEP} (?:to the )?right",)),
    Verb("look up", "look up", also=(r"look up(?:wards?)?",)),
    Verb("look down", "look down", also=(r"look down(?:wards?)?",)),
    Verb("turn left", "turn left", ActionKind.LOOK, (r"(?:turn|rotate) left",)),
    Verb("turn right", "turn right", ActionKind.LOOK, (r"(?:turn|rotate) right",)),
    Verb("go to", "go to {}", ActionKind.GO, (rf"{_GO} {{thing}}",)),
    Verb("find", "find {}", ActionKind.GO, (r"(?:find|locate) {thing}",)),
    Verb(
        "put down",
        "put {} down",
        ActionKind.DROP,
        (
            rf"{_LAY} (?:down|away) (?:it|{{hand}})",
            rf"{_LAY} it (?:down|away)",
            rf"{_LAY} {{thing}} (?:down|away)",
            rf"{_LAY} down {{thing}}",
        ),
    ),
    Verb("drop", "drop {}", ActionKind.DROP, (r"drop (?:it|{hand})", r"drop {thing}")),
    Verb(
        "pick up",
        "pick up {}",
        ActionKind.TAKE,
        (r"(?:pick up|take|grab|get|fetch) {thing}{from}", r"pick {thing} up{from}"),
        fits=lambda thing: thing.pickupable and not thing.held,
        takes=lambda thing: thing.pickupable,
        asks="PickupObject",
    ),
    Verb(
        "put",
        "put {} {in} {}",
        ActionKind.PUT,
        (r"(?:put|place) {thing} (?:in/on|inside|into|in|onto|on|to|at) {place}",),
        fits=lambda thing: thing.receptacle and not thing.shut and not thing.held,
        asks="PutObject",
    ),
    Verb(
        "open",
        "open {}",
        ActionKind.OPEN,
        (r"open(?: up)? {thing}",),
        fits=lambda thing: thing.openable and not thing.open,
        takes=lambda thing: thing.openable,
        needs=("open",),
        asks="OpenObject",
    ),
    Verb(
        "close",
        "close {}",
        ActionKind.CLOSE,
        (r"(?:close|shut) {thing}",),
        fits=lambda thing: thing.openable and thing.open,
        takes=lambda thing: thing.openable,
        needs=("open",),
        asks="CloseObject",
    ),
    Verb(
        "turn on",
        "turn on {}",
        ActionKind.SWITCH_ON,
        (rf"{_SWITCH} on {{thing}}", rf"{_SWITCH} {_SIDE}{{thing}} on"),
        fits=lambda thing: thing.toggleable and not thing.on,
        takes=lambda thing: thing.toggleable,
        needs=("switch",),
        asks="ToggleObjectOn",
    ),
    Verb(
        "turn off",
        "turn off {}",
        ActionKind.SWITCH_OFF,
        (rf"{_SWITCH} off {{thing}}", rf"{_SWITCH} {{thing}} off"),
        fits=lambda thing: thing.toggleable and thing.on,
        takes=lambda thing: thing.toggleable,
        needs=("switch",),
        asks="ToggleObjectOff",
    ),
    Verb(
        "slice",
        "slice {}",
        ActionKind.CUT,
        (r"(?:slice|cut) {thing}",),
        fits=lambda thing: thing.sliceable and not thing.sliced and not thing.held,
        takes=lambda thing: thing.sliceable,
        needs=("slice",),
        asks="SliceObject",
    ),
)

BY_NAME: Mapping[str, Verb[ThorObject]] = {verb.name: verb for verb in VERBS}
BY_ACTION: Mapping[str, Verb[ThorObject]] = {verb.asks: verb for verb in VERBS if verb.asks}
"""THOR's interaction -> our verb."""


def fits(verb: str, thing: ThorObject) -> bool:
    """Whether a verb can apply to an object in its current state."""
    rule = BY_NAME[verb].fits
    return rule is None or rule(thing)


def applies(action: str, thing: ThorObject) -> bool:
    """Whether one of THOR's interactions can apply to an object."""
    verb = BY_ACTION[action]
    rule = verb.takes or verb.fits
    return rule is None or rule(thing)


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


MOTIONS = ("look around", "explore", "turn left", "turn right")


@cache
def vocabulary(kind: Kind, find: bool = False) -> Sequence[Action]:
    """The vocabulary of a room type in a fixed order: at most 250 actions.

    Args:
        kind: of the room.
        find: whether the oracle of `--set find=oracle` may be asked.
    """
    return tuple(_all(kind, find))


def _all(kind: Kind, find: bool) -> Iterator[Action]:
    holders, items = HOLDERS[kind], ITEMS[kind]
    everything = sorted({*holders, *items, *FIXTURES[kind]} - {"Bathtub"})
    yield from map(say, MOTIONS)
    yield from (say("go to", word(type)) for type in everything)
    if find:
        yield from (say("find", word(type)) for type in everything)
    else:
        yield from (
            say("go to", f"{word(type)}_{number}")
            for type in everything
            for number in range(1, THINGS[type].numbered + 1)
        )
    yield from (say("pick up", word(t)) for t in everything if t in items or t in CARRIED)
    yield from (say("put", IT, word(t)) for t in everything if t in holders)
    yield from (say(verb) for verb in ("put down", "drop"))
    for verb in (verb for verb in VERBS if verb.needs):
        types = that_can(verb.needs[0])
        yield from (say(verb.name, word(type)) for type in everything if type in types)


SIDE = 300
"""Width and height of ALFRED's images, pixels."""
Mask = NDArray[np.bool_]
_REACHES = (0, 6, 16)
"""Pixels by which a mask that matches nothing is dilated, in turn."""


def decode(runs: Iterable[tuple[int, int]]) -> Mask:
    """A mask (300, 300) from its run-length encoding: first pixel and length of each run."""
    flat = np.zeros(SIDE * SIDE, np.bool_)
    for begin, length in runs:
        flat[begin : begin + length] = True
    return flat.reshape(SIDE, SIDE)


def overlap(one: Mask, other: Mask) -> float:
    """Intersection over union, 0 to 1; 0 where both are empty."""
    union = int(np.logical_or(one, other).sum())
    return float(np.logical_and(one, other).sum() / union) if union else 0.0


def choose(body: AgentBody, mask: Mask, action: str) -> ThorObject | None:
    """The object that a mask selects: the suitable one with the largest overlap.

    As in ALFRED's own evaluation, which ranks the instances under a predicted mask by intersection
    over union and takes the first that can be handled (Shridhar et al. 2020). Where the mask
    touches no suitable object, it is dilated by some pixels: objects may be slightly displaced.

    Raises:
        SceneError: images and masks are of different sizes.
    """
    index, names = body.instances()
    if index.shape != mask.shape:
        size = "x".join(str(side) for side in reversed(mask.shape))
        raise SceneError(
            f"replay=mask needs images of {size} pixels, as the masks have: leave out width and "
            "height, or say replay=id."
        )
    world = body.world
    there = [(i, world[name]) for i, name in enumerate(names) if name in world]
    suits = [i for i, t in there if t.type not in _SHELL and applies(action, t)]
    for reach in _REACHES:
        pointed = grown(mask, reach)
        ranked = [(-overlap(index == i, pointed), names[i]) for i in suits]
        best = min(ranked, default=(0.0, ""))
        if best[0] < 0.0:
            return world[best[1]]
    return None


def grown(mask: Mask, pixels: int) -> Mask:
    """Dilation of a mask by this many pixels."""
    padded = np.pad(mask, pixels)
    for axis in (0, 1):
        padded = np.logical_or.reduce(
            [np.roll(padded, k, axis) for k in range(-pixels, pixels + 1)]
        )
    return padded[pixels : pixels + mask.shape[0], pixels : pixels + mask.shape[1]]
