"""Names of items and creatures, and actions in words."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from difflib import get_close_matches
from functools import cache

from inhabit.envs.core import Action
from inhabit.envs.minedojo.luanti.content import content
from inhabit.envs.minedojo.world.catalogue import recipes, smelts, table
from inhabit.envs.minedojo.world.game_state import GameState
from inhabit.envs.template import ActionKind
from inhabit.envs.world.rows import Verb

WEATHERS = ("normal", "clear", "rain", "thunder")
SLOTS = {"mainhand": 0, "offhand": 40, "head": 39, "chest": 38, "legs": 37, "feet": 36}
"""Body part -> its number among the slots."""
WORLD_TYPES = ("default", "from_file", "flat", "specified_biome")
_LAST_SLOT = 40


@cache
def names(kind: str) -> Sequence[str]:
    """One list of names: item, block, biome, tech, by_hand, at_table or in_furnace, in
    MineDojo's order.
    """
    return tuple(row["name"] for row in table("names") if row["list"] == kind)


@cache
def mobs() -> Sequence[str]:
    """Every mob."""
    return tuple(row["name"] for row in table("mobs"))


@cache
def biome_numbers() -> Mapping[str, int]:
    """Biome -> Minecraft's number."""
    return {row["name"]: int(row["number"]) for row in table("names") if row["list"] == "biome"}


@cache
def biomes() -> Mapping[str, Mapping[str, str]]:
    """Biome -> its look in our world, and its climate."""
    return {row["name"]: row for row in table("biomes")}


@cache
def variants() -> Mapping[str, frozenset[int]]:
    """Block or item -> its variants."""
    found: dict[str, set[int]] = {}
    made = content()
    for one in [*made["blocks"], *made["only_items"]]:
        found.setdefault(one["name"], set()).add(one["variant"])
    return {name: frozenset(numbers) for name, numbers in found.items()}


def known(kind: str, name: str, among: Collection[str]) -> str:
    """`name` if it is valid.

    Raises:
        ValueError: it isn't; names the nearest ones.
    """
    if name not in among:
        raise ValueError(f"there is no {kind} {name!r}; nearest: {nearest(name, among)}")
    return name


def nearest(name: str, among: Collection[str]) -> str:
    """The three most similar names, as text."""
    ordered = sorted(among)
    close = get_close_matches(name[:60].lower().replace(" ", "_"), ordered, n=3, cutoff=0.3)
    return ", ".join(close or ordered[:3])


def slot(text: str | int) -> str | int:
    """A slot from 0 to 40, or a body part.

    Raises:
        ValueError: there is no such slot.
    """
    if isinstance(text, str) and text.isdecimal():
        text = int(text)
    if isinstance(text, int):
        if not 0 <= text <= _LAST_SLOT:
            raise ValueError(f"there is no slot {text}; slots run from 0 to {_LAST_SLOT}")
        return text
    return known("slot", text, SLOTS)


_VERBS: Sequence[Verb[str]] = (
    Verb("look around", "look around", ActionKind.LOOK),
    Verb("explore", "explore", ActionKind.SEARCH),
    Verb("wait", "wait"),
    Verb("sleep", "sleep"),
    Verb("find", "find {}", ActionKind.SEARCH, ("locate", "goto")),
    Verb("mine", "mine {}", ActionKind.GATHER, ("collect", "harvest", "dig", "break")),
    Verb("craft", "craft {}", ActionKind.MAKE, ("make",)),
    Verb("smelt", "smelt {}", ActionKind.MAKE, ("cook",)),
    Verb("place", "place {}", ActionKind.DROP, ("put",)),
    Verb("equip", "equip {}", also=("wear", "hold")),
    Verb("use", "use {}"),
    Verb("eat", "eat {}"),
    Verb("hunt", "hunt {}", ActionKind.GATHER, ("attack", "kill", "combat")),
    Verb("milk", "milk {}", ActionKind.GATHER),
    Verb("shear", "shear {}", ActionKind.GATHER),
    Verb("collect", "collect {}", ActionKind.GATHER),
)

VERBS: Mapping[str, Verb[str]] = {verb.name: verb for verb in _VERBS}
ALONE = tuple(verb.name for verb in _VERBS if not verb.arity)
"""Verbs without a target."""
ALIASES: Mapping[str, str] = {word: verb.name for verb in _VERBS for word in verb.also}
"""Other words -> the verb, where a text is no action of that word's own verb."""


def gathers(verb: str) -> bool:
    """Whether a verb obtains something from the ground, a plant or an animal."""
    return VERBS[verb].kind is ActionKind.GATHER


_LIQUIDS = ("water", "lava")
_MILKED = ("cow", "mooshroom")
_UNBREAKABLE = {"water", "flowing_water", "lava", "flowing_lava", "bedrock", "fire", "portal"}


@cache
def arguments() -> Mapping[str, Sequence[str]]:
    """Verb -> its possible targets, in a fixed order."""
    made = content()
    items = made["items"]
    blocks = [b for b in names("block") if b not in _UNBREAKABLE]
    return {
        "find": tuple(dict.fromkeys([*blocks, *_LIQUIDS, *mobs()])),
        "mine": tuple(blocks),
        "craft": tuple(sorted({*names("by_hand"), *names("at_table"), *_recipes()})),
        "smelt": tuple(dict.fromkeys([*names("in_furnace"), *(s["name"] for s in made["smelts"])])),
        "place": tuple(n for n in names("item") if items.get(n, {}).get("places")),
        "equip": tuple(n for n in names("item") if n != "air"),
        "use": names("tech"),
        "eat": tuple(n for n in names("item") if items.get(n, {}).get("food")),
        "hunt": mobs(),
        "milk": _MILKED,
        "shear": ("sheep",),
        "collect": _LIQUIDS,
    }


def say(verb: str, *about: str) -> Action:
    """The action of a verb with a target; a required station is its last argument."""
    return Action(" ".join([verb, *about]), verb, (*about, *_station(verb, about)))


@cache
def vocabulary() -> Sequence[Action]:
    """The whole vocabulary in a fixed order; the same in every scene."""
    return tuple(_all())


def understand(text: str) -> Action | None:
    """Parse a text; None if it is not an action."""
    words = text.strip().strip(".!").lower().split()
    if len(words) > 1 and words[1] in ("a", "an", "the", "some"):
        del words[1]
    if not words or len(words) > 8:
        return None
    if " ".join(words) in ALONE:
        return say(" ".join(words))
    verb, about = words[0], "_".join(words[1:])
    known = arguments()
    if about in known.get(verb, ()):
        return say(verb, about)
    verb = ALIASES.get(verb, verb)
    return say(verb, about) if about in known.get(verb, ()) else None


def _all() -> Iterator[Action]:
    yield from (say(verb) for verb in ALONE)
    for verb, about in arguments().items():
        yield from (say(verb, name) for name in about)


def _station(verb: str, about: tuple[str, ...]) -> tuple[str, ...]:
    if verb == "smelt":
        return ("furnace",)
    return ("crafting_table",) if verb == "craft" and about[0] not in _by_hand() else ()


@cache
def _by_hand() -> frozenset[str]:
    return frozenset(recipe.name for recipe in recipes() if recipe.by_hand)


def _recipes() -> Iterator[str]:
    allowed = set(names("item"))
    return (r["name"] for r in content()["recipes"] if r["name"] in allowed)


COMMON = (
    *("log", "log2", "stone", "dirt", "sand", "gravel", "clay", "coal_ore", "iron_ore", "gold_ore"),
    *("diamond_ore", "redstone_ore", "lapis_ore", "emerald_ore", "leaves", "tallgrass", "reeds"),
    *("pumpkin", "wheat", "web", "water", "lava", "cow", "pig", "sheep", "chicken"),
)
"""Targets of `find` that are common knowledge, seen or not."""
_HEARD = 16.0
"""Distance in blocks within which a mob is heard in Minecraft, whichever way one looks."""


def plausible(now: GameState) -> Sequence[Action]:
    """Plausible actions in a fixed order; some may fail."""
    allowed = arguments()
    found = dict.fromkeys(say(verb) for verb in ALONE if verb != "sleep")
    for action in _possible(now):
        if action.verb in ALONE or action.arguments[0] in allowed[action.verb]:
            found[action] = None
    return list(found)


def _possible(now: GameState) -> Iterator[Action]:
    held = now.at_hand
    near = {str(mob["name"]) for mob in now.mobs if mob["seen"] or mob["far"] < _HEARD}
    alive, blocks = sorted(near), sorted(now.blocks)
    for name in blocks:
        yield say("mine", name)
    yield from (say("find", name) for name in [*blocks, *alive, *COMMON])
    for name in alive:
        yield say("hunt", name)
        if held.get("bucket"):
            yield say("milk", name)
        if held.get("shears"):
            yield say("shear", name)
    if held.get("bucket"):
        yield from (say("collect", name) for name in ("water", "lava") if name in blocks)
    yield from (say("craft", name) for name in craftable(held, table=bool(now.raw["table_near"])))
    if now.raw["furnace_near"]:
        yield from (say("smelt", s.name) for s in smelts() if held.get(s.source))
    yield from _with_held(held)
    if held.get("bed") or "bed" in blocks:
        yield say("sleep")


def _with_held(held: Mapping[str, int]) -> Iterator[Action]:
    items = content()["items"]
    for name in sorted(held):
        about = items.get(name, {})
        if "places" in about:
            yield say("place", name)
        if "food" in about:
            yield say("eat", name)
        if "tool" in about or "slot" in about:
            yield say("equip", name)
        if name in arguments()["use"]:
            yield say("use", name)


def craftable(held: Mapping[str, int], *, table: bool) -> Sequence[str]:
    """Items whose ingredients are available, in a fixed order."""
    found = dict.fromkeys(
        recipe.name
        for recipe in recipes()
        if (table or recipe.by_hand)
        and all(held.get(name, 0) >= count for name, count in recipe.needed().items())
    )
    return list(found)
