"""A plan's steps as actions that can be said, with the exploring that they need."""

from __future__ import annotations

from collections.abc import Sequence

from inhabit.envs.alfred.expert.draft import HiddenError, PlanStep
from inhabit.envs.alfred.language.grammar import IT, say
from inhabit.envs.alfred.language.naming import word
from inhabit.envs.alfred.skills import exploring
from inhabit.envs.alfred.skills.memory import Cell
from inhabit.envs.alfred.skills.routes import STEP, Stand
from inhabit.envs.alfred.skills.situation import Situation
from inhabit.envs.alfred.skills.vantage import stand_of, vantage
from inhabit.envs.alfred.thor.body import AgentPose
from inhabit.envs.alfred.thor.objects import ThorObject, apart
from inhabit.envs.core import Action

# What an agent would see if it explored: for plans that need things it has not seen yet.
#
# The simulator shows it: the agent is set to the poses it would take up, and back to where it was.


class Foresight:
    """A walk that is only imagined: where it has come, and what it would have shown."""

    def __init__(self, here: Situation) -> None:
        self._here = here
        self._stand: Stand = here.stand
        self._searched: dict[Cell, None] = dict(here.memory.searched)
        self.seen = set(here.memory.seen)

    def explore(self) -> bool:
        """Look around at the place where the skill would go next. False if there is none."""
        goal = exploring.choose(self._here.grid.ways(self._stand), self._searched)
        if goal is None:
            return False
        x, z, heading = self._stand = goal
        turn = exploring.turn_for(self._here.field_of_view)
        self._searched[x, z] = None
        height = self._here.body.pose.y
        with self._here.views.away():
            for tilt in exploring.TILTS:
                for turned in range(0, 360, turn):
                    facing = (heading + turned) % 360
                    self._glance(AgentPose(x * STEP, height, z * STEP, facing, tilt))
        return True

    def go_to(self, thing: ThorObject) -> None:
        """Walk to a thing."""
        pose = vantage(self._here, thing, self._stand)
        if pose is not None:
            self._stand = stand_of(pose)
            with self._here.views.away():
                self._glance(pose)

    def shows(self, thing: ThorObject, wanted: ThorObject) -> bool:
        """Whether going to one thing would show another."""
        if self._here.world.shut_in(thing) is not None:
            return False
        pose = vantage(self._here, thing, self._stand)
        if pose is None:
            return False
        with self._here.views.away():
            return wanted.id in self._here.views.noticed(pose)

    def _glance(self, pose: AgentPose) -> None:
        self.seen.update(self._here.views.noticed(pose))


_MOST_EXPLORING = 40
_MOST_LANDMARKS = 8


def put_in_words(
    here: Situation, steps: Sequence[PlanStep], *, as_far_as_possible: bool = False
) -> Sequence[Action]:
    """The actions, each of which can be carried out in its turn.

    Args:
        here: where and when.
        steps: the plan.
        as_far_as_possible: end before what can't be found, instead of raising.

    Raises:
        HiddenError: something that the plan needs can't be found by exploring.
    """
    speech = _Speech(here, steps)
    for step in steps:
        said = len(speech.actions)
        try:
            speech.add(step)
        except HiddenError:
            if not as_far_as_possible:
                raise
            return tuple(speech.actions[:said])
    return tuple(speech.actions)


class _Speech:
    def __init__(self, here: Situation, steps: Sequence[PlanStep]) -> None:
        self._here = here
        self._foresight: Foresight | None = None
        if any(self._unseen(step.thing) for step in steps if step.verb == "go to"):
            self._foresight = Foresight(here)
        self._opened: set[str] = set()
        self._focus: str | None = None
        self.actions: list[Action] = []

    def _unseen(self, thing: ThorObject) -> bool:
        return thing.id in self._here.names and thing.id not in self._here.memory.seen

    def add(self, step: PlanStep) -> None:
        """One more step."""
        thing = step.thing
        if step.verb == "go to":
            self._search(thing)
            if self._foresight is not None and thing.id in self._here.world:
                self._foresight.go_to(thing)
        if step.verb == "drop":
            self.actions.append(say("drop"))
            return
        if step.verb == "open":
            self._opened.add(thing.id)
        extra = (IT,) if step.verb == "put" else ()
        self.actions.append(say(step.verb, *extra, self._name(step.verb, thing)))
        self._focus = thing.id

    def _search(self, thing: ThorObject) -> None:
        """Explore until the thing has been seen."""
        if self._foresight is None or thing.id not in self._here.world:
            return
        if any(outer.id in self._opened for outer in self._here.world.around(thing)):
            return
        for _ in range(_MOST_EXPLORING):
            if thing.id in self._foresight.seen:
                return
            fresh = not self.actions and not self._here.memory.searched
            if not self._foresight.explore():
                self._look_from_near(thing)
                return
            self.actions.append(say("look around" if fresh else "explore"))

    def _look_from_near(self, thing: ThorObject) -> None:
        """Find what is too small to be seen from afar by going to something beside it."""
        assert self._foresight is not None
        things = (self._here.world.get(id) for id in sorted(self._foresight.seen))
        known = [t for t in things if t is not None and t.id in self._here.names and not t.held]
        known.sort(key=lambda t: (apart(t.center, thing.center), t.id))
        for other in known[:_MOST_LANDMARKS]:
            if self._foresight.shows(other, thing):
                self.actions.append(say("go to", self._name("go to", other)))
                self._foresight.go_to(other)
                return
        raise HiddenError(thing)

    def _name(self, verb: str, thing: ThorObject) -> str:
        said = word(thing.type)
        if thing.id not in self._here.names or thing.id == self._focus:
            return said
        if not self.actions:
            return self._here.reference().name(verb, thing)
        alike = [t for t in self._here.world.of_type(thing.type) if t.id in self._here.names]
        return said if len(alike) == 1 else self._here.names.of(thing.id)
