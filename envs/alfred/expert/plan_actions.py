"""Turns the steps of a plan into actions, with the exploration that they need."""

from __future__ import annotations

from collections.abc import Sequence, Set

from inhabit.envs.alfred.episode.state import EpisodeState
from inhabit.envs.alfred.expert.plan_draft import HiddenError, PlanStep
from inhabit.envs.alfred.language.grammar import say
from inhabit.envs.alfred.language.naming import word
from inhabit.envs.alfred.skills import exploration
from inhabit.envs.alfred.skills.vantage import stand_of, vantage
from inhabit.envs.alfred.thor.body import AgentPose
from inhabit.envs.alfred.thor.objects import ThorObject, apart
from inhabit.envs.alfred.thor.routes import STEP, Cell, Stand
from inhabit.envs.core import Action
from inhabit.envs.world.language import IT

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
            goal = exploration.choose(self._episode.grid.ways(self._stand), self._searched)
            if goal is None:
                return False
            self._stand = goal
        x, z, heading = self._stand
        turn = exploration.turn_for(self._episode.field_of_view)
        self._searched[x, z] = None
        height = self._episode.body.pose.y
        with self._episode.views.away():
            for tilt in exploration.TILTS:
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
