"""Navigation to an object as an environment."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from math import dist
from typing import Any, ClassVar

from pydantic import BaseModel

from inhabit.envs.core import (
    Action,
    Determinism,
    Env,
    Observation,
    Outcome,
    Reason,
    SceneError,
    Task,
)
from inhabit.envs.plain_data import state_digest, validated_scene
from inhabit.envs.simulators.household.rooms.user_rooms import Catalog
from inhabit.envs.simulators.household.simulator import Simulator, SimulatorSnapshot
from inhabit.envs.thor_nav import ThorNavSettings
from inhabit.envs.thor_nav.tasks import MOVES, NavScene, restored, shortest

_GRID = 0.1
"""Step of the grid in metres: positions are multiples of it, as in both benchmarks."""
_TURNS: Mapping[str, tuple[str, float]] = {
    "turn right": ("RotateRight", 90.0),
    "turn left": ("RotateLeft", 90.0),
    "look up": ("LookUp", 30.0),
    "look down": ("LookDown", 30.0),
}
_SAID: Mapping[str, str] = {
    "move forward": "move (?:forward|ahead)",
    "move backward": "move back(?:ward)?",
    "move right": "move right(?:ward)?",
    "move left": "move left(?:ward)?",
    "turn right": "(?:turn|rotate) (?:to the )?right",
    "turn left": "(?:turn|rotate) (?:to the )?left",
    "look up": "look up|tilt the camera upward",
    "look down": "look down|tilt the camera downward",
}
"""How both benchmarks word each action: "moveahead", "Rotate to the right by 90 degrees."."""
_VOCABULARY = tuple(Action(text, text.replace(" ", "_")) for text in [*MOVES, *_TURNS])
_DONE = "Last action is executed successfully."
_FAILED = "Last action is not executed successfully."


def make(backend: str, settings: ThorNavSettings) -> ThorNav:
    """An environment on the embedded household, in this process."""
    return ThorNav(settings)


class ThorNav(Env):
    """An agent in one of iTHOR's rooms that walks to within a metre of a target."""

    Scene: ClassVar[type[BaseModel]] = NavScene
    determinism = Determinism.FRAMES

    def __init__(self, settings: ThorNavSettings | None = None) -> None:
        self._settings = settings or ThorNavSettings()
        self._simulator: Simulator | None = None
        self._kept: SimulatorSnapshot | None = None
        self._goal = (0.0, 0.0)
        self._target = ""
        self._planned: tuple[tuple[float, float], Sequence[str]] | None = None

    def reset(self, task: Task, *, seed: int) -> None:
        """Start `task`. The seed has no effect.

        Raises:
            SceneError: there is no such room, or the agent can't stand at the start.
        """
        scene = validated_scene(NavScene, task)
        settings = self._settings
        if self._kept is not None:  # A copy leaves the simulator to the others.
            self.close()
        if self._simulator is None:
            catalog = Catalog(recorded=settings.cells == "recorded")
            self._simulator = Simulator(
                scene.room, width=settings.width, height=settings.height, catalog=catalog
            )
        try:
            self._tell("Reset", sceneName=scene.room)
            self._tell("Initialize", gridSize=_GRID, fieldOfView=float(settings.field_of_view))
            for name in [name for name in scene.hidden if name in self._simulator.things]:
                self._tell("DisableObject", objectId=name)
            self._tell("Teleport", **scene.model_dump(include={"x", "z", "rotation", "horizon"}))
        except SceneError:
            self.close()
            raise
        self._goal = (scene.target_x, scene.target_z)
        self._target = scene.target
        self._planned = self._kept = None

    def _tell(self, action: str, **arguments: Any) -> None:
        result = self._running.act({"action": action, **arguments})
        if not result.success:
            raise SceneError(f"Can't set up the task: {action} failed: {result.message}")

    @property
    def _running(self) -> Simulator:
        if self._simulator is None:
            raise SceneError("No episode is running. Call reset first.")
        return self._simulator

    @contextmanager
    def _there(self) -> Iterator[Simulator]:
        """The simulator in the state of this environment, which a copy keeps for itself."""
        simulator = self._running
        if self._kept is None:
            yield simulator
            return
        with simulator.back(self._kept):
            yield simulator
            self._kept = simulator.now()

    def fork(self) -> ThorNav:
        """An independent copy of the current state, in the same simulator."""
        copy = ThorNav(self._settings)
        with self._there() as simulator:
            copy._simulator, copy._kept = simulator, simulator.now()
        copy._goal, copy._target, copy._planned = self._goal, self._target, self._planned
        return copy

    def observe(self) -> Observation:
        """What the agent sees, (height, width, 3), without text."""
        with self._there() as simulator:
            rgb = simulator.frame().rgb
            return Observation("", None if rgb is None else rgb.copy())

    def vocabulary(self) -> Sequence[Action]:
        """The eight actions of both benchmarks."""
        return _VOCABULARY

    def actions(self) -> Sequence[Action]:
        """All eight actions, whether or not they are blocked."""
        return _VOCABULARY

    def parse(self, text: str) -> Action | None:
        """Parse an action as text ("move forward"), as a name ("move_forward"), or in the words of
        the benchmarks: EB-Navigation's "Move forward by 0.25", VAGEN's "moveahead".
        """
        said = " ".join(text.lower().replace("_", " ").strip(" .").split())
        said = re.sub(r" by [\d.]+(?: degrees)?$", "", said)
        for action in _VOCABULARY:
            if re.fullmatch(_SAID[action.text].replace(" ", " ?"), said):
                return action
        return None

    def act(self, action: Action) -> Outcome:
        """Execute one action. Success is checked after it, as the benchmarks do."""
        request = self._request(action)
        if request is None:
            result, feedback = None, "There is no such action. Say for example: move forward."
            reason: Reason | None = Reason.UNKNOWN_ACTION
        else:
            with self._there() as simulator:
                result = simulator.act(request)
            feedback = _DONE if result.success else _FAILED
            blocked = Reason.BLOCKED if action.text in MOVES else Reason.NOT_ALLOWED
            reason = None if result.success else blocked
        return self.outcome(reason, feedback)

    def _request(self, action: Action) -> dict[str, Any] | None:
        if action.text in MOVES:
            return {"action": MOVES[action.text], "moveMagnitude": self._settings.step}
        if action.text in _TURNS:
            name, degrees = _TURNS[action.text]
            return {"action": name, "degrees": degrees}
        return None

    def progress(self) -> tuple[int, int]:
        """Whether the agent is near enough to the target, as seen from above."""
        return int(dist(self._place, self._goal) <= self._settings.success), 1

    @property
    def _place(self) -> tuple[float, float]:
        with self._there() as simulator:
            return simulator.agent.x, simulator.agent.z

    def close(self) -> None:
        """Let go of the simulator, which runs in this process."""
        self._simulator = self._kept = None

    def plan(self) -> Sequence[Action]:
        """The moves of a shortest walk; empty if the target is reached or can't be."""
        if self._planned is None or self._planned[0] != self._place:
            step, within = self._settings.step, self._settings.success
            with self._there() as simulator:
                moves = shortest(simulator, self._goal, step=step, within=within)
            self._planned = (self._place, moves or ())
        return [Action(word, word.replace(" ", "_")) for word in self._planned[1]]

    def best_actions(self) -> frozenset[Action] | None:
        """Unknown: several walks may be equally short."""
        return None

    def state(self) -> Mapping[str, Any]:
        """The agent's pose, the target, and its place among the room's objects."""
        with self._there() as simulator:
            agent, things, room = simulator.agent, simulator.things, simulator.scene
        pose = {"position": [agent.x, agent.y, agent.z], "rotation": agent.rotation}
        objects = [
            {"name": thing.id, "position": [float(thing["position"][axis]) for axis in "xyz"]}
            for thing in things.values()
            if thing.id == self._target
        ]
        return {
            "room": room,
            "agent": {**pose, "horizon": agent.horizon},
            "target": list(self._goal),
            "objects": objects,
        }

    def digest(self) -> str:
        """The first 16 hexadecimal digits of the SHA-256 of the room, the pose and the target."""
        with self._there() as simulator:
            agent, room = simulator.agent, simulator.scene
        return state_digest(
            {
                "room": room,
                "agent": [agent.x, agent.z, agent.rotation, agent.horizon],
                "target": list(self._goal),
            }
        )

    def admissible(self) -> Sequence[Action]:
        """The actions that would succeed now."""
        found = []
        for action in _VOCABULARY:
            with self._there() as simulator, restored(simulator):
                request = self._request(action)
                if request is not None and simulator.act(request).success:
                    found.append(action)
        return found
