"""A flat from above with the way of the character, for maps."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set
from math import atan2, degrees

from inhabit.envs.core import Task
from inhabit.envs.scene_plan import Footprint, PlanPose, ScenePlan, area, rectangle
from inhabit.envs.virtualhome.drawing.arranging import arrange, homes
from inhabit.envs.virtualhome.drawing.figure import figure
from inhabit.envs.virtualhome.drawing.layout import DrawnBox
from inhabit.envs.virtualhome.env import EmbeddedVirtualHome
from inhabit.envs.virtualhome.graph.names import NodeNames
from inhabit.envs.virtualhome.graph.world import FlatWorld
from inhabit.envs.virtualhome.tasks.scene import character_of
from inhabit.envs.virtualhome.world.settings import VirtualHomeSettings

_STANDING = frozenset(("Furniture", "Appliances"))
"""Categories of nodes that are drawn."""
_LEAST, _HIGHEST = 0.06, 1.0
"""Square metres that furniture covers at least; metres above the floor at which it begins at
most."""


def scene_plan(task: Task, actions: Sequence[str | None]) -> ScenePlan:
    """Rooms, furniture and the poses of the character in the embedded simulator.

    The graph executes the actions once more, without images: records have no poses.

    Args:
        task: in one of the flats, or in a graph of `eai-eval`.
        actions: one for each step; None where nothing was executed.

    Raises:
        SceneError: the scene cannot be built.
        UnavailableError: VirtualHome, or `eai-eval` for its graphs, is not installed.
    """
    with EmbeddedVirtualHome(VirtualHomeSettings(view="none")) as env:
        env.reset(task, seed=0)
        home = homes(env.world)
        floor = min((place.bottom for place in home.values()), default=0.0)
        low = {id: place for id, place in home.items() if place.bottom - floor <= _HIGHEST}
        standing = (one for one in _footprints(env.world, low, _STANDING) if area(one) >= _LEAST)
        return ScenePlan(
            rooms=tuple(_footprints(env.world, home, {"Rooms"})),
            furniture=tuple(sorted(standing, key=area, reverse=True)),
            doors=tuple(_footprints(env.world, home, {"Doors"})),
            poses=tuple(_poses(env, home, actions)),
        )


def _footprints(
    world: FlatWorld, home: Mapping[int, DrawnBox], categories: Set[str]
) -> Iterator[Footprint]:
    names = NodeNames(world).all()
    for node in world.nodes():
        if node.category in categories and node.id in home:
            yield Footprint(names[node.id], _corners(home[node.id]))


def _poses(
    env: EmbeddedVirtualHome, home: Mapping[int, DrawnBox], actions: Sequence[str | None]
) -> Iterator[PlanPose]:
    last = _pose(env.world, home)
    if last is None:
        return
    yield last
    for text in actions:
        action = None if text is None else env.parse(text)
        if action is not None:
            env.act(action)
        last = _pose(env.world, home) or last
        yield last


def _pose(world: FlatWorld, home: Mapping[int, DrawnBox]) -> PlanPose | None:
    who = figure(world, character_of(world), home, arrange(world, home))
    if who is None:
        return None
    x, _, z = who.eyes
    to_x, _, to_z = who.target
    return PlanPose(x, z, degrees(atan2(to_x - x, to_z - z)) % 360)


def _corners(place: DrawnBox) -> tuple[tuple[float, float], ...]:
    box = place.box
    return rectangle(box.x, box.z, box.hx, box.hz)
