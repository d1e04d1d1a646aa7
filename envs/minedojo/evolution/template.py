"""The MineDojo task template for EIE: vocabulary, sampling, evolution and event graphs."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from functools import cache
from typing import Any

from pydantic import JsonValue

from inhabit.envs.core import Action, SceneError, SceneObject, Task
from inhabit.envs.minedojo.evolution.goals import (
    ANIMALS,
    CLUTTER,
    CRAFTED,
    SMELTED,
    STATES,
    around,
    counted,
    creatures,
    draw_goal,
    every_way,
    goal_of,
    held,
    ingredients,
    inventory,
    land,
    made_from,
    needed_for,
    plain,
    take_apart,
)
from inhabit.envs.minedojo.evolution.names import called
from inhabit.envs.minedojo.evolution.views import LEAST, crossed_scenes, predictions, steps, views
from inhabit.envs.minedojo.expert.topology import FURNACE, TABLE, ItemNode, graph
from inhabit.envs.minedojo.luanti.content import content
from inhabit.envs.minedojo.tasks.language import VERBS, WEATHERS, gathers, mobs, names
from inhabit.envs.minedojo.tasks.scene import MineDojoScene, read_scene
from inhabit.envs.minedojo.world.settings import MineDojoSettings
from inhabit.envs.template import ActionKind, Event, Lexicon, RecipePart
from inhabit.envs.world.rows import kind_of
from inhabit.envs.world.words import with_article

_MOST_MOBS = 8
_FAR = 30


def changed(scene: MineDojoScene, change: str, rng: random.Random) -> MineDojoScene | None:
    """The changed scene; None if the change is not possible."""
    fields = _CHANGES[change](scene, rng)
    return None if fields is None else MineDojoScene.model_validate({**dict(scene), **fields})


def _distractors(scene: MineDojoScene, rng: random.Random) -> dict[str, object] | None:
    here = {block.offset for block in scene.blocks}
    more = [b for b in around(rng.sample(CLUTTER, 3), rng) if b.offset not in here]
    who = [*scene.initial_mobs, *rng.sample(ANIMALS, 2)]
    if len(who) > _MOST_MOBS or len(more) + len(here) > _FAR * 4:
        return None
    return {"blocks": (*scene.blocks, *more), **creatures(who)}


def _emptier(scene: MineDojoScene, rng: random.Random) -> dict[str, object] | None:
    """Carry what an ingredient is made of instead of it, so that it has to be made."""
    carried = held(scene)
    made = [name for name in sorted(carried) if _is_stuff(name) and made_from(name)]
    if not made:
        return None
    take_apart(carried, rng.choice(made))
    return {"initial_inventory": inventory(carried, rng)}


def _more(scene: MineDojoScene, rng: random.Random) -> dict[str, object] | None:
    """Want one more, and carry what that needs."""
    if scene.task != "harvest":
        return None
    carried = held(scene)
    for item in scene.target_names:
        for station in (FURNACE, TABLE):
            for name, count in needed_for(item, 1, station).items():
                carried[name] = carried.get(name, 0) + count
    return {
        "target_quantities": {n: c + 1 for n, c in scene.quantities.items()},
        "initial_inventory": inventory(carried, rng),
    }


def _combined(scene: MineDojoScene, rng: random.Random) -> dict[str, object] | None:
    """The goals of two scenes in one, with the inventory of both."""
    other = draw_goal(rng)
    if scene.task != "harvest" or other.task != "harvest":
        return None
    if set(scene.target_names) & set(other.target_names):
        return None
    first, second = held(scene), held(other)
    carried = {n: first.get(n, 0) + second.get(n, 0) for n in {*first, *second}}
    here = {block.offset for block in scene.blocks}
    return {
        "target_names": (*scene.target_names, *other.target_names),
        "target_quantities": {**scene.quantities, **other.quantities},
        "initial_inventory": inventory(carried, rng),
        "blocks": (*scene.blocks, *(b for b in other.blocks if b.offset not in here)),
    }


def _is_stuff(name: str) -> bool:
    about = content()["items"].get(name, {})
    return not ("tool" in about or "slot" in about)


_CHANGES: Mapping[str, Callable[[MineDojoScene, random.Random], dict[str, object] | None]] = {
    "another land": lambda scene, rng: land(rng),
    "another hour": lambda scene, rng: {
        "start_time": rng.randrange(0, 13_000),
        "initial_weather": rng.choice(("clear", "rain", "thunder")),
    },
    "distractors": _distractors,
    "emptier hands": _emptier,
    "more of it": _more,
    "combined goals": _combined,
}
CHANGES: tuple[str, ...] = tuple(_CHANGES)
"""Name of a change -> the function that makes it."""
HARDER = frozenset({"emptier hands", "more of it", "combined goals"})
"""Changes after which more has to be done."""


MAX_STEPS = 40


class MineDojoTemplate:
    """Writes and varies tasks of gathering, making and fighting."""

    changes: Sequence[str] = CHANGES
    harder: Set[str] = HARDER

    def __init__(self, settings: MineDojoSettings | None = None) -> None:
        """Read the names. No setting matters to it."""
        self.lexicon = _lexicon()

    def schema(self) -> Mapping[str, JsonValue]:
        """JSON schema of `MineDojoScene`, with the names that are valid in its fields."""
        schema: dict[str, Any] = MineDojoScene.model_json_schema()
        fields, parts = schema["properties"], schema["$defs"]
        parts["InventoryItem"]["properties"]["name"]["vocabulary"] = list(names("item"))
        parts["PlacedBlock"]["properties"]["name"]["vocabulary"] = list(names("block"))
        for field, known in (
            ("specified_biome", names("biome")),
            ("initial_weather", WEATHERS),
            ("initial_mobs", mobs()),
            ("target_names", [*names("item"), *mobs()]),
            ("tech_item", names("tech")),
        ):
            fields[field]["vocabulary"] = list(known)
        return schema

    def prose(self) -> str:
        """The possible scenes and goals, for a writer."""
        return (
            "A voxel world under MineDojo's parameters. `task` is harvest (have so many more of "
            "the items in target_names), combat (kill so many of the mobs in target_names) or "
            "techtree (make tech_item and use it). The agent starts with initial_inventory (slot, "
            "name, quantity); blocks stand at an offset of whole blocks east, up and south of its "
            "feet, and initial_mobs between initial_mob_spawn_range_low and _high. What is needed "
            "has to be in sight: place it three to six blocks away on all four sides. Mining ore "
            "takes the right pickaxe, smelting a furnace and fuel, most recipes a crafting_table. "
            "The goal must not hold at the start."
        )

    def seed(self, rng: random.Random, name: str) -> Task:
        """Sample a new task: an item to make, for which something is missing."""
        while True:
            scene = draw_goal(rng)
            if len(predictions(scene, rng, LEAST)) >= LEAST:
                return _task(name, scene, rng)

    def evolve(self, task: Task, change: str, rng: random.Random, name: str) -> Task | None:
        """Change one aspect of a task; None if that is not possible."""
        scene = changed(read_scene(task), change, rng)
        if scene is None or len(predictions(scene, rng, LEAST)) < LEAST:
            return None
        return _task(name, scene, rng)

    def twins(self, task: Task, count: int, rng: random.Random) -> Sequence[Task]:
        """The same task among different stations, blocks and animals."""
        return [
            task.model_copy(update={"scene": _plain(scene)})
            for scene in views(read_scene(task), count, rng)
        ]

    def squares(self, task: Task, rng: random.Random) -> Sequence[Sequence[Task]]:
        """The task's goal and another one among different stations and blocks."""
        rows = crossed_scenes(read_scene(task), rng)
        found = []
        for letter, scenes in zip("ab", rows, strict=False):
            first = _task(f"{task.id}-{letter}", scenes[0], rng)
            found.append([first.model_copy(update={"scene": _plain(scene)}) for scene in scenes])
        return found

    def steps(self, task: Task) -> int | None:
        """The length of a plan by the recipes."""
        return steps(read_scene(task))

    def unseen(self, text: str, things: Sequence[SceneObject]) -> str:
        """What is carried, without what the image shows: the stations within reach."""
        return re.sub(r"\s*Within reach: [^.]*\.", "", text)

    def in_words(self, text: str) -> str:
        """The text with names such as "crafting table"."""
        return re.sub(r"(?<=[a-z])_(?=[a-z])", " ", text)

    def ingredients(
        self, action: Action, times: int, things: Sequence[SceneObject]
    ) -> Sequence[RecipePart]:
        """What an action takes, by the recipe of which most is carried."""
        return ingredients(action, times, things)

    def kind(self, scene: Mapping[str, JsonValue]) -> str:
        """MineDojo's task class."""
        kind = scene.get("task")
        return kind if isinstance(kind, str) else ""

    def events(self, task: Task) -> Sequence[Event]:
        """The events of the goal: what to gather and make, leaves first."""
        try:
            return list(_events(read_scene(task)))
        except SceneError:
            return []

    def room(self, task: Task) -> str:
        """The biome."""
        scene = task.scene
        return f"{scene.get('specified_biome') or 'plains'} {scene.get('world_seed')}"

    def action_kind(self, action: Action) -> ActionKind:
        """The kind of an action, by its verb."""
        return kind_of(VERBS, action)


def _plain(scene: MineDojoScene) -> dict[str, JsonValue]:
    return scene.model_dump(mode="json", exclude_defaults=True)


def _task(name: str, scene: MineDojoScene, rng: random.Random) -> Task:
    return Task(
        id=name,
        env="minedojo",
        kind=scene.task,
        goal=goal_of(scene, made={*scene.quantities} <= {*SMELTED, *CRAFTED}, rng=rng),
        scene=_plain(scene),
        max_steps=MAX_STEPS,
    )


@cache
def _lexicon() -> Lexicon:
    made = {item: _origin(way.verb, way.about, way.needs) for item, way in every_way().items()}
    for item in (FURNACE, TABLE, *SMELTED, *CRAFTED):
        needs = {**needed_for(item, 1, FURNACE)} or {**needed_for(item, 1, TABLE)}
        if needs or (needs := {**made_from(item)}):
            made[item] = _origin("craft", item, needs)
    every = {*names("item"), *names("block"), *mobs(), *made, *made.values()}
    every |= {block["name"] for block in content()["blocks"]}
    kinds = frozenset(map(plain, every))
    return Lexicon(
        kinds=kinds,
        called=called(kinds),
        states=STATES,
        places=frozenset(word for name in names("biome") for word in name.split("_")),
        products={plain(item): plain(source) for item, source in made.items()},
    )


def _origin(verb: str, about: str, needs: Mapping[str, int]) -> str:
    """The main ingredient of an item; for a gathered one, its block or mob."""
    if gathers(verb):
        return about
    return max(needs, key=lambda name: (needs[name], name))


def _events(scene: MineDojoScene) -> Iterator[Event]:
    if scene.task == "combat":
        for name in sorted(scene.quantities):
            yield Event(name, f"defeat {with_article(plain(name))}", "", ActionKind.GATHER, name)
        return
    held = {item.name: item.quantity for item in scene.initial_inventory}
    wanted = scene.quantities or {str(scene.tech_item): 1}
    found: dict[str, Event] = {}
    for item, count in sorted(wanted.items()):
        if item in every_way():
            _add(graph(item, count, {}, every_way()), held, found, wanted=True)
    yield from found.values()
    if (used := scene.tech_item) is not None:
        needs = (used,) if used in found else ()
        yield Event(f"use {used}", f"use the {plain(used)}", "", ActionKind.OTHER, used, needs)


def _add(
    node: ItemNode, held: Mapping[str, int], found: dict[str, Event], *, wanted: bool = False
) -> None:
    """The events of a node, after those it depends on."""
    if node.item in found or (held.get(node.item, 0) >= node.count and not wanted):
        return
    for part in node.parts:
        _add(part, held, found)
    needs = [part.item for part in node.parts if part.item in found]
    if node.way.station is not None:
        needs.append(_set_up(node.way.station, held, found))
    gathered = gathers(node.way.verb)
    wish = f"{'get' if gathered or wanted else 'make'} {counted(plain(node.item), node.count)}"
    found[node.item] = Event(
        node.item,
        wish,
        "",
        ActionKind.GATHER if gathered else ActionKind.MAKE,
        node.way.about,
        tuple(dict.fromkeys(needs)),
    )


def _set_up(station: str, held: Mapping[str, int], found: dict[str, Event]) -> str:
    """The event of placing a station, which is made first if none is held."""
    name = f"set up {station}"
    if name not in found:
        if station in every_way() and station != TABLE:
            _add(graph(station, 1, {}, every_way()), held, found)
        needs = (station,) if station in found else ()
        wish = f"put down the {plain(station)}"
        found[name] = Event(name, wish, "", ActionKind.DROP, station, needs)
    return name
