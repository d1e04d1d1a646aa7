"""What is held, worn and put back, and what the expert has to let go of or to open first."""

from __future__ import annotations

from typing import Any

import pytest
from present import needs_virtualhome

from inhabit.envs.core import Outcome, Reason, Task
from inhabit.envs.virtualhome.env import EmbeddedVirtualHome
from inhabit.envs.virtualhome.graph.names import NodeNames
from inhabit.envs.virtualhome.tasks.scene import VirtualHomeScene, build_world
from inhabit.envs.virtualhome.world.settings import VirtualHomeSettings

pytestmark = needs_virtualhome
SITTING = {"kind": "state", "id": 1, "state": "SITTING"}


def begun(*goals: dict[str, Any], **scene: Any) -> EmbeddedVirtualHome:
    """In our first flat."""
    env = EmbeddedVirtualHome(VirtualHomeSettings(view="none"))
    scene = {"flat": 0, "goals": list(goals) or [SITTING], **scene}
    env.reset(Task(id="t", env="virtualhome", kind="k", goal="g", scene=scene), seed=0)
    return env


def number(name: str) -> int:
    """The id of a node there."""
    names = NodeNames(build_world(VirtualHomeScene(flat=0, goals=())))
    return names.find(name)[0]


def do(env: EmbeddedVirtualHome, *texts: str) -> Outcome:
    """Every one of them; the last one may fail."""
    for text in texts:
        action = env.parse(text)
        assert action is not None, text
        outcome = env.act(action)
        assert outcome.reason is None or text == texts[-1], (text, outcome.feedback)
    return outcome


def solve(env: EmbeddedVirtualHome) -> None:
    for action in env.plan():
        outcome = env.act(action)
        assert outcome.reason is None, (action.text, outcome.feedback)
    met, total = env.progress()
    assert met == total


def test_putting_back_works_where_it_is_admissible_and_nowhere_else() -> None:
    env = begun()
    do(env, "walk to the bedroom", "walk to the clothesshirt_1", "grab the clothesshirt_1")
    assert env.parse("put back the clothesshirt_1") in env.admissible()
    far = env.fork()
    do(far, "walk to the kitchen")
    assert env.parse("put back the clothesshirt_1") not in far.admissible()
    refused = do(far, "put back the clothesshirt_1")
    assert refused.reason is Reason.OUT_OF_REACH, refused.feedback
    assert do(env, "put back the clothesshirt_1").reason is None
    assert not any(thing.held for thing in env.things())


def test_worn_clothes_come_along_and_can_be_held_again() -> None:
    env = begun()
    do(env, "walk to the bedroom", "walk to the clothesshirt_1", "grab the clothesshirt_1")
    do(env, "wear the clothesshirt_1", "walk to the kitchen", "take off the clothesshirt_1")
    shirt = number("clothesshirt_1")
    assert env.world.room(shirt) == number("kitchen")
    outcome = do(env, "walk to the clothesshirt_1", "grab the clothesshirt_1")
    assert outcome.reason is None, outcome.feedback


def test_what_is_closed_is_closed_and_not_so_already() -> None:
    env = begun()
    do(env, "walk to the kitchen", "walk to the plate_1", "grab the plate_1")
    outcome = do(env, "walk to the fridge", "put the plate_1 in the fridge_1")
    assert outcome.reason is Reason.CLOSED


def test_the_expert_frees_the_hand_that_is_asked_for() -> None:
    right = {"kind": "relation", "from_id": 1, "relation": "HOLDS_RH", "to_id": number("mug_1")}
    left = {"kind": "relation", "from_id": 1, "relation": "HOLDS_LH", "to_id": number("plate_1")}
    env = begun(right)
    do(env, "walk to the kitchen", "walk to the plate_1", "grab the plate_1")
    other = env.fork()
    solve(env)
    do(other, "walk to the mug_1", "grab the mug_1")
    solve(other)
    solve(begun(left, right))


@pytest.mark.parametrize("verb", ["WATCH", "LOOKAT", "POINTAT"])
def test_the_expert_goes_to_what_it_has_to_see(verb: str) -> None:
    """Which may never have been seen, or be in a room that was left again."""
    goal = {"kind": "action", "any_of": [verb], "id": number("tv_1")}
    solve(begun(goal, room="bathroom"))
    env = begun(goal, room="bathroom")
    do(env, "walk to the livingroom", "walk to the bathroom")
    solve(env)


@pytest.mark.parametrize("state", ["OPEN", "CLOSED"])
@pytest.mark.parametrize("way", ["into", "out of"])
def test_the_expert_opens_the_closet_around_a_box(state: str, way: str) -> None:
    box = {"thing": "box_1", "relation": "INSIDE", "target": "closet_1"}
    mug = {"thing": "mug_1", "relation": "INSIDE", "target": "box_1"}
    goal = {"kind": "relation", "from_id": number("mug_1")}
    goal |= (
        {"relation": "INSIDE", "to_id": number("box_1")}
        if way == "into"
        else {"relation": "ON", "to_id": number("coffeetable_1")}
    )
    states = {"box_1": [state], "closet_1": ["CLOSED"]}
    solve(begun(goal, moves=[box] if way == "into" else [box, mug], states=states))
