"""Validates graphs before use."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from inhabit.envs.core import SceneError
from inhabit.envs.entries import first_problem
from inhabit.envs.virtualhome.graph.library import load

_FARTHEST = 10_000.0
"""Metres. A larger distance or size is an error."""

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
