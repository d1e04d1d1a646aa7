"""The state of a flat over VirtualHome's evolving graph. Immutable: a step returns a new one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from inhabit.envs.core import Reason
from inhabit.envs.virtualhome.graph.failures import Failure, read_failure
from inhabit.envs.virtualhome.graph.library import load
from inhabit.envs.virtualhome.graph.script import ScriptLine, ScriptObject
from inhabit.envs.virtualhome.graph.validation import refuse_unsound

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

    def pairs(self, relation: str) -> Iterator[tuple[int, int]]:
        """Every (from, to) of one relation."""
        kind = load().environment.Relation[relation]
        for node in self._state.get_nodes():
            for to in self._state.get_node_ids_from(node.id, kind):
                yield int(node.id), int(to)

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
