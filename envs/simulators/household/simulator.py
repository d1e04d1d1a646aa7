"""The simulator: one THOR action in, one result out."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import count
from math import hypot
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pydantic import JsonValue

from inhabit.envs.core import SceneError
from inhabit.envs.simulators.household import effects
from inhabit.envs.simulators.household.actions import ACTIONS, OF_ARM
from inhabit.envs.simulators.household.actions.arguments import (
    ActionFunction,
    Number,
    Refusal,
    ThorAction,
)
from inhabit.envs.simulators.household.actions.arranging import set_old_object_poses
from inhabit.envs.simulators.household.actions.points import at_pixel
from inhabit.envs.simulators.household.actions.table import OLDEST_ALONE, REFUSED, UNARMED
from inhabit.envs.simulators.household.drawing.picture import Randomization, RoomPicture
from inhabit.envs.simulators.household.episode.house import House, ObjectVisibility, Settings
from inhabit.envs.simulators.household.geometry.boxes import STEP
from inhabit.envs.simulators.household.placement import placing, surfaces
from inhabit.envs.simulators.household.rooms import procedural
from inhabit.envs.simulators.household.rooms.ithor import Room
from inhabit.envs.simulators.household.rooms.shared import Shared
from inhabit.envs.simulators.household.rooms.user_rooms import Catalog, in_build
from inhabit.envs.simulators.household.state.agent import (
    FAR_PLANE,
    NEAR_PLANE,
    AgentState,
    FixedCamera,
)
from inhabit.envs.simulators.household.state.robot_arm import RobotArm
from inhabit.envs.simulators.household.state.world import SimObject, WorldSnapshot
from inhabit.envs.simulators.render.stage import Frame

_WIDEST = 4096
"""Longest side of an image, in pixels."""
_SMOOTHEST = 4
_MOST_AGENTS = 8
_APART = 0.75
"""Metres between two agents at the start."""
_MODES = ("default", "locobot", "bot", "arm")
_STAGES = 3
"""Number of rooms whose stages are kept: about 10 MB each."""


@dataclass(frozen=True, slots=True)
class ActionResult:
    """The result of an action."""

    success: bool
    message: str = ""
    """The error message."""
    code: str = ""
    """THOR's errorCode, or empty."""
    value: JsonValue = None
    """THOR's actionReturn."""


@dataclass(frozen=True, slots=True, eq=False)
class SimulatorSnapshot:
    """A state to restore."""

    house: House
    snapshot: WorldSnapshot
    randomization: Randomization
    settings: Settings
    cameras: tuple[FixedCamera, ...]


class Simulator:
    """One agent in one room at a time.

    Between two actions nothing changes; an action that fails changes nothing either. The same
    scene, seed and actions give the same replies and the same bytes of every image.
    """

    def __init__(
        self,
        scene: str = "FloorPlan1",
        *,
        width: int = 300,
        height: int = 300,
        seed: int = 0,
        catalog: Catalog | None = None,
        shared: Shared | None = None,
        release: str = "",
    ) -> None:
        """Load the first room.

        Args:
            scene: such as "FloorPlan1".
            width: of the images, pixels; 300 if there are too many.
            height: of the images, pixels; 300 if there are too many.
            seed: chooses where the agent starts in a room.
            catalog: the rooms that there are; None for iTHOR's, or those of `shared`.
            shared: what it has in common with other simulators; None for nothing.
            release: of AI2-THOR, whose rules are followed to the letter, such as "5.0.0"; empty for
                those that tasks of `inhabit` were made with. That of 2.1.0 ignores arguments that
                an action does not take, gives those that it lacks the value 0, and knows other
                object names in SetObjectPoses.

        Raises:
            SceneError: there is no such room.
            UnavailableError: the rooms are not installed.
        """
        self._seed = seed
        self._release = release
        self._any_argument = release == "2.1.0"
        self._revisions = count(1)
        self._shared = shared or Shared(catalog)
        self._catalog = self._shared.catalog
        self._pictures: dict[str, RoomPicture] = {}
        room = self._shared.load(scene)
        # As with a screen that is too small: the client then asks for the size that it wants.
        width, height = (side if 1 <= side <= _WIDEST else 300 for side in (width, height))
        self._house = self._begin(room, Settings(width, height))
        self._snapshots: dict[int, SimulatorSnapshot] = {}
        self._tokens = count(1)
        own: Mapping[str, ActionFunction] = {
            "GetScenesInBuild": self._scenes,
            "Reset": self._reset,
            "Initialize": self._initialize,
            "ChangeResolution": self._change_resolution,
            "CreateHouse": self._create_house,
            "Snapshot": self._snapshot,
            "Restore": self._restore,
            "Forget": self._forget,
        }
        if self._any_argument:
            own = {**own, "SetObjectPoses": set_old_object_poses}
        self._own = {name: ThorAction(name, function) for name, function in own.items()}

    def _begin(self, room: Room, settings: Settings) -> House:
        """Begin an episode. The stages of the last few rooms are kept."""
        picture = self._pictures.pop(room.name, None)
        if picture is not None:
            if picture.room is room:
                picture.forget()
            else:  # the file of one of the user's own rooms was read again
                picture = None
        house = House(
            room,
            settings,
            self._seed,
            self._revisions,
            self._shared,
            picture,
            release=self._release,
        )
        self._pictures[room.name] = house.picture
        for old in list(self._pictures)[:-_STAGES]:
            del self._pictures[old]
        return house

    def act(self, request: Mapping[str, Any]) -> ActionResult:
        """Execute one action.

        Args:
            request: THOR's JSON, such as {"action": "MoveAhead", "moveMagnitude": 0.25}.
        """
        name = request.get("action")
        number, agents = request.get("agentId") or 0, len(self._house.world.agents)
        if not (isinstance(number, int) and 0 <= number < agents):
            text = f"agentId must be 0 to {agents - 1}: that many agents there are; got {number!r}."
            return ActionResult(False, text, "InvalidArgument")
        self.turn_to(number)
        limbed = OF_ARM if self.agent.robot is not None else {}
        action = limbed.get(str(name)) or self._own.get(str(name)) or ACTIONS.get(str(name))
        if action is None:
            if sentence := REFUSED.get(str(name)) or UNARMED.get(str(name)):
                return ActionResult(False, sentence)
            return ActionResult(False, _unknown(name, [*self._own, *ACTIONS]), "InvalidAction")
        dropped = OLDEST_ALONE.get(str(name), frozenset()) & request.keys()
        if dropped and self._release and not self._any_argument:
            text = f'Action: "{name}" called with invalid argument: {", ".join(dropped)}, which '
            text += "releases after 2.1.0 do not have: objectId is that of the receptacle."
            return ActionResult(False, text, "InvalidArgument")
        house = self._house
        house.world.settle()
        before, randomization, version = (
            house.world.snapshot(),
            house.randomization,
            house.world.version,
        )
        cameras, settings = house.cameras, house.settings
        try:
            pointed = at_pixel(house, request, action)
            value = action(house, pointed, any_argument=self._any_argument)
            result = ActionResult(True, value=value)
        except Refusal as refusal:
            result = ActionResult(False, refusal.message, refusal.code)
            if refusal.undone:
                house.world.restore(before)
                house.randomization, house.cameras = randomization, cameras
                house.settings = settings
                return result
        world = self._house.world
        changed = world.version != version
        placing.hold(world)
        # What the agent carries along is as it was, unless it may spill.
        if changed or (world.version != version and world.rules.turned_over_spills):
            effects.settle(world)
        return result

    @property
    def agents(self) -> int:
        """The number of agents."""
        return len(self._house.world.agents)

    def turn_to(self, number: int) -> None:
        """Have what follows concern the agent of a number."""
        self._house.world.active = number

    def now(self) -> SimulatorSnapshot:
        """A snapshot of the current state. It takes no time, since all state is immutable."""
        return _now(self._house)

    @contextmanager
    def back(self, then: SimulatorSnapshot) -> Iterator[None]:
        """For a block of code, restore an earlier state. What the block changes is undone."""
        now = self.now()
        if _same(now, then):
            try:
                yield
            finally:
                if not _same(self.now(), now):
                    self._return(now)
            return
        there = _now(then.house)
        self._return(then)
        try:
            yield
        finally:
            self._return(there)
            self._return(now)

    def _return(self, then: SimulatorSnapshot) -> None:
        self._house = house = then.house
        house.world.restore(then.snapshot)
        house.randomization, house.settings, house.cameras = (
            then.randomization,
            then.settings,
            then.cameras,
        )

    def frame(self, *, rgb: bool = True) -> Frame:
        """The agent's view: depth and ids, and colours on request. Cached until a change."""
        return self._house.see(rgb=rgb)

    def picture(self, width: int, height: int) -> NDArray[np.uint8]:
        """The agent's view in another size in pixels, uint8 (height, width, 3). Not cached."""
        pictured = self._house.look(self._house.camera(), (width, height), rgb=True).rgb
        assert pictured is not None
        return pictured.copy()

    def film(self, *, rgb: bool = True) -> Sequence[Frame]:
        """The views of the third-party cameras."""
        return self._house.film(rgb=rgb)

    def normals(self) -> Sequence[NDArray[np.float32]]:
        """How the seen faces are turned, for the agent's view and each third-party camera.

        Each is float32 (height, width, 3): along right, up and towards the camera. Not cached.
        """
        return self._house.normals()

    @property
    def cameras(self) -> Sequence[FixedCamera]:
        """The third-party cameras, in the order of their numbers."""
        return self._house.cameras

    def visibility(self) -> Mapping[str, ObjectVisibility]:
        """THOR's `distance`, `visible` and `isInteractable` of every object, by id."""
        return self._house.sights()

    def near(self) -> Sequence[str]:
        """Ids of the objects that are visible and within reach, in THOR's order."""
        return self._house.near()

    def shown(self) -> Mapping[str, int]:
        """Number of pixels of each body in the agent's view."""
        return self._house.shown()

    @property
    def things(self) -> Mapping[str, SimObject]:
        """All objects by id, in THOR's order, but those that are disabled."""
        return self._house.world.listed()

    @property
    def at_rest(self) -> bool:
        """THOR's `isSceneAtRest`."""
        world = self._house.world
        return not (
            world.rules.tells_motion and any(t["isMoving"] for t in world.listed().values())
        )

    @property
    def apart(self) -> frozenset[str]:
        """Ids that are on no object's lists of parents and contents."""
        return self._house.world.apart()

    def near_hand(self) -> list[tuple[str, bool]]:
        """What the hand of the agent's arm touches: ids, and whether each can be picked up."""
        world = self._house.world
        return [(t.id, bool(t["pickupable"])) for t in surfaces.touched(world, world.agent)]

    @property
    def agent(self) -> AgentState:
        """The agent's pose, and the held object."""
        return self._house.agent

    @property
    def settings(self) -> Settings:
        """The values of `Initialize` and `ChangeResolution`."""
        return self._house.settings

    @property
    def scene(self) -> str:
        """THOR's name, such as "FloorPlan1_physics"."""
        return in_build(self._house.world.room.name)

    @property
    def bounds(self) -> Mapping[str, JsonValue]:
        """The room's bounds, as THOR's `sceneBounds`."""
        return self._house.bounds()

    def _scenes(self, house: House) -> JsonValue:
        return [*(in_build(name) for name in self._catalog.names), procedural.NAME]

    def _reset(self, house: House, *, scene_name: str, **others: Any) -> None:
        try:
            room = self._shared.load(scene_name)
            self._house = self._begin(room, replace(house.settings, map_view=False, listed=None))
        except SceneError as error:
            raise Refusal(str(error)) from error

    def _create_house(self, current: House, *, house: dict[str, Any]) -> None:
        """Make a ProcTHOR house the scene."""
        try:
            room = procedural.build(house)
            self._house = self._begin(room, current.settings)
        except SceneError as error:
            raise Refusal(str(error)) from error

    def _snapshot(self, house: House) -> JsonValue:
        """Take a snapshot, an action of ours, not THOR's. Returns its number."""
        token = next(self._tokens)
        self._snapshots[token] = self.now()
        return token

    def _restore(self, house: House, *, snapshot: int) -> None:
        """Restore a snapshot, also one of another room."""
        kept = self._kept(snapshot)
        # Third-party cameras stay: they are not part of the snapshot.
        self._return(replace(kept, cameras=kept.house.cameras))

    def _forget(self, house: House, *, snapshot: int) -> None:
        """Delete a snapshot."""
        self._kept(snapshot)
        del self._snapshots[snapshot]

    def _kept(self, snapshot: int) -> SimulatorSnapshot:
        if snapshot not in self._snapshots:
            raise Refusal(f"There is no snapshot {snapshot}.")
        return self._snapshots[snapshot]

    def _change_resolution(self, house: House, *, x: Number, y: Number) -> None:
        self._resize(house, x, y)

    def _initialize(
        self,
        house: House,
        *,
        grid_size: Number = 0.25,
        visibility_distance: Number = 1.5,
        field_of_view: Number | None = None,
        rotate_step_degrees: Number = 90.0,
        snap_to_grid: bool = True,
        antialias: int = 1,
        width: Number | None = None,
        height: Number | None = None,
        agent_count: int = 1,
        agent_mode: str = "default",
        **others: Any,
    ) -> JsonValue:
        mode = agent_mode.lower()
        if mode not in _MODES:
            raise Refusal(
                f"agentMode {agent_mode!r} is not simulated: there are {', '.join(_MODES)}, of "
                'which all but "arm" have the default agent\'s body.'
            )
        if not 1 <= agent_count <= _MOST_AGENTS:
            raise Refusal(f"agentCount must be 1 to {_MOST_AGENTS}; got {agent_count}.")
        for name, value in (
            ("gridSize", grid_size),
            ("visibilityDistance", visibility_distance),
            ("rotateStepDegrees", rotate_step_degrees),
        ):
            if value <= 0:
                raise Refusal(f"{name} must be positive; it is {value:g}.")
        if not 1 <= antialias <= _SMOOTHEST:
            raise Refusal(f"antialias must be 1 (off) to {_SMOOTHEST}; got {antialias}.")
        fov = house.settings.field_of_view if field_of_view is None else field_of_view
        if not 1 <= fov < 180:
            raise Refusal("fov must be set to (0, 180) noninclusive.")
        self._resize(house, width, height)
        arm = RobotArm() if mode == "arm" else None
        agents = tuple(replace(agent, robot=arm) for agent in _gathered(house, agent_count))
        if house.world.active >= agent_count:  # The one that asked is not among them.
            house.world.active = 0
        house.world.agents = agents
        house.settings = replace(
            house.settings,
            grid_size=grid_size,
            visibility_distance=visibility_distance,
            field_of_view=fov,
            rotate_step=rotate_step_degrees,
            snap_to_grid=snap_to_grid,
            antialias=antialias,
        )
        return {"cameraNearPlane": NEAR_PLANE, "cameraFarPlane": FAR_PLANE}

    def _resize(self, house: House, width: float | None, height: float | None) -> None:
        sides = [
            now if side is None else side
            for side, now in ((width, house.settings.width), (height, house.settings.height))
        ]
        if not all(side == int(side) and 1 <= side <= _WIDEST for side in sides):
            raise Refusal(f"width and height must be 1 to {_WIDEST} pixels; got {sides}.")
        house.settings = replace(house.settings, width=int(sides[0]), height=int(sides[1]))


def _gathered(house: House, count: int) -> tuple[AgentState, ...]:
    """The first agent, and others on the nearest cells that are not too near to any."""
    agents = list(house.world.agents[:count])
    first = agents[0]
    places = sorted(
        (hypot(column * STEP - first.x, row * STEP - first.z), column * STEP, row * STEP)
        for column, row in house.world.cells
    )
    for _, x, z in places:
        if len(agents) < count and all(hypot(x - a.x, z - a.z) >= _APART for a in agents):
            agents.append(AgentState(x, first.y, z, first.rotation))
    if len(agents) < count:
        raise Refusal(f"The room has no place for {count} agents.")
    return tuple(agents)


def _now(house: House) -> SimulatorSnapshot:
    return SimulatorSnapshot(
        house, house.world.snapshot(), house.randomization, house.settings, house.cameras
    )


def _same(one: SimulatorSnapshot, other: SimulatorSnapshot) -> bool:
    """Whether two snapshots are equal; they may be of different rooms."""
    return (
        one.house is other.house
        and one.snapshot.version == other.snapshot.version
        and one.snapshot.agents == other.snapshot.agents
        and one.randomization == other.randomization
        and one.settings == other.settings
        and one.cameras == other.cameras
    )


def _unknown(name: object, known: Sequence[str]) -> str:
    near = difflib.get_close_matches(str(name), known, n=3)
    hint = f" Did you mean {', '.join(near)}?" if near else ""
    return f"Invalid action: {name}. The embedded household has no such action.{hint}"
