"""Plausible actions, given what was seen and what is held."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from inhabit.envs.core import Action
from inhabit.envs.minedojo.language.verbs import ALONE
from inhabit.envs.minedojo.language.wording import arguments, say
from inhabit.envs.minedojo.luanti.content import content
from inhabit.envs.minedojo.world.catalogue import recipes, smelts
from inhabit.envs.minedojo.world.game_state import GameState

COMMON = (
    *("log", "log2", "stone", "dirt", "sand", "gravel", "clay", "coal_ore", "iron_ore", "gold_ore"),
    *("diamond_ore", "redstone_ore", "lapis_ore", "emerald_ore", "leaves", "tallgrass", "reeds"),
    *("pumpkin", "wheat", "web", "water", "lava", "cow", "pig", "sheep", "chicken"),
)
"""Targets of `find` that are common knowledge, seen or not."""


def plausible(now: GameState) -> Sequence[Action]:
    """Plausible actions in a fixed order; some may fail."""
    allowed = arguments()
    found = dict.fromkeys(say(verb) for verb in ALONE if verb != "sleep")
    for action in _all(now):
        if action.verb in ALONE or action.arguments[0] in allowed[action.verb]:
            found[action] = None
    return list(found)


def _all(now: GameState) -> Iterator[Action]:
    held = now.carried
    seen = sorted({str(mob["name"]) for mob in now.mobs if mob["seen"]})
    blocks = sorted(now.blocks)
    for name in blocks:
        yield say("mine", name)
    yield from (say("find", name) for name in [*blocks, *seen, *COMMON])
    for name in seen:
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
