"""The action language: vocabulary and parser."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cache

from inhabit.envs.core import Action
from inhabit.envs.minedojo.language.verbs import ALIASES, ALONE
from inhabit.envs.minedojo.luanti.content import content
from inhabit.envs.minedojo.tasks.names import mobs, names
from inhabit.envs.minedojo.world.catalogue import recipes

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
