"""The scene of a task, and tasks of the Embodied Agent Interface."""

from __future__ import annotations

import copy
import importlib.util
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from difflib import get_close_matches
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

from inhabit.envs.core import SceneError, Task, TaskError, UnavailableError
from inhabit.envs.virtualhome.flats.build import FIRST_ID, build
from inhabit.envs.virtualhome.flats.plans import plans
from inhabit.envs.virtualhome.graph.goals import (
    ActionGoal,
    Goal,
    RelationGoal,
    StateGoal,
    TaggedGoal,
    faults,
)
from inhabit.envs.virtualhome.graph.library import home, load
from inhabit.envs.virtualhome.graph.names import NodeNames
from inhabit.envs.virtualhome.graph.verbs import SYNONYMS
from inhabit.envs.virtualhome.graph.world import FlatWorld
from inhabit.envs.virtualhome.world.settings import VirtualHomeSettings

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
    """Number of one of our floor plans; None with `eai`."""
    seed: int = Field(default=0, ge=0, le=999_999)
    """Seed of what stands where in the flat."""
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
    """Goals that must all hold at the end; with none at all, a task is solved from the start.

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
    start = scene.model_copy(update={"goals": (), "program": ()})
    world = _start(start) if scene.eai is not None else _start_of(start.model_dump_json())
    if missing := faults(scene.goals, world):
        raise SceneError(" ".join(missing))
    return world


@lru_cache(maxsize=16)
def _start_of(scene: str) -> FlatWorld:
    """The start in a flat of ours, which never changes and is the same for every goal."""
    return _start(VirtualHomeScene.model_validate_json(scene))


def _start(scene: VirtualHomeScene) -> FlatWorld:
    if scene.eai is not None:
        graph, same = initial_graph(scene.eai), equivalence()
    else:
        assert scene.flat is not None
        graph, same = _with_character(build(scene.flat, scene.seed), scene), {}
    if scene.states or scene.moves:
        graph = _changed(graph, scene, NodeNames(FlatWorld.of(graph, same)))
    return FlatWorld.of(graph, same, scene.time)


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


_PROGRAMS = Path("dataset/programs_processed_precond_nograb_morepreconds")
_SCENE = Path("TrimmedTestScene1_graph/results_intentions_march-13-18")
_GOALS = Path("resources/virtualhome/task_state_LTL_formula_accurate.json")


def folder() -> Path:
    """The package's folder `virtualhome_eval`: from `INHABIT_EAI`, installed, or from setup.

    Raises:
        UnavailableError: it is in none of these places.
    """
    places = []
    if given := os.environ.get("INHABIT_EAI"):
        places.append(Path(given))
    spec = importlib.util.find_spec("virtualhome_eval")
    places += map(Path, (spec.submodule_search_locations or []) if spec else [])
    places.append(home() / "eai" / "virtualhome_eval")
    for place in places:
        if (place / _GOALS).is_file():
            return place
    raise UnavailableError(
        "The eai tasks are not installed. Run `inhabit setup virtualhome`, or set "
        "INHABIT_EAI to the folder virtualhome_eval of an unpacked eai-eval wheel."
    )


def read(source: str, settings: VirtualHomeSettings) -> Iterator[Task]:
    """The tasks called "eai", or "eai-all" with the four that hold from the start.

    Raises:
        UnavailableError: as `folder`.
        TaskError: there are no tasks of that name, or the package's files have an unknown form.
    """
    if source not in ("eai", "eai-all"):
        raise TaskError(
            f"Unknown VirtualHome tasks {source!r}. Use 'eai' (338 goal tasks of the "
            "eai-eval package), 'eai-all' (also the four that hold at the start), --n and "
            "--seed, or a .jsonl file of tasks."
        )
    return tasks(vacuous=source == "eai-all")


def tasks(*, vacuous: bool = False) -> Iterator[Task]:
    """The tasks, by program number.

    Args:
        vacuous: with the four whose list of goals is empty, so that doing nothing satisfies them.
            They have no place in a rate.

    Raises:
        UnavailableError: as `folder`.
        TaskError: its files are not in the form that is known.
    """
    path = folder() / _GOALS
    try:
        yield from _tasks(path, vacuous)
    except (OSError, LookupError, TypeError, AttributeError, ValueError) as error:
        why = f"{type(error).__name__}: {error}".splitlines()[0]
        raise TaskError(
            f"{path}, or a program of it, is not in the form of eai-eval 1.0.5 ({why})."
        ) from error


def _tasks(path: Path, vacuous: bool) -> Iterator[Task]:
    scenes = json.loads(path.read_text("utf-8"))
    found = {
        number: (title, goal["vh_goal"])
        for title, programs in scenes["scene_1"].items()
        for number, goal in programs.items()
    }
    for number in sorted(found, key=lambda n: tuple(map(int, n.split("_")))):
        title, goal = found[number]
        goals = read_goals(goal)
        if not goals and not vacuous:
            continue
        program = read_program(number)
        yield Task(
            id=f"eai-{number}",
            env="virtualhome",
            kind=f"eai: {title}",
            goal=f"{title.rstrip('.')}.",
            scene={
                "eai": number,
                "goals": [g.model_dump(mode="json") for g in goals],
                "program": list(program),
            },
            max_steps=max(30, 2 * len(program)),
            reference_cost=len(program),
        )


def read_goals(goal: Mapping[str, Any]) -> Sequence[Goal]:
    """Convert goals: states and relations by node id, actions as alternatives ("A|B")."""
    goals: list[Goal] = []
    for one in goal["goal"]:
        if "state" in one:
            goals.append(StateGoal(id=one["id"], state=one["state"].upper()))
        else:
            relation = one["relation_type"].upper()
            goals.append(
                RelationGoal(from_id=one["from_id"], relation=relation, to_id=one["to_id"])
            )
    for choice in goal["actions"]:
        words = [word.strip().upper() for word in choice.split("|")]
        goals.append(ActionGoal(any_of=tuple(SYNONYMS.get(w, w) for w in words)))
    return goals


def programs() -> Sequence[str]:
    """Numbers of all 518 programs, with or without goals."""
    files = (folder() / _PROGRAMS / "executable_programs" / _SCENE).glob("file*.txt")
    return sorted((f.stem[4:] for f in files), key=lambda n: tuple(map(int, n.split("_"))))


def read_program(number: str) -> Sequence[str]:
    """Script lines of a program."""
    path = folder() / _PROGRAMS / "executable_programs" / _SCENE / f"file{number}.txt"
    lines = (line.strip() for line in path.read_text("utf-8").splitlines())
    return [line for line in lines if line.startswith("[")]


def initial_graph(number: str) -> Mapping[str, Any]:
    """The initial graph of a program.

    Raises:
        SceneError: there is no such program.
    """
    base = folder() / _PROGRAMS / "init_and_final_graphs" / _SCENE
    path = base / f"file{number}.json"
    if not path.is_file():
        raise SceneError(f"scene, eai: eai-eval has no program {number!r} in {base}.")
    graph: Mapping[str, Any] = json.loads(path.read_text("utf-8"))["init_graph"]
    return graph


@cache
def equivalence() -> Mapping[str, Sequence[str]]:
    """Synonyms of class names."""
    path = folder() / "resources" / "class_name_equivalence.json"
    found: Mapping[str, Sequence[str]] = json.loads(path.read_text("utf-8"))
    return found
