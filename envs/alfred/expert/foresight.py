"""What an agent would see if it explored: for plans that need things it has not seen yet.

The simulator shows it: the agent is set to the poses it would take up, and back to where it was.
"""

from __future__ import annotations

from envs.alfred.body import Pose
from envs.alfred.memory import Cell
from envs.alfred.objects import Thing
from envs.alfred.routes import STEP, Stand
from envs.alfred.situation import Situation
from envs.alfred.skills import exploring
from envs.alfred.skills.vantage import stand_of, vantage


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
                    self._glance(Pose(x * STEP, height, z * STEP, facing, tilt))
        return True

    def go_to(self, thing: Thing) -> None:
        """Walk to a thing."""
        pose = vantage(self._here, thing, self._stand)
        if pose is not None:
            self._stand = stand_of(pose)
            with self._here.views.away():
                self._glance(pose)

    def shows(self, thing: Thing, wanted: Thing) -> bool:
        """Whether going to one thing would show another."""
        if self._here.world.shut_in(thing) is not None:
            return False
        pose = vantage(self._here, thing, self._stand)
        if pose is None:
            return False
        with self._here.views.away():
            return wanted.id in self._here.views.noticed(pose)

    def _glance(self, pose: Pose) -> None:
        self.seen.update(self._here.views.noticed(pose))
