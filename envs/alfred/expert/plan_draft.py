"""A plan that is being written, and what its moves are in actions."""

from __future__ import annotations

from collections.abc import Sequence, Set
from dataclasses import dataclass, replace

from inhabit.envs.alfred.episode.state import EpisodeState, Memory
from inhabit.envs.alfred.expert.scene_probe import SceneProbe
from inhabit.envs.alfred.language.verbs import say, word
from inhabit.envs.alfred.scenes.scene import SLICED
from inhabit.envs.alfred.skills import walking
from inhabit.envs.alfred.skills.walking import stand_of, vantage
from inhabit.envs.alfred.thor.body import STEP, AgentPose, Cell, Stand
from inhabit.envs.alfred.thor.objects import ThorObject, ThorObjects, apart
from inhabit.envs.alfred.world.things import DOORS, KNIVES
from inhabit.envs.core import Action
from inhabit.envs.simulators.household.types.things import ENCLOSING, RUNS_CLOSED
from inhabit.envs.world.rows import IT

_SURFACES = (
    "CounterTop",
    "DiningTable",
    "Desk",
    "CoffeeTable",
    "SideTable",
    "Dresser",
    "TVStand",
    "Bed",
    "Sofa",
    "ArmChair",
    "Shelf",
    "ShelvingUnit",
    "Chair",
    "Ottoman",
    "SinkBasin",
    "Toilet",
)
"""Where a held object is put down when it is in the way, best first."""


class NoPlanError(Exception):
    """The planner finds no plan from the current state."""


class HiddenError(NoPlanError):
    """The plan needs an object that is not visible from anywhere."""

    def __init__(self, thing: ThorObject) -> None:
        super().__init__(f"{thing.id} can't be seen from anywhere.")
        self.thing = thing


@dataclass(frozen=True, slots=True)
class PlanStep:
    """One interaction or navigation of a plan."""

    verb: str
    thing: ThorObject
    """The object; for "put" the receptacle."""


class PlanDraft:
    """Collects steps and tracks the hand, doors, switches and positions of objects."""

    def __init__(
        self,
        world: ThorObjects,
        memory: Memory,
        x: float,
        z: float,
        hidden: Set[str] = frozenset(),
        probe: SceneProbe | None = None,
    ) -> None:
        """Start an empty plan.

        Args:
            world: as it is now.
            memory: what the agent has seen, and what it was refused.
            x: where the agent is, metres.
            z: the same.
            hidden: ids of what cannot be found.
            probe: in the present state; without them nothing is tried.
        """
        self.world = world
        self._hidden = hidden
        self._probe = probe
        self._nodded = False
        """Whether the head will be tilted, so that what is in view now may no longer be."""
        self.steps: list[PlanStep] = []
        self._refused = memory.refused
        self._seen = memory.seen
        self._here = (x, z)
        self._at: str | None = None
        self._open = {thing.id: thing.open for thing in world if thing.openable}
        self._on = {thing.id: thing.on for thing in world if thing.toggleable}
        self._moved: dict[str, ThorObject | None] = {}
        self.held = world.held

    # What is the case.

    def holder(self, thing: ThorObject) -> ThorObject | None:
        """The direct receptacle of an object."""
        if thing.id in self._moved:
            return self._moved[thing.id]
        around = self.world.around(thing)
        return around[0] if around else None

    def shut_in(self, thing: ThorObject) -> ThorObject | None:
        """The closed receptacle around an object, if any."""
        around = {thing.id}  # THOR's rooms have objects that lie in each other.
        outer = self.holder(thing)
        while outer is not None and outer.id not in around:
            if outer.type in ENCLOSING and not self._open.get(outer.id, True):
                return outer
            around.add(outer.id)
            outer = self.holder(outer)
        return None

    def allowed(self, verb: str, thing: ThorObject, item: ThorObject | None = None) -> bool:
        """Whether the simulator has not yet refused this interaction."""
        key = f"{verb} {thing.id}" + (f" {item.id}" if item is not None else "")
        known = {thing.id, *(outer.id for outer in self.world.around(thing))}
        return (
            key not in self._refused
            and f"go to {thing.id}" not in self._refused
            and self._hidden.isdisjoint(known)
        )

    def nearest(self, things: Sequence[ThorObject]) -> ThorObject | None:
        """The object that takes least effort: not enclosed, seen, and near."""
        return min(things, key=self._effort, default=None)

    def _effort(self, thing: ThorObject) -> tuple[object, ...]:
        return (
            self.shut_in(thing) is not None,
            thing.id not in self._seen,
            self._probe is not None and not self._at_hand(thing),
            round(thing.reach(*self._here), 2),
            thing.id,
        )

    def nearest_with_room(
        self, places: Sequence[ThorObject], item: ThorObject
    ) -> ThorObject | None:
        """The receptacle that takes least effort, of those in which an object fits."""
        ranked = sorted(places, key=self._effort)
        if self._probe is None:
            return next(iter(ranked), None)
        return next((place for place in ranked if self._probe.has_room(place, item)), None)

    def _at_hand(self, thing: ThorObject) -> bool:
        """Whether one can interact with an object without a walk, with those planned so far."""
        if any(step.verb == "go to" for step in self.steps):
            return False
        if thing.visible and not self._nodded:
            return True
        return self._probe is not None and self._probe.in_sight(thing)

    # Steps.

    def go(self, thing: ThorObject) -> None:
        """Go to where the agent can interact with it."""
        if self._at == thing.id:
            return
        if self._at_hand(thing):
            self._nodded = self._nodded or not thing.visible
            return
        self.steps.append(PlanStep("go to", thing))
        self._at = thing.id
        self._here = (thing.center[0], thing.center[2])

    def do(self, verb: str, thing: ThorObject) -> None:
        """Go there and execute the verb."""
        self.go(thing)
        self.steps.append(PlanStep(verb, thing))

    def open(self, thing: ThorObject) -> None:
        """Make sure that it is open."""
        if not self._open.get(thing.id, True):
            if thing.type in RUNS_CLOSED:
                self.switch(thing, False)
            self.do("open", thing)
            self._open[thing.id] = True

    def close(self, thing: ThorObject) -> None:
        """Make sure that it is closed."""
        if self._open.get(thing.id, False):
            self.do("close", thing)
            self._open[thing.id] = False

    def switch(self, thing: ThorObject, on: bool) -> None:
        """Make sure that it is on, or off."""
        if self._on[thing.id] != on:
            self.do("turn on" if on else "turn off", thing)
            self._on[thing.id] = on

    def uncover(self, thing: ThorObject) -> None:
        """Open every receptacle that encloses it."""
        while (shut := self.shut_in(thing)) is not None:
            self.open(shut)

    def take(self, thing: ThorObject) -> None:
        """Make sure that it is in the hand."""
        if self.held is not None and self.held.id == thing.id:
            return
        self.free_hand(away_from=self.holder(thing))
        door = self.shut_in(thing) or self._open_door(thing)
        self.uncover(thing)
        self.do("pick up", thing)
        self.held = thing
        self._moved[thing.id] = None
        if door is not None:
            self.close(door)

    def _open_door(self, thing: ThorObject) -> ThorObject | None:
        """The open door or drawer that holds it, to be closed again afterwards."""
        outer = self.holder(thing)
        return outer if outer is not None and outer.type in DOORS and self._open[outer.id] else None

    def put(self, place: ThorObject) -> None:
        """Put the held object there."""
        self.uncover(place)
        if place.type in ENCLOSING:
            self.open(place)
        self.do("put", place)
        if self.held is not None:
            self._moved[self.held.id] = place
        self.held = None

    def free_hand(self, away_from: ThorObject | None = None) -> None:
        """Put down the held object on a nearby surface."""
        if self.held is None:
            return
        place = self._surface(self.held, away_from)
        if place is None:
            self.steps.append(PlanStep("drop", self.held))
            self._moved[self.held.id] = None
            self.held = None
        else:
            self.put(place)

    def _surface(self, item: ThorObject, away_from: ThorObject | None) -> ThorObject | None:
        free = [
            place
            for place in self.world.of_type(*_SURFACES)
            if place.receptacle and self.allowed("put", place, item)
        ]

        def trouble(place: ThorObject) -> tuple[object, ...]:
            return (
                place.id not in self._seen,
                not place.visible,
                _SURFACES.index(place.type) // 4,
                round(place.reach(*self._here), 2),
                place.id,
            )

        best = min(free, key=trouble, default=None)
        if best is None and away_from is not None and not away_from.openable:
            return away_from
        return best

    def slice(self, whole: ThorObject) -> list[ThorObject]:
        """Slice an object and put the knife down. Returns the expected slices."""
        if self.held is None or self.held.type not in KNIVES:
            knives = [k for k in self.world.of_type(*sorted(KNIVES)) if self.allowed("pick up", k)]
            knife = self.nearest(knives)
            if knife is None:
                raise NoPlanError("There is no knife.")
            self.take(knife)
        self.uncover(whole)
        self.do("slice", whole)
        slices = [
            replace(
                whole,
                id=f"{whole.id}|{whole.type}{SLICED}_{number}",
                type=f"{whole.type}{SLICED}",
                record={**whole.record, "visible": False},
            )
            for number in (1, 2)
        ]
        for piece in slices:
            self._moved[piece.id] = self.holder(whole)
        self.free_hand(away_from=self.holder(whole))
        return slices


# What an agent would see if it explored: for plans that need objects it has not seen yet.
#
# The simulator shows it: the agent is set to the poses it would take up, and back to where it was.


class ImaginedWalk:
    """Simulates a walk: its position, and the objects that it would have shown.

    Views are rendered only when an answer depends on them: walks to known objects are noted, and
    made up for later.
    """

    def __init__(self, episode: EpisodeState) -> None:
        self._episode = episode
        self._stand: Stand = episode.stand
        self._searched: dict[Cell, None] = dict(episode.memory.searched)
        self._seen = set(episode.memory.seen)
        self._pending: list[ThorObject] = []

    @property
    def seen(self) -> Set[str]:
        """Ids of all objects seen by now."""
        self._catch_up()
        return self._seen

    def has_seen(self, thing: ThorObject) -> bool:
        """Whether an object has been seen by now."""
        return thing.id in self._seen or thing.id in self.seen

    def explore(self) -> bool:
        """Look around: at first here, then where the exploration skill would go next. False if
        nothing is left to explore.
        """
        self._catch_up()
        if self._searched:
            goal = walking.choose(self._episode.grid.ways(self._stand), self._searched)
            if goal is None:
                return False
            self._stand = goal
        x, z, heading = self._stand
        turn = walking.turn_for(self._episode.field_of_view)
        self._searched[x, z] = None
        height = self._episode.body.pose.y
        with self._episode.views.away():
            for tilt in walking.TILTS:
                for turned in range(0, 360, turn):
                    facing = (heading + turned) % 360
                    self._glance(AgentPose(x * STEP, height, z * STEP, facing, tilt))
        return True

    def go_to(self, thing: ThorObject) -> None:
        """Walk to an object."""
        self._pending.append(thing)

    def shows(self, thing: ThorObject, wanted: ThorObject) -> bool:
        """Whether navigating to one object would show another."""
        if self._episode.world.shut_in(thing) is not None:
            return False
        self._catch_up()
        pose = vantage(self._episode, thing, self._stand)
        if pose is None:
            return False
        with self._episode.views.away():
            return wanted.id in self._episode.views.noticed(pose)

    def _catch_up(self) -> None:
        """Make the walks that were noted."""
        pending, self._pending = self._pending, []
        for thing in pending:
            pose = vantage(self._episode, thing, self._stand)
            if pose is not None:
                self._stand = stand_of(pose)
                with self._episode.views.away():
                    self._glance(pose)

    def _glance(self, pose: AgentPose) -> None:
        self._seen.update(self._episode.views.noticed(pose))


_MOST_EXPLORING = 40
_NEAREST_LANDMARKS, _MOST_LANDMARKS = 1, 8
"""Objects that may show another from near, before and after the whole room is explored."""


def to_actions(
    episode: EpisodeState, steps: Sequence[PlanStep], *, as_far_as_possible: bool = False
) -> Sequence[Action]:
    """Convert plan steps to actions, each of which is executable in its turn.

    Args:
        episode: the current state.
        steps: the plan.
        as_far_as_possible: end before what cannot be found, instead of raising.

    Raises:
        HiddenError: something that the plan needs cannot be found by exploring.
    """
    writer = _ActionWriter(episode, steps)
    for step in steps:
        said = len(writer.actions)
        try:
            writer.add(step)
        except HiddenError:
            if not as_far_as_possible:
                raise
            return tuple(writer.actions[:said])
    return tuple(writer.actions)


class _ActionWriter:
    def __init__(self, episode: EpisodeState, steps: Sequence[PlanStep]) -> None:
        self._episode = episode
        self._imagined: ImaginedWalk | None = None
        if any(self._unseen(step.thing) for step in steps if step.verb == "go to"):
            self._imagined = ImaginedWalk(episode)
        self._opened: set[str] = set()
        self._focus: str | None = None
        self.actions: list[Action] = []

    def _unseen(self, thing: ThorObject) -> bool:
        return thing.id in self._episode.names and thing.id not in self._episode.memory.seen

    def add(self, step: PlanStep) -> None:
        """Add one plan step."""
        thing = step.thing
        if step.verb == "go to":
            self._search(thing)
            if self._imagined is not None and thing.id in self._episode.world:
                self._imagined.go_to(thing)
        if step.verb == "drop":
            self.actions.append(say("drop"))
            return
        if step.verb == "open":
            self._opened.add(thing.id)
        extra = (IT,) if step.verb == "put" else ()
        self.actions.append(say(step.verb, *extra, self._name(step.verb, thing)))
        self._focus = thing.id

    def _search(self, thing: ThorObject) -> None:
        """Explore until the object has been seen."""
        if self._imagined is None or thing.id not in self._episode.world:
            return
        if any(outer.id in self._opened for outer in self._episode.world.around(thing)):
            return
        for _ in range(_MOST_EXPLORING):
            if self._imagined.has_seen(thing):
                return
            if self._look_from_near(thing, _NEAREST_LANDMARKS):
                return
            fresh = not self.actions and not self._episode.memory.searched
            if self._imagined.explore():
                self.actions.append(say("look around" if fresh else "explore"))
            elif self._look_from_near(thing, _MOST_LANDMARKS):
                return
            else:
                raise HiddenError(thing)

    def _look_from_near(self, thing: ThorObject, most: int) -> bool:
        """Whether an object that is too small to see from afar is found by going to one of the
        `most` nearest objects that were seen.
        """
        assert self._imagined is not None
        things = (self._episode.world.get(id) for id in sorted(self._imagined.seen))
        known = [t for t in things if t is not None and t.id in self._episode.names and not t.held]
        known.sort(key=lambda t: (apart(t.center, thing.center), t.id))
        for other in known[:most]:
            if self._imagined.shows(other, thing):
                self.actions.append(say("go to", self._name("go to", other)))
                self._imagined.go_to(other)
                return True
        return False

    def _name(self, verb: str, thing: ThorObject) -> str:
        said = word(thing.type)
        if thing.id not in self._episode.names or thing.id == self._focus:
            return said
        if not self.actions:
            return self._episode.reference().name(verb, thing)
        alike = [t for t in self._episode.world.of_type(thing.type) if t.id in self._episode.names]
        return said if len(alike) == 1 else self._episode.names.of(thing.id)
