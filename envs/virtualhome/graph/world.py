"""A household as a graph: its state, what can be seen in it, and names of its objects."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from inhabit.envs.core import Reason, SceneError
from inhabit.envs.entries import first_problem
from inhabit.envs.virtualhome.graph.library import load, sources
from inhabit.envs.virtualhome.graph.verbs import ScriptLine, ScriptObject

_FARTHEST = 10_000.0
"""Metres that a distance or size may have; a larger one is an error."""

_Metres = Annotated[float, Field(ge=-_FARTHEST, le=_FARTHEST, allow_inf_nan=False)]
_Side = Annotated[float, Field(ge=0.0, le=_FARTHEST, allow_inf_nan=False)]
_Part = Annotated[float, Field(allow_inf_nan=False)]


class _Record(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")


class _Box(_Record):
    center: tuple[_Metres, _Metres, _Metres]
    size: tuple[_Side, _Side, _Side]


class _Transform(_Record):
    rotation: tuple[_Part, _Part, _Part, _Part] | None = None


class _Node(_Record):
    id: Annotated[int, Field(strict=True)]
    class_name: Annotated[str, Field(min_length=1)]
    category: str | None = None
    properties: list[str] = []
    states: list[str] = []
    stands_at: tuple[_Metres, _Metres] | None = None
    bounding_box: _Box | None = None
    obj_transform: _Transform | None = None


class _Edge(_Record):
    from_id: Annotated[int, Field(strict=True)]
    relation_type: str
    to_id: Annotated[int, Field(strict=True)]


class _Graph(_Record):
    nodes: list[_Node]
    edges: list[_Edge]


def refuse_unsound(graph: Mapping[str, Any]) -> None:
    """Refuse a graph that the evolving graph or the renderer cannot process.

    Raises:
        SceneError: a field is missing or of another kind, a word is unknown, an edge leads
            nowhere, there is no room, a room has no extent, or something is inside itself alone.
    """
    try:
        read = _Graph.model_validate(dict(graph))
    except ValidationError as error:
        raise SceneError(f"The graph, {first_problem(error)}.") from error
    _check_words(read)
    _check_ids(read)
    _check_rooms(read)


def _check_words(graph: _Graph) -> None:
    environment = load().environment
    properties, states = environment.Property.__members__, environment.State.__members__
    for node in graph.nodes:
        for key, words, known in (
            ("properties", node.properties, properties),
            ("states", node.states, states),
        ):
            for word in words:
                if word.upper() not in known:
                    raise SceneError(
                        f"Node {node.id} ({node.class_name}), {key}: there is no {word!r}; "
                        f"known: {', '.join(sorted(known))}."
                    )
    for i, edge in enumerate(graph.edges):
        if edge.relation_type.upper() not in environment.Relation.__members__:
            raise SceneError(f"Edge {i}: there is no relation {edge.relation_type!r}.")


def _check_ids(graph: _Graph) -> None:
    ids: set[int] = set()
    for node in graph.nodes:
        if node.id in ids:
            raise SceneError(f"Two nodes of the graph have the id {node.id}.")
        ids.add(node.id)
    for i, edge in enumerate(graph.edges):
        for end, id_ in (("from_id", edge.from_id), ("to_id", edge.to_id)):
            if id_ not in ids:
                raise SceneError(f"Edge {i}: {end} names node {id_}, which is not there.")


def _check_rooms(graph: _Graph) -> None:
    """Check that there is a room, and that no objects contain each other outside of rooms.

    A ring of objects that a room holds is let through: VirtualHome's own graphs have such (curtains
    inside each other). Without a room the evolving graph would look for one for ever.
    """
    rooms = {node.id: node for node in graph.nodes if node.category == "Rooms"}
    if not rooms:
        raise SceneError('The graph has no room (a node of category "Rooms").')
    for id_, room in rooms.items():
        if room.bounding_box is not None and min(room.bounding_box.size) == 0.0:
            raise SceneError(f"Room {id_} ({room.class_name}) has a box without any extent.")
    inside: dict[int, set[int]] = {}
    for edge in graph.edges:
        if edge.relation_type.upper() == "INSIDE":
            inside.setdefault(edge.from_id, set()).add(edge.to_id)
    for start in sorted(inside):
        around: set[int] = set()
        here = {start}
        while here:
            here = set().union(*(inside.get(i, ()) for i in here)) - around
            around |= here
        if start in around and not around & rooms.keys():
            raise SceneError(f"Node {start} is INSIDE itself, and no room is around it.")


@dataclass(frozen=True, slots=True)
class Failure:
    """The reason of a failed line, and the simulator's message."""

    reason: Reason
    message: str


_KINDS = [
    (r"is inside other closed thing", Reason.CLOSED),
    (r"does not have a free hand", Reason.HANDS_FULL),
    (r"does not hold anything", Reason.HANDS_EMPTY),
    (r"is not holding a knife", Reason.MISSING_ITEM),
    (r"is not holding|not grabbed|is not on <character>", Reason.MISSING_ITEM),
    (r"is not open or is not openable", Reason.CLOSED),
    (r"already grabbed|is not (closed|open|off|on|plugged_in|plugged_out)\b", Reason.ALREADY),
    (r"is still on|is unplugged|is sitting|is lying|is not sitting", Reason.WRONG_STATE),
    (r"is not lying|does not face|is not facing", Reason.WRONG_STATE),
    (r"Too many things on", Reason.NO_ROOM),
    (r"Door\(s\)|No path between", Reason.BLOCKED),
    (r"is not close to", Reason.OUT_OF_REACH),
    (r"char room .* is not node room", Reason.OUT_OF_REACH),
    (r"cannot be found|Could not find", Reason.NOT_FOUND),
    (
        r"is not \w+|not lookable|can not be opened|does not have a? ?(switch|plug)|none of object",
        Reason.NOT_ALLOWED,
    ),
]
"""The first pattern that matches a message counts."""


def read_failure(message: str) -> Failure:
    """The reason of a message of `evolving_graph` (`ExecutionInfo.get_error_string`).

    A sentence that none of its executors writes reads as UNKNOWN_ACTION.
    """
    for pattern, reason in _KINDS:
        if re.search(pattern, message):
            return Failure(reason, message)
    return Failure(Reason.UNKNOWN_ACTION, message)


Graph = Mapping[str, Any]
"""VirtualHome's own form: {"nodes": [{"id", "class_name", "category", "properties", "states",
"prefab_name", "bounding_box", ...}], "edges": [{"from_id", "relation_type", "to_id"}]}."""

_TO_A_ROOM = frozenset(("WALK", "RUN", "WATCH"))
"""Actions that need the room of their object."""
_FROM_A_ROOM = _TO_A_ROOM | {"FIND", "GRAB", "DROP", "RELEASE"}
"""Actions that need the character's room."""


@dataclass(frozen=True, slots=True)
class Node:
    """An object, a room or a character. `source` is its record in the initial graph."""

    id: int
    class_name: str
    category: str
    properties: frozenset[str]
    states: frozenset[str]
    source: Mapping[str, Any] = field(compare=False, hash=False, repr=False)


@dataclass(frozen=True, slots=True, eq=False)
class FlatWorld:
    """Objects, their states and relations. `_state` is an `EnvironmentState`, never modified."""

    sources: Mapping[int, Mapping[str, Any]]
    """The nodes of the initial graph, by id: boxes and prefabs, which actions never change."""
    _graph: Any
    _state: Any
    _equivalence: Mapping[str, Sequence[str]]
    hour: float = 12.0
    """Hour of the day, 0 to 24; constant."""

    @classmethod
    def of(
        cls,
        graph: Graph,
        equivalence: Mapping[str, Sequence[str]] | None = None,
        hour: float = 12.0,
    ) -> FlatWorld:
        """Read a graph.

        Args:
            graph: VirtualHome's form; a node may lack what is not needed.
            equivalence: class names that mean the same, as VirtualHome's
                `class_name_equivalence.json`.
            hour: of the day.

        Raises:
            SceneError: it is not a graph that can be lived in; the fault is named.
        """
        refuse_unsound(graph)
        environment = load().environment
        nodes = [
            {
                "id": node["id"],
                "class_name": node["class_name"],
                "category": node.get("category") or "",
                "properties": [word.upper() for word in node.get("properties", ())],
                "states": [word.upper() for word in node.get("states", ())],
                "prefab_name": node.get("prefab_name"),
                "bounding_box": None,
            }
            for node in graph["nodes"]
        ]
        built = environment.EnvironmentGraph({"nodes": nodes, "edges": list(graph["edges"])})
        names = dict(equivalence or {})
        state = environment.EnvironmentState(built, names, instance_selection=True)
        return cls({n["id"]: n for n in graph["nodes"]}, built, state, names, hour)

    def remembering(self, before: FlatWorld) -> FlatWorld:
        """This world, as it was read, and what was grabbed in one of the same nodes."""
        after = self._state.change_state([])
        after.executor_data = dict(before._state.executor_data)
        return replace(self, _state=after)

    def step(self, line: ScriptLine) -> tuple[FlatWorld, Failure | None]:
        """Execute one line: the new world, or this one and the failure."""
        failure, script, executor = self._prepare(line)
        if failure is not None:
            return self, failure
        done, after = executor.execute_one_step(script, self._state)
        if not done:
            return self, read_failure(executor.info.get_error_string())
        return replace(self, _state=after), None

    def check(self, line: ScriptLine) -> Failure | None:
        """The failure of a line if executed now; None if it would succeed. Far cheaper than
        `step`.
        """
        failure, script, executor = self._prepare(line)
        if failure is not None:
            return failure
        if executor.check_one_step(script, self._state):
            return None
        return read_failure(executor.info.get_error_string())

    def node(self, id_: int) -> Node | None:
        """The node of that id."""
        found = self._state.get_node(id_)
        return None if found is None else self._typed(found)

    def nodes(self) -> Iterator[Node]:
        """Every node, by id."""
        for found in sorted(self._state.get_nodes(), key=lambda n: int(n.id)):
            yield self._typed(found)

    def targets(self, id_: int, relation: str) -> Sequence[int]:
        """Ids to which a node has this relation, ascending."""
        kind = load().environment.Relation[relation]
        return sorted(self._state.get_node_ids_from(id_, kind))

    def edges(self) -> Iterator[tuple[int, str, int]]:
        """Every (from, relation, to), sorted."""
        found = self._state.to_dict()["edges"]
        yield from sorted((e["from_id"], e["relation_type"], e["to_id"]) for e in found)

    def sources_of(self, id_: int, relation: str) -> frozenset[int]:
        """Ids that have this relation to a node."""
        kind = load().environment.Relation[relation]
        return frozenset(sources(self._state, id_, kind))

    def changes(self) -> Mapping[str, list[Any]]:
        """All changes since the initial graph: states of nodes, edges, grabbed objects.

        Equal, for worlds of the same graph, exactly when the worlds are. Plain data, sorted.
        """
        state, graph = self._state, self._graph
        nodes = ((n.id, sorted(s.name for s in n.states)) for n in state._new_nodes.values())
        return {
            "states": sorted(
                [i, states]
                for i, states in nodes
                if states != sorted(s.name for s in graph.get_node(i).states)
            ),
            "added": _sorted_edges(state._new_edges_from),
            "removed": _sorted_edges(state._removed_edges_from),
            "grabbed": sorted(
                [key[1], place[0].id, place[1].name] for key, place in state.executor_data.items()
            ),
        }

    def graph(self) -> dict[str, list[dict[str, Any]]]:
        """The whole graph in VirtualHome's form, with the initial boxes."""
        nodes = [
            {
                **self.sources[node.id],
                "properties": sorted(node.properties),
                "states": sorted(node.states),
            }
            for node in self.nodes()
        ]
        edges = [{"from_id": a, "relation_type": r, "to_id": b} for a, r, b in self.edges()]
        return {"nodes": nodes, "edges": edges}

    @property
    def equivalence(self) -> Mapping[str, Sequence[str]]:
        """The synonyms of class names it was created with."""
        return self._equivalence

    def characters(self) -> Sequence[int]:
        """Ids of the characters, ascending."""
        return sorted(n.id for n in self._state.get_nodes_by_attr("class_name", "character"))

    def room(self, id_: int) -> int | None:
        """The room of a node, at any depth; of a room, itself."""
        node = self._state.get_node(id_)
        if node is None:
            return None
        found = load().execution._get_room_node(self._state, node)
        return None if found is None else int(found.id)

    def _prepare(self, line: ScriptLine) -> tuple[Failure | None, Any, Any]:
        evolving = load()
        if line.character >= len(self.characters()):
            message = f"There is no character {line.character} in this flat."
            return Failure(Reason.NOT_FOUND, message), None, None
        for thing in line.things:
            if self._state.get_node(thing.id) is None:
                message = f"{thing} cannot be found: no object has the id {thing.id}."
                return Failure(Reason.NOT_FOUND, message), None, None
        if (lost := self._in_no_room(line)) is not None:
            message = f"{lost} cannot be found: no room of the graph holds it."
            return Failure(Reason.NOT_FOUND, message), None, None
        # The graph's own names are used: those of a script are only for people.
        things = [
            evolving.scripts.ScriptObject(self._state.get_node(t.id).class_name, t.id)
            for t in line.things
        ]
        action = evolving.scripts.Action[line.action]
        script = evolving.scripts.Script([evolving.scripts.ScriptLine(action, things, 0)])
        executor = evolving.execution.ScriptExecutor(self._graph, self._equivalence, line.character)
        return None, script, executor

    def _in_no_room(self, line: ScriptLine) -> ScriptObject | None:
        """The character or object that is in no room; the evolving graph has no error for that."""
        if line.action not in _FROM_A_ROOM:
            return None
        ends = [ScriptObject("character", self.characters()[line.character])]
        if line.action in _TO_A_ROOM:
            ends += line.things
        return next((end for end in ends if self.room(end.id) is None), None)

    def _typed(self, node: Any) -> Node:
        # A node is never changed, but replaced. It keeps its typed form.
        typed: Node | None = getattr(node, "_typed", None)
        if typed is None or typed.source is not self.sources[node.id]:
            typed = node._typed = Node(
                id=int(node.id),
                class_name=node.class_name,
                category=node.category or "",
                properties=frozenset(p.name for p in node.properties),
                states=frozenset(s.name for s in node.states),
                source=self.sources[node.id],
            )
        return typed


def _sorted_edges(edges: Mapping[tuple[int, Any], Iterable[int]]) -> list[Any]:
    return sorted([a, kind.name, b] for (a, kind), to in edges.items() for b in to)
