"""MineDojo's tasks as an environment, with high-level skills in English."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, JsonValue

from inhabit.envs.core import (
    Action,
    Determinism,
    Env,
    Observation,
    Outcome,
    Reason,
    SceneObject,
    SimulatorError,
    Task,
)
from inhabit.envs.minedojo.evolution.goals import look, things
from inhabit.envs.minedojo.expert import planner
from inhabit.envs.minedojo.expert.shortest import Shortest, shortest
from inhabit.envs.minedojo.luanti.world import LuantiWorld
from inhabit.envs.minedojo.real.env import RealMineDojo
from inhabit.envs.minedojo.tasks import language
from inhabit.envs.minedojo.tasks.language import understand, vocabulary
from inhabit.envs.minedojo.tasks.scene import (
    FURNISHING,
    MineDojoScene,
    as_world,
    conditions,
    read_scene,
)
from inhabit.envs.minedojo.world import game_state
from inhabit.envs.minedojo.world.game_state import Backend, GameState, Restartable, Start
from inhabit.envs.minedojo.world.settings import MineDojoSettings
from inhabit.envs.plain_data import state_digest

_NEAR = 36
"""Radius in blocks of `find`, and of the expert's knowledge."""


def make(backend: str, settings: MineDojoSettings) -> Env:
    """The environment over one backend: "luanti", or "minedojo" for MineDojo's own Minecraft."""
    return RealMineDojo(settings) if backend == "minedojo" else MineDojo(settings)


class MineDojo(Env):
    """One agent in one voxel world. The world is started afresh for every task,
    unless it has the land of the last one, and no action has changed it.

    The state is deterministic: terrain, mobs and drops use one random generator of the mod, seeded
    by `world_seed` or, if the scene has none, by the seed of `reset`, and time passes only during
    actions. The same task, seed and actions give the same `digest` and texts in any process. The
    engine renders images asynchronously, so that some pixels may differ.

    Args:
        settings: size of the image and time for an action; the scene goes before.
        start: what starts a world; Luanti where nothing else is given.
    """

    Scene: ClassVar[type[BaseModel]] = MineDojoScene

    def __init__(self, settings: MineDojoSettings, *, start: Start = LuantiWorld) -> None:
        self._settings = settings
        self._start = start
        self._world: Backend | None = None
        self._scene = MineDojoScene()
        self._first: GameState | None = None
        self._now: GameState | None = None
        self._picture: NDArray[np.uint8] | None = None
        self._failed = False
        self._land: object = None
        """The land that the world has; None once an action may have changed it."""
        self.determinism = Determinism.STATE

    def reset(self, task: Task, *, seed: int) -> None:
        """Start `task`; `seed` decides what the scene leaves open.

        Raises:
            SceneError: the scene names something that there is not.
            SimulatorError: the world did not start.
            UnavailableError: Luanti or what it needs is not on this machine.
        """
        scene = read_scene(task)
        size = scene.image_size or (self._settings.height, self._settings.width)
        wanted = as_world(scene, seed=seed)
        land = (size, {key: wanted[key] for key in wanted if key not in FURNISHING})
        world, self._world = self._world, None
        if world is not None and (land != self._land or not isinstance(world, Restartable)):
            world.close()
            world = None
        self.close()
        if world is None:
            world = self._start(wanted, size[1], size[0])
        else:
            self._restart(world, wanted)
        self._world, self._land = world, land
        self._scene, self._failed = scene, False
        self._first = self._now = game_state.read(self._world.ask("state"))

    @staticmethod
    def _restart(world: Backend, wanted: Mapping[str, Any]) -> None:
        assert isinstance(world, Restartable)
        try:
            world.restart(wanted)
        except BaseException:
            world.close()
            raise

    def pursue(self, task: Task) -> None:
        """Take on the goal of `task`, whose scene differs in nothing else.

        Raises:
            SceneError: the scene names something that there is not.
        """
        self._there()
        self._scene = read_scene(task)

    def observe(self) -> Observation:
        """The image, uint8 (height, width, 3), and a text about health and inventory."""
        world, now = self._there()
        if self._picture is None:
            self._picture = world.settled()
        return Observation(text=game_state.in_words(now), rgb=self._picture.copy())

    def vocabulary(self) -> Sequence[Action]:
        """Every skill with every name: the same in all scenes."""
        return vocabulary()

    def actions(self) -> Sequence[Action]:
        """The skills that make sense with what is or was seen, is heard close by, and is held."""
        return language.plausible(self._there()[1])

    def parse(self, text: str) -> Action | None:
        """Parse a skill."""
        return understand(text)

    def act(self, action: Action) -> Outcome:
        """Execute one skill until it finishes or its deadline; the cost is in ticks of 1/20 s."""
        world, before = self._there()
        meant = understand(action.text)
        if meant is None:
            said = "There is no such action. Say for example: mine log."
            return self.outcome(Reason.UNKNOWN_ACTION, said, cost=0, over=before.dead)
        name = meant.arguments[0] if meant.arguments else None
        self._land = None
        came = world.ask("skill", skill=meant.verb, name=name, deadline=self._settings.deadline)
        self._failed = came.get("reason") is not None
        self._now = game_state.read(world.ask("state"))
        self._picture = None
        dead = self._now.dead
        reason = Reason(came["reason"]) if came.get("reason") else Reason.DIED if dead else None
        return self.outcome(reason, str(came["feedback"]), cost=int(came["ticks"]), over=dead)

    def progress(self) -> tuple[int, int]:
        """The number of goal conditions that hold, and their total."""
        now = self._there()[1]
        assert self._first is not None
        return conditions(self._scene, self._first, now)

    def close(self) -> None:
        """Stop the world. Safe to call twice."""
        if self._world is not None:
            self._world.close()
        self._world = self._now = self._first = self._picture = None

    def plan(self) -> Sequence[Action]:
        """A plan by the recipes from the current state; empty if solved or no plan is known.

        It is a shortest plan if `best_actions` is not None.
        """
        now, around = self._there()[1], self._around()
        if self._is_over():
            return ()
        known = self._shortest(around)
        if known is not None:
            return known.plan
        assert self._first is not None
        return planner.plan(self._scene, self._first, now, around)

    def best_actions(self) -> frozenset[Action] | None:
        """Every action that starts a shortest plan, by the recipes and what was seen.

        None where that hangs on chance or on what has not been seen yet, when the last action came
        to nothing, and when one should eat first.
        """
        if self._is_over():
            return frozenset()
        known = self._shortest(self._around())
        return None if known is None else known.best

    def things(self) -> Sequence[SceneObject]:
        """Blocks by kind, mobs one by one, and carried items, with their pixels."""
        world, now = self._there()
        height, width = self._scene.image_size or (self._settings.height, self._settings.width)
        return things(now, look(world, width, height))

    def state(self) -> Mapping[str, JsonValue]:
        """Health, inventory, mobs, and what was seen."""
        return dict(self._there()[1].raw)

    def digest(self) -> str:
        """The first 16 hexadecimal digits of the state's SHA-256."""
        return state_digest(self.state())

    def admissible(self) -> Sequence[Action]:
        """The plausible actions whose preconditions hold; paths are not tested."""
        now = self._there()[1]
        return [
            a
            for a in language.plausible(now)
            if a.verb != "eat" or now.raw["food"] < 20 or a.arguments == ("golden_apple",)
        ]

    def ask(self, op: str, **fields: Any) -> Any:
        """Send a request to the running world, for tools that see more than an agent.

        Raises:
            SimulatorError: it is gone.
        """
        self._land = None
        return self._there()[0].ask(op, **fields)

    def _is_over(self) -> bool:
        met, total = self.progress()
        return self._there()[1].dead or met == total

    def _around(self) -> frozenset[str]:
        """The blocks nearby, seen or not."""
        return frozenset(self._there()[0].ask("blocks", distance=_NEAR))

    def _shortest(self, around: frozenset[str]) -> Shortest | None:
        now = self._there()[1]
        assert self._first is not None
        if self._failed or planner.recovers(now):
            return None
        found = around | planner.mobs_around(self._scene, now) | frozenset(language.COMMON)
        return shortest(self._scene, self._first, now, found)

    def _there(self) -> tuple[Backend, GameState]:
        if self._world is None or self._now is None:
            raise SimulatorError("No episode is running. Call reset first.")
        return self._world, self._now
