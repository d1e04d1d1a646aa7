"""Whatever is done, in whatever order, the household stays one that could be."""

from typing import Any

import numpy as np
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from inhabit.envs.simulators.household.placement.surfaces import HANGERS
from inhabit.envs.simulators.household.simulator import Simulator
from inhabit.envs.simulators.household.state.agent import AgentState
from inhabit.envs.simulators.household.state.world import SimObject

SCENES = ("FloorPlan1", "FloorPlan28", "FloorPlan205", "FloorPlan303", "FloorPlan407")
PLAIN = ("MoveAhead", "MoveBack", "MoveLeft", "MoveRight", "RotateLeft", "RotateRight")
PLAIN += ("LookUp", "LookDown", "Crouch", "Stand", "DropHandObject", "ThrowObject", "Pass")
AIMED = ("PickupObject", "PutObject", "OpenObject", "CloseObject", "ToggleObjectOn", "SliceObject")
AIMED += ("ToggleObjectOff", "BreakObject", "DirtyObject", "CleanObject", "FillObjectWithLiquid")
AIMED += ("EmptyLiquidFromObject", "CookObject", "UseUpObject", "PutObject", "PickupObject")


class Household(RuleBasedStateMachine):
    """Random actions in a random room, most of them forced."""

    simulator: Simulator

    @initialize(scene=st.sampled_from(SCENES), seed=st.integers(0, 3))
    def enter(self, scene: str, seed: int) -> None:
        self.simulator = Simulator(scene, width=40, height=40, seed=seed)
        self.kept: dict[int, tuple[dict[str, SimObject], AgentState]] = {}
        places = self.simulator.act({"action": "GetReachablePositions"}).value
        self.places = {(place["x"], place["z"]) for place in places}

    def act(self, **request: Any) -> None:
        before = self.now()
        reply = self.simulator.act(request)
        if not reply.success:
            assert reply.message
            assert self.now() == before

    def now(self) -> tuple[dict[str, SimObject], AgentState]:
        return dict(self.simulator.things), self.simulator.agent

    @rule(action=st.sampled_from(PLAIN))
    def plain(self, action: str) -> None:
        self.act(action=action)

    @rule(action=st.sampled_from(AIMED), at=st.integers(0, 10_000), force=st.booleans())
    def aimed(self, action: str, at: int, force: bool) -> None:
        names = list(self.simulator.things)
        self.act(action=action, objectId=names[at % len(names)], forceAction=force)

    @rule(at=st.integers(0, 10_000), to=st.integers(0, 10_000))
    def carry(self, at: int, to: int) -> None:
        """Take something somewhere, which chance alone seldom does."""
        things = self.simulator.things
        if self.simulator.agent.held is None:
            loose = [name for name, t in things.items() if t["pickupable"]]
            self.act(action="PickupObject", objectId=loose[at % len(loose)], forceAction=True)
        places = [name for name, t in things.items() if t["receptacle"]]
        place = places[to % len(places)]
        if things[place]["openable"]:
            self.act(action="OpenObject", objectId=place, forceAction=True)
        self.act(action="PutObject", objectId=place, forceAction=True)

    @rule(seed=st.integers(0, 50))
    def spawn(self, seed: int) -> None:
        self.act(action="InitialRandomSpawn", randomSeed=seed, numPlacementAttempts=2)

    @rule()
    def keep(self) -> None:
        token = self.simulator.act({"action": "Snapshot"}).value
        assert isinstance(token, int)
        self.kept[token] = self.now()

    @rule(which=st.integers(0, 10_000))
    def go_back(self, which: int) -> None:
        if self.kept:
            token = sorted(self.kept)[which % len(self.kept)]
            assert self.simulator.act({"action": "Restore", "snapshot": token}).success
            assert self.now() == self.kept[token]

    @invariant()
    def links_are_symmetric_and_go_round_in_no_circle(self) -> None:
        things = self.simulator.things
        for name, thing in things.items():
            assert len(set(thing.parents)) == len(thing.parents)
            assert all(name in things[parent].contents for parent in thing.parents)
            assert all(name in things[inner].parents for inner in thing.contents)
            inner, queue = set(), list(thing.contents)
            while queue:
                inner.add(here := queue.pop())
                queue += [n for n in things[here].contents if n not in inner]
            assert name not in inner

    @invariant()
    def nothing_is_in_two_places(self) -> None:
        things, held = self.simulator.things, self.simulator.agent.held
        for name, thing in things.items():
            assert thing["isPickedUp"] == (name == held)
            if name == held or not thing.present:
                assert thing.parents == []
            if not thing.present:
                assert thing["isSliced"]
                assert not self.simulator.visibility()[name].visible

    @invariant()
    def what_is_held_is_in_the_hand(self) -> None:
        agent = self.simulator.agent
        if agent.held is not None:
            hand, _ = agent.hand()
            place = self.simulator.things[agent.held]["position"]
            assert np.allclose([place[axis] for axis in "xyz"], hand, atol=1e-6)

    @invariant()
    def metadata_say_where_the_boxes_are(self) -> None:
        for thing in self.simulator.things.values():
            if thing["pickupable"] and thing.present:
                center = thing["axisAlignedBoundingBox"]["center"]
                assert np.allclose([center[a] for a in "xyz"], thing.box.center, atol=0.06)
            assert thing["isOpen"] == (thing["openness"] > 0) or thing["openness"] == 0.0
            assert thing["isFilledWithLiquid"] or thing["fillLiquid"] is None

    @invariant()
    def hangers_hold_one_thing(self) -> None:
        things = self.simulator.things
        for thing in things.values():
            if thing.kind in HANGERS:
                # A toilet may stand in a hanger's box; nobody hung it up there.
                assert sum(bool(things[name]["pickupable"]) for name in thing.contents) <= 1

    @invariant()
    def the_agent_stands_somewhere(self) -> None:
        agent = self.simulator.agent
        assert (agent.x, agent.z) in self.places
        assert -30 <= agent.horizon <= 60


TestHousehold = Household.TestCase
TestHousehold.settings = settings(
    max_examples=settings.default.max_examples // 8,
    stateful_step_count=25,
    deadline=None,
    suppress_health_check=list(HealthCheck),
)
