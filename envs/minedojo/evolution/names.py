"""Names that players have for things of Minecraft, beside those of MineDojo."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

from inhabit.envs.world.words import by_name, plural

_PLAYERS = {
    "beef": "raw beef",
    "cactus": "cacti",
    "cobblestone": "cobble",
    "cooked beef": "steak",
    "crafting table": "workbench, crafting bench",
    "deadbush": "dead bush",
    "ender eye": "eye of ender",
    "fireworks": "firework rocket",
    "fish": "raw fish",
    "golden rail": "powered rail",
    "leather chestplate": "leather tunic",
    "lit pumpkin": "jack o'lantern",
    "log": "tree trunk, wood, wood log, piece of wood, block of wood",
    "log2": "wood",
    "melon": "melon slice, slice of melon",
    "mutton": "raw mutton",
    "noteblock": "note block",
    "planks": "plank, wooden plank, wood plank",
    "porkchop": "pork, raw porkchop",
    "reeds": "sugar cane",
    "slime ball": "slimeball",
    "speckled melon": "glistering melon",
    "stonebrick": "stone brick",
    "tallgrass": "tall grass",
    "waterlily": "lily pad",
    "web": "cobweb",
}
"""Kind -> its names in the game and of its players."""
_MADE_OF = {"wooden": "wood", "golden": "gold"} | {
    material: material for material in ("stone", "iron", "diamond", "leather")
}
_TOOLS = ("axe", "hoe", "pickaxe", "shovel", "sword", "boots", "chestplate", "helmet", "leggings")
_FROM = ("of", "out of", "from", "made of", "made from", "made out of")


def called(kinds: Collection[str]) -> Mapping[str, frozenset[str]]:
    """Every further name of some kinds, singular and plural -> the kinds that it may mean."""
    # Beetroots are a block as well, carrots and potatoes too.
    both = {plural(k): frozenset((k, plural(k))) for k in kinds if plural(k) in kinds}
    return dict(sorted({**by_name({kind: [*_names(kind)] for kind in kinds}), **both}.items()))


def _names(kind: str) -> Iterator[str]:
    yield from filter(None, _PLAYERS.get(kind, "").split(", "))
    adjective, _, tool = kind.partition(" ")
    if tool in _TOOLS and adjective in _MADE_OF:
        yield f"{_MADE_OF[adjective]} {tool}"
        yield from (f"{tool} {words} {_MADE_OF[adjective]}" for words in _FROM)
