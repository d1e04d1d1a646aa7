"""The `virtualhome` package, with repairs, and shortcuts for what it does slowly."""

from __future__ import annotations

import importlib
import importlib.util
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from inhabit.envs.cache import cache_home
from inhabit.envs.core import UnavailableError


def install(environment: Any) -> None:
    """Replace the originals in the loaded module `environment`."""
    # Enum's own hash is a Python function. Members are singletons, so their identity does as well.
    for kind in (environment.Relation, environment.State, environment.Property):
        kind.__hash__ = object.__hash__
    environment.EnvironmentState.change_state = _change_state
    environment.DeleteEdges.apply_changes = _delete_edges(environment)
    environment.ObjectInsideNode.enumerate = _inside(environment)


def _change_state(
    self: Any, changers: Any, node: Any = None, obj: Any = None, in_place: bool = False
) -> Any:
    """The state after changes. The original copies with `deepcopy`, ten times as slow."""
    after = type(self)(self._graph, self._name_equivalence, self.instance_selection)
    if in_place:
        after._new_nodes = self._new_nodes
        after._removed_edges_from = self._removed_edges_from
        after._new_edges_from = self._new_edges_from
        after._script_objects = self._script_objects
        after.executor_data = self.executor_data
    else:
        after._new_nodes = {i: changed.copy() for i, changed in self._new_nodes.items()}
        after._removed_edges_from = {k: set(v) for k, v in self._removed_edges_from.items()}
        after._new_edges_from = {k: set(v) for k, v in self._new_edges_from.items()}
        after._script_objects = dict(self._script_objects)
        after.executor_data = dict(self.executor_data)
    if obj is not None and node is not None:
        after._script_objects[obj.name, obj.instance] = node.id
    after.apply_changes(changers)
    return after


def _delete_edges(environment: Any) -> Any:
    original = environment.DeleteEdges.apply_changes

    def apply_changes(self: Any, state: Any, **kwargs: Any) -> None:
        """Delete the edges to (and from) any node: those that exist, without trying every node."""
        if not isinstance(self.to_node, environment.AnyNode):
            original(self, state, **kwargs)
            return
        for node in self.from_node.enumerate(state):
            for relation in self.relations:
                for other in _targets(state, node.id, relation):
                    state.delete_edge(node, relation, state.get_node(other))
                if self.delete_reverse:
                    for other in _sources(state, node.id, relation):
                        state.delete_edge(state.get_node(other), relation, node)

    return apply_changes


def sources(state: Any, target: int, relation: Any) -> set[int]:
    """Nodes from which an edge leads to a node now."""
    gone = state._removed_edges_from
    found = _sources(state, target, relation)
    return {source for source in found if target not in gone.get((source, relation), ())}


def _inside(environment: Any) -> Any:
    def enumerate(self: Any, state: Any, **kwargs: Any) -> Any:
        """What is inside a container, without a look into every other."""
        inside = sources(state, self.container_node.id, environment.Relation.INSIDE)
        return (state.get_node(id_) for id_ in sorted(inside))

    return enumerate


def _targets(state: Any, source: int, relation: Any) -> set[int]:
    """Nodes to which an edge of the initial graph, or a new one, leads."""
    new: set[int] = state._new_edges_from.get((source, relation), set())
    return new.union(state._graph.get_node_ids_from(source, relation))


def _sources(state: Any, target: int, relation: Any) -> set[int]:
    """Nodes from which an edge of the initial graph, or a new one, leads."""
    found = set(_incoming(state._graph).get((target, relation), ()))
    for (source, kind), targets in state._new_edges_from.items():
        if kind is relation and target in targets:
            found.add(source)
    return found


def _incoming(graph: Any) -> Mapping[tuple[int, Any], Sequence[int]]:
    """The sources of the initial graph's edges by target and relation. Kept with the graph."""
    index: dict[tuple[int, Any], list[int]] | None = getattr(graph, "_incoming", None)
    if index is None:
        index = {}
        for (source, relation), targets in graph._edge_map.items():
            for target in targets:
                index.setdefault((target, relation), []).append(source)
        graph._incoming = index
    return index


VERSION = "2.3.0"
_NAME = "_virtualhome_evolving_graph"


@dataclass(frozen=True, slots=True)
class GraphLibrary:
    """The used modules of `evolving_graph`, patched. Untyped, as they are."""

    environment: Any
    execution: Any
    scripts: Any


def home() -> Path:
    """The folder of `inhabit setup virtualhome`."""
    return cache_home() / f"virtualhome-{VERSION}"


def interpreter() -> Path:
    """The Python interpreter of `inhabit setup virtualhome`."""
    return home() / "venv" / "bin" / "python"


def simulation() -> Path:
    """The folder of VirtualHome that contains `evolving_graph`.

    Raises:
        UnavailableError: VirtualHome is not on this machine.
    """
    places = [*home().glob("venv/lib/python3*/site-packages"), *map(Path, sys.path)]
    for place in places:
        folder = place / "virtualhome" / "simulation"
        if (folder / "evolving_graph" / "execution.py").is_file():
            return folder
    raise UnavailableError(
        "VirtualHome's evolving graph is not installed. Run `inhabit setup virtualhome` "
        "(half a minute)."
    )


@cache
def load() -> GraphLibrary:
    """Load and patch it, once per process.

    Raises:
        UnavailableError: VirtualHome is not on this machine.
    """
    folder = simulation() / "evolving_graph"
    spec = importlib.util.spec_from_file_location(
        _NAME, folder / "__init__.py", submodule_search_locations=[str(folder)]
    )
    if spec is None:
        raise UnavailableError(f"Can't import {folder}: it is not a Python package.")
    package = importlib.util.module_from_spec(spec)
    sys.modules[_NAME] = package
    parts = (f"{_NAME}.{part}" for part in ("environment", "execution", "scripts"))
    found = GraphLibrary(*map(importlib.import_module, parts))
    _repair(found)
    install(found.environment)
    return found


def _repair(evolving: GraphLibrary) -> None:
    environment, execution = evolving.environment, evolving.execution

    # Every change of an edge is timed, and the times are kept forever: a memory leak.
    environment.TimeMeasurement.start = lambda name: None

    # Executors are given script, state, info, character, modify and in_place, by their places.
    def execute_joined(self: Any, *given: Any) -> Iterator[Any]:
        for executor in self.executors:
            yield from executor.execute(*given)

    # FIND of a distant object passes two arguments too many to its joined executor: TypeError.
    execution.JoinedExecutor.execute = execute_joined

    def error(self: Any, message: str, *args: Any) -> None:
        said = message.format(*args) if args else message
        self.messages.append(f'{said} when executing "{self.current_line_info()}"')

    # A name with braces, in a sentence that is complete, was formatted once more: KeyError.
    execution.ExecutionInfo.error = error

    stale = environment.EnvironmentState.get_char_node

    def get_char_node(self: Any, char_index: int) -> Iterator[Any]:
        return (self.get_node(node.id) for node in stale(self, char_index))

    # The character is looked up in the initial graph, so that sitting is forgotten at once.
    environment.EnvironmentState.get_char_node = get_char_node

    def check_putoff(self: Any, state: Any, node: Any, info: Any, char_index: int = 0) -> bool:
        character = execution._get_character_node(state, char_index)
        worn = execution.ExistsRelation(
            execution.NodeInstance(node),
            environment.Relation.ON,
            execution.NodeInstanceFilter(character),
        )
        if not state.evaluate(worn):
            info.error("{} is not on {}", node, character)
            return False
        if environment.Property.CLOTHES not in node.properties:
            info.error("{} is not clothes", node)
            return False
        return True

    # PUTOFF looks up the character with the wrong number of arguments: TypeError.
    execution.PutOffExecutor.check_putoff = check_putoff

    walk = execution.WalkExecutor.execute

    def execute_walk(self: Any, *given: Any) -> Iterator[Any]:
        *_, char_index, modify, _in_place = given
        for after in walk(self, *given):
            if modify:
                _bring_along(evolving, after, char_index)
            yield after

    # Held objects were put into the room being left instead of the one being entered.
    execution.WalkExecutor.execute = execute_walk

    for posture in (execution.SitExecutor, execution.LieExecutor):
        posture.execute = _on_one_seat(evolving, posture.execute)

    put_back = execution.PutBackExecutor.execute

    def execute_put_back(self: Any, *given: Any) -> Iterator[Any]:
        script, state, info, char_index, modify, in_place = given
        for after in put_back(self, script, state, info, char_index, True, in_place):
            if after is not state:
                yield after if modify else state

    # It was done, without effect, where it failed, and a check of it told the opposite.
    execution.PutBackExecutor.execute = execute_put_back

    for letting_go in (execution.PutOnExecutor, execution.PourExecutor):
        letting_go.execute = _forgetting(evolving, letting_go.execute)

    def get_nodes_from(self: Any, from_node: Any, relation: Any) -> list[Any]:
        return [self.get_node(i) for i in sorted(self.get_node_ids_from(from_node.id, relation))]

    def get_node_ids_from(self: Any, from_id: int, relation: Any) -> set[int]:
        found: set[int] = set(self._graph.get_node_ids_from(from_id, relation))
        found |= self._new_edges_from.get((from_id, relation), set())
        found.difference_update(self._removed_edges_from.get((from_id, relation), ()))
        return found

    # Reading a state modified it (a set updated in place), in hash order.
    environment.EnvironmentState.get_nodes_from = get_nodes_from
    environment.EnvironmentState.get_node_ids_from = get_node_ids_from


def _bring_along(evolving: GraphLibrary, state: Any, char_index: int) -> None:
    """Put what a character holds or wears into its room, and no other."""
    environment, execution = evolving.environment, evolving.execution
    relation = environment.Relation
    character = execution._get_character_node(state, char_index)
    room = execution._get_room_node(state, character)
    hands = [relation.HOLDS_LH, relation.HOLDS_RH]
    worn = map(state.get_node, sorted(sources(state, character.id, relation.ON)))
    for held in (*execution._find_nodes_from(state, character, hands), *worn):
        for around in state.get_nodes_from(held, relation.INSIDE):
            if around.id != room.id:
                state.delete_edge(held, relation.INSIDE, around)
        state.add_edge(held, relation.INSIDE, room)


def _on_one_seat(evolving: GraphLibrary, settle: Any) -> Any:
    """Remove the old seat of a character that sits down elsewhere: STANDUP leaves it in the graph.

    It is taken out when the next seat is taken, and no earlier: a program of eai-eval counts on it.
    """
    environment, execution = evolving.environment, evolving.execution

    def execute(self: Any, *given: Any) -> Iterator[Any]:
        script, state, _info, char_index, modify, _in_place = given
        seat = state.get_state_node(script[0].object())
        for after in settle(self, *given):
            if modify:
                character = execution._get_character_node(after, char_index)
                for under in after.get_nodes_from(character, environment.Relation.ON):
                    if under.id != seat.id:
                        after.delete_edge(character, environment.Relation.ON, under)
            yield after

    return execute


def _forgetting(evolving: GraphLibrary, let_go: Any) -> Any:
    """Forget that an object was grabbed: as long as that is known, it can't be grabbed again."""

    def execute(self: Any, *given: Any) -> Iterator[Any]:
        script, state, _info, char_index, modify, _in_place = given
        thing = state.get_state_node(script[0].object())
        for after in let_go(self, *given):
            if modify and evolving.execution._find_holding_hand(after, thing, char_index) is None:
                after.executor_data.pop((evolving.scripts.Action.GRAB, thing.id), None)
            yield after

    return execute
