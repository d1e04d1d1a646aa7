"""A flat at one moment, over VirtualHome's evolving graph. A value: acting gives another one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from envs.core import Reason, SceneError
from envs.virtualhome.evolving import load
from envs.virtualhome.failures import Failure, read_failure
from envs.virtualhome.lines import Line

Graph = Mapping[str, Any]
"""VirtualHome's own form: {"nodes": [{"id", "class_name", "category", "properties", "states",
"prefab_name", "bounding_box", ...}], "edges": [{"from_id", "relation_type", "to_id"}]}."""


@dataclass(frozen=True, slots=True)
class Node:
    """An object, a room or a character. `source` is its record as the graph came in."""

    id: int
    class_name: str
    category: str
    properties: frozenset[str]
    states: frozenset[str]
    source: Mapping[str, Any] = field(compare=False, hash=False, repr=False)


@dataclass(frozen=True, slots=True, eq=False)
class World:
    """Objects, their states and relations. `_state` is an `EnvironmentState`, never changed."""

    sources: Mapping[int, Mapping[str, Any]]
    """The nodes as they came in, by id: boxes and prefabs, which acting never changes."""
    _graph: Any
    _state: Any
    _equivalence: Mapping[str, Sequence[str]]
    hour: float = 12.0
    """Of the day, 0 to 24: it stands still."""

    @classmethod
    def of(
        cls,
        graph: Graph,
        equivalence: Mapping[str, Sequence[str]] | None = None,
        hour: float = 12.0,
    ) -> World:
        """Read a graph.

        Args:
            graph: VirtualHome's form; a node may lack what is not needed.
            equivalence: class names that mean the same, as VirtualHome's
                `class_name_equivalence.json`.
            hour: of the day.

        Raises:
            SceneError: it is not a graph that can be lived in; the fault is named.
        """
        _check(graph)
        environment = load().environment
        nodes = [
            {
                "id": node["id"],
                "class_name": node["class_name"],
                "category": node.get("category") or "",
                "properties": [str(p).upper() for p in node.get("properties", ())],
                "states": [str(s).upper() for s in node.get("states", ())],
                "prefab_name": node.get("prefab_name"),
                "bounding_box": None,
            }
            for node in graph["nodes"]
        ]
        built = environment.EnvironmentGraph({"nodes": nodes, "edges": list(graph["edges"])})
        names = dict(equivalence or {})
        state = environment.EnvironmentState(built, names, instance_selection=True)
        return cls({n["id"]: n for n in graph["nodes"]}, built, state, names, hour)

    def step(self, line: Line) -> tuple[World, Failure | None]:
        """Carry out one line: the world after it, or this one and why it failed."""
        failure, script, executor = self._prepare(line)
        if failure is not None:
            return self, failure
        done, after = executor.execute_one_step(script, self._state)
        if not done:
            return self, read_failure(executor.info.get_error_string())
        return replace(self, _state=after), None

    def check(self, line: Line) -> Failure | None:
        """Why a line would fail now; None if it would succeed. Far cheaper than `step`."""
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
        """Ids that a node stands in this relation to, ascending."""
        kind = load().environment.Relation[relation]
        return sorted(self._state.get_node_ids_from(id_, kind))

    def edges(self) -> Iterator[tuple[int, str, int]]:
        """Every (from, relation, to), sorted."""
        found = self._state.to_dict()["edges"]
        yield from sorted((e["from_id"], e["relation_type"], e["to_id"]) for e in found)

    def pairs(self, relation: str) -> Iterator[tuple[int, int]]:
        """Every (from, to) of one relation."""
        kind = load().environment.Relation[relation]
        for node in self._state.get_nodes():
            for to in self._state.get_node_ids_from(node.id, kind):
                yield int(node.id), int(to)

    def changes(self) -> Mapping[str, list[Any]]:
        """What acting has changed since the graph came in: states of nodes, edges, memory of grabs.

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
        """The whole graph in VirtualHome's form. Boxes are as they came in."""
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
        """Class names that mean the same, as it was made with."""
        return self._equivalence

    def characters(self) -> Sequence[int]:
        """Ids of the characters, ascending."""
        return sorted(n.id for n in self._state.get_nodes_by_attr("class_name", "character"))

    def room(self, id_: int) -> int | None:
        """The room that a node is in, through whatever holds it; the node itself if a room."""
        node = self._state.get_node(id_)
        if node is None:
            return None
        found = load().execution._get_room_node(self._state, node)
        return None if found is None else int(found.id)

    def _prepare(self, line: Line) -> tuple[Failure | None, Any, Any]:
        evolving = load()
        if line.character >= len(self.characters()):
            message = f"There is no character {line.character} in this flat."
            return Failure(Reason.NOT_FOUND, message), None, None
        for thing in line.things:
            node = self._state.get_node(thing.id)
            if node is None:
                message = f"{thing} cannot be found: no object has the id {thing.id}."
                return Failure(Reason.NOT_FOUND, message), None, None
        # The names are the graph's: what a script calls a thing is for people only.
        things = [
            evolving.scripts.ScriptObject(self._state.get_node(t.id).class_name, t.id)
            for t in line.things
        ]
        action = evolving.scripts.Action[line.action]
        script = evolving.scripts.Script([evolving.scripts.ScriptLine(action, things, 0)])
        executor = evolving.execution.ScriptExecutor(self._graph, self._equivalence, line.character)
        return None, script, executor

    def _typed(self, node: Any) -> Node:
        return Node(
            id=int(node.id),
            class_name=node.class_name,
            category=node.category or "",
            properties=frozenset(p.name for p in node.properties),
            states=frozenset(s.name for s in node.states),
            source=self.sources[node.id],
        )


def _sorted_edges(edges: Mapping[tuple[int, Any], Iterable[int]]) -> list[Any]:
    return sorted([a, kind.name, b] for (a, kind), to in edges.items() for b in to)


def _check(graph: Graph) -> None:
    """Refuse what the evolving graph would trip over later."""
    environment = load().environment
    if not isinstance(graph.get("nodes"), list) or not isinstance(graph.get("edges"), list):
        raise SceneError('A graph is {"nodes": [...], "edges": [...]}; one of the two is missing.')
    ids: set[int] = set()
    for i, node in enumerate(graph["nodes"]):
        if not isinstance(node.get("id"), int) or not isinstance(node.get("class_name"), str):
            raise SceneError(f"Node {i} of the graph lacks an integer id or a class_name.")
        if node["id"] in ids:
            raise SceneError(f"Two nodes of the graph have the id {node['id']}.")
        ids.add(node["id"])
        for key, known in (("properties", environment.Property), ("states", environment.State)):
            for value in node.get(key, ()):
                if str(value).upper() not in known.__members__:
                    raise SceneError(
                        f"Node {node['id']} ({node['class_name']}), {key}: there is no {value!r}; "
                        f"known: {', '.join(sorted(known.__members__))}."
                    )
    for i, edge in enumerate(graph["edges"]):
        if edge.get("relation_type", "").upper() not in environment.Relation.__members__:
            raise SceneError(f"Edge {i}: there is no relation {edge.get('relation_type')!r}.")
        for end in ("from_id", "to_id"):
            if edge.get(end) not in ids:
                raise SceneError(
                    f"Edge {i}: {end} names node {edge.get(end)!r}, which is not there."
                )
    _check_rooms(graph)


def _check_rooms(graph: Graph) -> None:
    """There is a room, and nothing is inside itself with no room around it.

    A ring of things that a room holds is let through: VirtualHome's own graphs have such (curtains
    inside each other). Without a room the evolving graph would look for one for ever.
    """
    rooms = {n["id"] for n in graph["nodes"] if n.get("category") == "Rooms"}
    if not rooms:
        raise SceneError('The graph has no room (a node of category "Rooms").')
    inside: dict[int, set[int]] = {}
    for edge in graph["edges"]:
        if edge["relation_type"].upper() == "INSIDE":
            inside.setdefault(edge["from_id"], set()).add(edge["to_id"])
    for start in sorted(inside):
        around: set[int] = set()
        here = {start}
        while here:
            here = set().union(*(inside.get(i, ()) for i in here)) - around
            around |= here
        if start in around and not around & rooms:
            raise SceneError(f"Node {start} is INSIDE itself, and no room is around it.")
