"""The scene parameters of VirtualHome: a flat, its changes, and the goals."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

from inhabit.envs.core import SceneError
from inhabit.envs.virtualhome.flats.build import FIRST_ID, build
from inhabit.envs.virtualhome.flats.plans import plans
from inhabit.envs.virtualhome.graph.goals import TaggedGoal, faults
from inhabit.envs.virtualhome.graph.library import load
from inhabit.envs.virtualhome.graph.names import NodeNames
from inhabit.envs.virtualhome.graph.world import FlatWorld

CHARACTER = 1
"""Id of the character that we add to our own flats, as in the official client."""

_OPPOSITES = (
    ("OPEN", "CLOSED"),
    ("ON", "OFF"),
    ("CLEAN", "DIRTY"),
    ("PLUGGED_IN", "PLUGGED_OUT"),
    ("SITTING", "LYING"),
)


class Move(BaseModel):
    """Something that stands elsewhere than the flat has it, such as mug_1 ON coffeetable_1."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    thing: str
    relation: Literal["ON", "INSIDE"]
    target: str


class VirtualHomeScene(BaseModel):
    """One of our seven flats, or a graph of the `eai-eval` package, and what is wanted there.

    Names are as agents say them: class and number in the order of ids ("mug_2"); a room that there
    is one of by its class alone ("kitchen").
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    flat: int | None = Field(default=None, ge=0, le=6)
    """Which of our floor plans; or `eai`."""
    seed: int = Field(default=0, ge=0, le=999_999)
    """What stands where in the flat."""
    eai: str | None = Field(default=None, pattern=r"^\d+_\d+$")
    """A program of `eai-eval`, such as "27_2": its initial graph."""
    room: Literal["kitchen", "livingroom", "bedroom", "bathroom"] = "livingroom"
    """Where the character starts, in a flat of ours."""
    time: float = Field(default=12.0, ge=0.0, lt=24.0)
    """Hour of the day: how light it is outside."""
    states: Mapping[str, tuple[str, ...]] = Field(default_factory=dict)
    """Name -> its states, in place of those that the flat gives it: {"fridge_1": ["OPEN"]}."""
    moves: tuple[Move, ...] = ()
    goals: tuple[TaggedGoal, ...]
    """All must hold at the end; none at all is a task that is solved from the start.

    Ids are the graph's; see `NodeNames` for what is called what."""
    program: tuple[str, ...] = ()
    """Script lines of a known solution, if there is one."""

    @model_validator(mode="after")
    def _one_source(self) -> VirtualHomeScene:
        if (self.flat is None) == (self.eai is None):
            raise ValueError("name either a flat (0 to 6) or an eai program, and not both")
        return self


def build_world(scene: VirtualHomeScene) -> FlatWorld:
    """The flat that the scene describes.

    Raises:
        SceneError: it names something that is not there.
        UnavailableError: VirtualHome, or `eai-eval` for its graphs, is not on this machine.
    """
    if scene.eai is not None:
        from inhabit.envs.virtualhome.tasks.eai import equivalence, initial_graph

        graph, same = initial_graph(scene.eai), equivalence()
    else:
        assert scene.flat is not None
        graph, same = _with_character(build(scene.flat, scene.seed), scene), {}
    if scene.states or scene.moves:
        graph = _changed(graph, scene, NodeNames(FlatWorld.of(graph, same)))
    world = FlatWorld.of(graph, same, scene.time)
    if missing := faults(scene.goals, world):
        raise SceneError(" ".join(missing))
    return world


def character_of(world: FlatWorld) -> int:
    """Id of the acting character: the first one.

    Raises:
        SceneError: the graph has no character.
    """
    characters = world.characters()
    if not characters:
        raise SceneError("The graph has no character.")
    return characters[0]


def _with_character(graph: dict[str, Any], scene: VirtualHomeScene) -> dict[str, Any]:
    assert scene.flat is not None
    rooms = plans()[scene.flat].rooms
    room = next(i for i, r in enumerate(rooms) if r.class_name == scene.room)
    x, z = rooms[room].center
    character = {
        "id": CHARACTER,
        "class_name": "character",
        "category": "Characters",
        "properties": [],
        "states": [],
        "prefab_name": "inhabit_character",
        "bounding_box": {"center": [x, 0.85, z], "size": [0.4, 1.7, 0.3]},
        "obj_transform": {
            "position": [x, 0.0, z],
            "rotation": [0.0, 0.0, 0.0, 1.0],
            "scale": [1.0, 1.0, 1.0],
        },
    }
    there = {"from_id": CHARACTER, "relation_type": "INSIDE", "to_id": FIRST_ID + room}
    return {"nodes": [character, *graph["nodes"]], "edges": [*graph["edges"], there]}


def _changed(graph: Mapping[str, Any], scene: VirtualHomeScene, names: NodeNames) -> dict[str, Any]:
    """The graph with the scene's states and moves applied."""
    nodes = {node["id"]: copy.copy(node) for node in graph["nodes"]}
    edges = [dict(edge) for edge in graph["edges"]]
    known = load().environment.State.__members__
    for name, states in scene.states.items():
        if unknown := [s for s in states if s.upper() not in known]:
            near = get_close_matches(unknown[0].upper(), known) or sorted(known)
            raise SceneError(
                f"scene, states, {name}: there is no state {unknown[0]!r}; "
                f"nearest: {', '.join(near)}."
            )
        upper = {s.upper() for s in states}
        if both := next((pair for pair in _OPPOSITES if upper.issuperset(pair)), None):
            raise SceneError(f"scene, states, {name}: it can't be both {' and '.join(both)}.")
        nodes[_one(names, name)]["states"] = [s.upper() for s in states]
    for move in scene.moves:
        thing = _one(names, move.thing)
        if nodes[thing].get("category") == "Rooms":
            raise SceneError(f"scene, moves: {move.thing} is a room, which stays where it is.")
        if _one(names, move.target) in _with_contents(edges, thing):
            raise SceneError(
                f"scene, moves: {move.thing} can't be {move.relation} {move.target}: that is "
                "itself, or on or in it."
            )
        edges = _moved(
            edges, nodes, _one(names, move.thing), move.relation, _one(names, move.target)
        )
    return {"nodes": list(nodes.values()), "edges": edges}


def _moved(
    edges: list[dict[str, Any]],
    nodes: Mapping[int, Mapping[str, Any]],
    thing: int,
    relation: str,
    target: int,
) -> list[dict[str, Any]]:
    rooms = {i for i, node in nodes.items() if node.get("category") == "Rooms"}
    room = next(
        (
            e["to_id"]
            for e in edges
            if e["from_id"] == target and e["relation_type"] == "INSIDE" and e["to_id"] in rooms
        ),
        target,
    )
    along = _with_contents(edges, thing)
    kept = [
        e
        for e in edges
        if not (e["from_id"] == thing and e["relation_type"] in ("ON", "INSIDE"))
        and not (e["from_id"] in along and e["relation_type"] == "INSIDE" and e["to_id"] in rooms)
        and not (e["relation_type"] == "CLOSE" and (e["from_id"] in along) != (e["to_id"] in along))
    ]
    new = [
        (thing, relation, target),
        *((one, "INSIDE", room) for one in sorted(along)),
        (thing, "CLOSE", target),
        (target, "CLOSE", thing),
    ]
    added = dict.fromkeys(edge for edge in new if edge[0] != edge[2])
    return kept + [{"from_id": a, "relation_type": r, "to_id": b} for a, r, b in added]


def _with_contents(edges: Sequence[Mapping[str, Any]], thing: int) -> set[int]:
    """An object with everything on or in it."""
    found: set[int] = set()
    here = {thing}
    while here:
        found |= here
        here = {
            e["from_id"]
            for e in edges
            if e["to_id"] in here and e["relation_type"] in ("ON", "INSIDE")
        } - found
    return found


def _one(names: NodeNames, name: str) -> int:
    found = names.find(name)
    if len(found) == 1:
        return found[0]
    if found:
        called = ", ".join(names.of(i) for i in found)
        raise SceneError(f"scene: {name!r} may be any of {called}; say which.")
    near = get_close_matches(name, names.all().values()) or ["(nothing like it)"]
    raise SceneError(f"scene: there is no {name!r} in this flat; nearest: {', '.join(near)}.")
