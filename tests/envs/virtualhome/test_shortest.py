"""First actions of shortest plans, against a search that leaves nothing out, in a small flat."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

import pytest
from present import needs_virtualhome
from sampling import every

from inhabit.envs.core import Action, Task
from inhabit.envs.virtualhome.backends import Embedded
from inhabit.envs.virtualhome.env import EmbeddedVirtualHome, make
from inhabit.envs.virtualhome.graph.world import FlatWorld
from inhabit.envs.virtualhome.tasks.sampling import sample
from inhabit.envs.virtualhome.tasks.scene import VirtualHomeScene
from inhabit.envs.virtualhome.world.settings import VirtualHomeSettings

pytestmark = needs_virtualhome


def node(id_: int, name: str, category: str, properties: str = "", states: str = "") -> Any:
    return {"id": id_, "class_name": name, "category": category,
            "properties": properties.split(), "states": states.split()}  # fmt: skip


NODES = [
    node(1, "character", "Characters"),
    node(10, "kitchen", "Rooms"),
    node(11, "bedroom", "Rooms"),
    node(20, "fridge", "Appliances", "CAN_OPEN CONTAINERS HAS_PLUG", "CLOSED PLUGGED_IN"),
    node(21, "table", "Furniture", "SURFACES MOVABLE"),
    node(22, "apple", "Food", "GRABBABLE EATABLE"),
    node(23, "mug", "Props", "GRABBABLE RECIPIENT", "DIRTY"),
    node(24, "bed", "Furniture", "SITTABLE LIEABLE SURFACES"),
    node(25, "lamp", "Lamps", "HAS_SWITCH HAS_PLUG", "OFF PLUGGED_IN"),
]
EDGES = [
    (1, "INSIDE", 11), (20, "INSIDE", 10), (21, "INSIDE", 10), (22, "INSIDE", 10),
    (22, "INSIDE", 20), (23, "INSIDE", 10), (23, "ON", 21), (24, "INSIDE", 11), (25, "INSIDE", 11),
    (22, "CLOSE", 20), (20, "CLOSE", 22), (23, "CLOSE", 21), (21, "CLOSE", 23),
]  # fmt: skip
GOALS: list[list[dict[str, Any]]] = [
    [{"kind": "state", "id": 25, "state": "ON"}],
    [{"kind": "state", "id": 20, "state": "OPEN"}],
    [{"kind": "state", "id": 23, "state": "CLEAN"}],
    [{"kind": "state", "id": 1, "state": "LYING"}],
    [{"kind": "state", "id": 25, "state": "ON"}, {"kind": "state", "id": 25, "state": "CLEAN"}],
    [{"kind": "state", "id": 20, "state": "OPEN"}, {"kind": "state", "id": 23, "state": "CLEAN"}],
    [{"kind": "relation", "from_id": 1, "relation": "HOLDS_RH", "to_id": 23}],
    [{"kind": "relation", "from_id": 23, "relation": "ON", "to_id": 24}],
    [{"kind": "relation", "from_id": 23, "relation": "INSIDE", "to_id": 20}],
    [{"kind": "relation", "from_id": 23, "relation": "INSIDE", "to_id": 11}],
    [{"kind": "relation", "from_id": 1, "relation": "ON", "to_id": 24}],
    [{"kind": "relation", "from_id": 1, "relation": "CLOSE", "to_id": 22}],
    [{"kind": "relation", "from_id": 1, "relation": "FACING", "to_id": 25}],
    [{"kind": "action", "any_of": ["EAT"]}],
    [{"kind": "action", "any_of": ["TOUCH", "SLEEP"]}, {"kind": "state", "id": 25, "state": "ON"}],
]


class Small(Embedded):
    """The evolving graph, in a flat of nine nodes, or some more."""

    nodes, relations = NODES, EDGES

    def reset(self, scene: VirtualHomeScene) -> FlatWorld:
        edges = [{"from_id": a, "relation_type": r, "to_id": b} for a, r, b in self.relations]
        return FlatWorld.of({"nodes": self.nodes, "edges": edges})


def small(
    goals: list[dict[str, Any]], nodes: Sequence[Any] = (), edges: Sequence[Any] = ()
) -> EmbeddedVirtualHome:
    env = EmbeddedVirtualHome(VirtualHomeSettings(view="none"))
    simulation = Small(64, 48, "none")
    simulation.nodes, simulation.relations = [*NODES, *nodes], [*EDGES, *edges]
    env._simulation = simulation
    scene = {"flat": 0, "goals": goals}
    env.reset(Task(id="small", env="virtualhome", kind="small", goal="g", scene=scene), seed=0)
    return env


def solved(env: EmbeddedVirtualHome) -> bool:
    met, total = env.progress()
    return met == total


def searched(env: EmbeddedVirtualHome) -> frozenset[Action] | None:
    """Every first action of a plan of least length, of at most two: all plans are tried."""
    if solved(env):
        return frozenset()
    after = []
    for action in env.admissible():
        fork = env.fork()
        assert fork.act(action).reason is None
        after.append((action, fork))
    if last := frozenset(action for action, fork in after if solved(fork)):
        return last
    known: dict[str, bool] = {}
    for _, fork in after:
        if fork.digest() not in known:
            known[fork.digest()] = leads_on(fork)
    return frozenset(a for a, fork in after if known[fork.digest()]) or None


def leads_on(env: EmbeddedVirtualHome) -> bool:
    for action in env.admissible():
        fork = env.fork()
        fork.act(action)
        if solved(fork):
            return True
    return False


def compared(states: int, seed: int) -> list[int]:
    """How many states had no answer, were solved, or had some, of so many met by chance."""
    draw = random.Random(seed)
    kinds = [0, 0, 0]
    for i in range(states):
        env = small(GOALS[i % len(GOALS)])
        for _ in range(draw.randrange(6)):
            env.act(draw.choice(env.admissible()))
        best = env.best_actions()
        assert best == searched(env), (GOALS[i % len(GOALS)], env.state()["done"])
        kinds[0 if best is None else 1 if not best else 2] += 1
    return kinds


@pytest.mark.parametrize("states", [3, pytest.param(len(GOALS), marks=pytest.mark.slow)])
def test_best_actions_are_those_of_an_exhaustive_search(states: int) -> None:
    unknown, _, known = compared(states, seed=1)
    assert known >= states // 3
    assert unknown or states < len(GOALS)


@pytest.mark.parametrize("held", every(2, [True, False]))
def test_what_can_be_poured_is_poured_or_put(held: bool) -> None:
    extra = [node(26, "juice", "Food", "GRABBABLE DRINKABLE POURABLE")]
    edges = [(26, "INSIDE", 10), (26, "ON", 21), (26, "CLOSE", 21), (21, "CLOSE", 26)]
    goal = {"kind": "relation", "from_id": 26, "relation": "INSIDE", "to_id": 23}
    env = small([goal], extra, edges)
    for text in ["walk to the kitchen", "walk to the table", *(["grab the juice"] if held else [])]:
        action = env.parse(text)
        assert action is not None
        assert env.act(action).reason is None
    best = env.best_actions()
    assert best
    assert best == searched(env)
    assert ("POUR" in {action.verb for action in best}) == held


@pytest.mark.slow
def test_best_actions_of_many_states() -> None:
    unknown, _, known = compared(200, seed=2)
    assert known > 60
    assert unknown


@pytest.mark.slow
def test_in_a_whole_flat_the_last_steps_of_a_plan_are_among_them() -> None:
    with make("embedded", VirtualHomeSettings(view="none")) as env:
        assert isinstance(env, EmbeddedVirtualHome)
        for task in sample(1, seed=4):
            env.reset(task, seed=0)
            assert env.best_actions() is None
            while plan := env.plan():
                if len(plan) <= 2:
                    best = env.best_actions()
                    assert best and plan[0] in best
                env.act(plan[0])
            assert env.best_actions() == frozenset()
