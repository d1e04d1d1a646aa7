"""The flat from above: the character's way is that of the graph, room by room."""

from __future__ import annotations

from inhabit.envs.registry import find
from inhabit.envs.scene_plan import PlanPose, ScenePlan
from inhabit.envs.virtualhome.env import EmbeddedVirtualHome
from inhabit.envs.virtualhome.graph.names import NodeNames
from inhabit.envs.virtualhome.tasks.scene import character_of
from inhabit.envs.virtualhome.world.settings import VirtualHomeSettings


def room_at(plan: ScenePlan, pose: PlanPose) -> str:
    for room in plan.rooms:
        xs, zs = zip(*room.corners, strict=True)
        if min(xs) <= pose.x <= max(xs) and min(zs) <= pose.z <= max(zs):
            return room.name
    raise AssertionError(f"{pose} is outside of all rooms")


def test_the_way_leads_through_the_rooms_of_the_graph() -> None:
    registration = find("virtualhome")
    task = next(iter(registration.sample(1, 4, registration.settings())))
    env = EmbeddedVirtualHome(VirtualHomeSettings(view="none"))
    env.reset(task, seed=0)

    def room() -> str:
        id = env.world.room(character_of(env.world))
        assert id is not None
        return NodeNames(env.world).of(id)

    actions, rooms = [], [room()]
    for action in env.plan():
        env.act(action)
        actions.append(action.text)
        rooms.append(room())
    plan = registration.scene_plan(task, actions)
    assert plan is not None
    assert [room_at(plan, pose) for pose in plan.poses] == rooms
    assert len(set(rooms)) > 1, "The way leads through a door."
    assert plan.doors and len(plan.furniture) > 10


def test_a_step_without_an_action_is_no_move() -> None:
    registration = find("virtualhome")
    task = next(iter(registration.sample(1, 4, registration.settings())))
    plan = registration.scene_plan(task, [None, "fly to the moon"])
    assert plan is not None
    assert plan.poses[0] == plan.poses[1] == plan.poses[2]
