"""MineDojo's interface in today's Gymnasium (extra `gym`): its spaces, its actions, its rewards.

env = MineDojoGym(next(sample(1, seed=0)))
seen, about = env.reset(seed=0)
seen, reward, over, cut, about = env.step(env.nothing)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from inhabit.envs.core import Task
from inhabit.envs.minedojo.interface import observation
from inhabit.envs.minedojo.interface.actions import (
    Field,
    decode,
    fields,
    nothing,
    sizes,
    step_request,
)
from inhabit.envs.minedojo.luanti.world import LuantiWorld
from inhabit.envs.minedojo.tasks.scene import as_world, conditions, read_scene, reward
from inhabit.envs.minedojo.world import game_state
from inhabit.envs.minedojo.world.game_state import GameState

Seen = dict[str, Any]


class NameArray(spaces.Space[NDArray[np.str_]]):
    """Arrays of names of one shape."""

    def __init__(self, shape: Sequence[int]) -> None:
        self._size = tuple(shape)
        super().__init__(self._size, np.str_)

    def sample(self, mask: Any = None, probability: Any = None) -> NDArray[np.str_]:
        """All air."""
        return np.full(self._size, "air")

    def contains(self, x: Any) -> bool:
        """Whether it is such an array."""
        return isinstance(x, np.ndarray) and x.dtype.kind == "U" and x.shape == self.shape


class MineDojoGym(gymnasium.Env[Seen, NDArray[np.int64]]):
    """One task, low-level control: a step is a tick of 1/20 s.

    Args:
        task: its scene selects the observations besides the image, and the rewards.
        image_size: (height, width) in pixels, where the scene has none.

    Raises:
        SceneError: the task's scene is wrong.
    """

    metadata: dict[str, Any] = {"render_modes": ["rgb_array"], "render_fps": 20}  # noqa: RUF012

    def __init__(self, task: Task, *, image_size: tuple[int, int] = (160, 256)) -> None:
        self._scene = read_scene(task)
        self._height, self._width = self._scene.image_size or image_size
        self._world: LuantiWorld | None = None
        self._seed = 0
        self.render_mode = "rgb_array"
        self.nothing = np.array(nothing(self._scene.cam_interval), np.int64)
        self.action_space = spaces.MultiDiscrete(list(sizes(self._scene.cam_interval)))
        beams = self._scene.lidar_rays if self._scene.use_lidar else ()
        self._rays = [(ray.pitch, ray.yaw, ray.distance) for ray in beams]
        self.observation_space = space(
            fields(self._height, self._width, self._box(), len(self._rays) or None)
        )

    def reset(
        self, *, seed: int | None = None, options: Mapping[str, Any] | None = None
    ) -> tuple[Seen, dict[str, Any]]:
        """Restart the task.

        Raises:
            SimulatorError: the world did not start.
            UnavailableError: Luanti or what it needs is not on this machine.
        """
        super().reset(seed=seed)
        self._seed = self._seed if seed is None else seed
        self.close()
        self._world = LuantiWorld(as_world(self._scene, seed=self._seed), self._width, self._height)
        self._first = self._now = game_state.read(self._world.ask("state", look=False))
        return self._seen(self._now, crafted=False), self._about()

    def step(self, action: NDArray[np.int64]) -> tuple[Seen, float, bool, bool, dict[str, Any]]:
        """One tick. Returns MineDojo's reward; terminated when the goal is met or the agent died.

        Raises:
            ValueError: a number of the action is out of its range.
            SimulatorError: the world is gone.
        """
        asked = decode([int(value) for value in action], self._scene.cam_interval)
        world, before = self._there(), self._now
        world.ask("step", **step_request(asked))
        self._now = game_state.read(world.ask("state", look=False))
        seen = self._seen(before, crafted=asked["function"] == "craft")
        met, total = conditions(self._scene, self._first, self._now)
        over = met == total or self._now.dead
        return seen, reward(self._scene, before, self._now), over, False, self._about()

    def render(self) -> NDArray[np.uint8]:
        """The image, uint8 (H, W, 3)."""
        return self._there().picture()

    def close(self) -> None:
        """Stop the world. Safe to call twice."""
        if self._world is not None:
            self._world.close()
            self._world = None

    def _there(self) -> LuantiWorld:
        if self._world is None:
            raise gymnasium.error.ResetNeeded("Call reset before step.")
        return self._world

    def _box(self) -> tuple[int, int, int] | None:
        box = self._scene.voxel_size
        if not self._scene.use_voxel or box is None:
            return None
        return (box.xmax - box.xmin + 1, box.ymax - box.ymin + 1, box.zmax - box.zmin + 1)

    def _about(self) -> dict[str, Any]:
        met, total = conditions(self._scene, self._first, self._now)
        return {"met": met, "total": total, "success": met == total, "ticks": self._now.ticks}

    def _seen(self, before: GameState, *, crafted: bool) -> Seen:
        world, now = self._there(), self._now
        seen: Seen = {
            "rgb": np.ascontiguousarray(world.picture().transpose(2, 0, 1)),
            "inventory": observation.stacks(now.inventory),
            "equipment": observation.stacks(now.equipment),
            "life_stats": observation.body(now),
            "location_stats": observation.place(now, self._scene),
            "nearby_tools": {
                "table": np.array(bool(now.raw["table_near"])),
                "furnace": np.array(bool(now.raw["furnace_near"])),
            },
            "damage_source": observation.damage(now, before.ticks),
            "masks": observation.masks(now),
            "delta_inv": observation.changes(before, now, crafted=crafted),
        }
        box = self._scene.voxel_size
        if self._box() is not None and box is not None:
            low, high = (box.xmin, box.ymin, box.zmin), (box.xmax, box.ymax, box.zmax)
            names = [(str(n), int(v)) for n, v in world.ask("voxels", low=low, high=high)]
            seen["voxels"] = observation.voxels(names, low, high, _look(now))
        if self._rays:
            seen["rays"] = observation.rays(world.ask("rays", rays=self._rays), self._rays)
        return seen


def space(layout: Mapping[str, Mapping[str, Field]]) -> spaces.Dict:
    """The Gymnasium space of an observation."""
    return spaces.Dict(
        {
            group: _space(parts[""])
            if "" in parts
            else spaces.Dict({name: _space(field) for name, field in parts.items()})
            for group, parts in layout.items()
        }
    )


def _space(field: Field) -> spaces.Space[Any]:
    if field.dtype == "str":
        return NameArray(field.shape)
    kind: Any = {"bool": np.bool_, "uint8": np.uint8, "int64": np.int64, "float32": np.float32}
    dtype = kind[field.dtype]
    if field.dtype == "float32":
        return spaces.Box(field.low, field.high, field.shape, dtype)
    return spaces.Box(int(field.low), int(field.high), field.shape, dtype)


def _look(now: GameState) -> NDArray[np.float64]:
    """The view direction, in Minecraft's axes."""
    yaw, pitch = np.deg2rad(now.raw["yaw"]), np.deg2rad(now.raw["pitch"])
    return np.array([-np.sin(yaw) * np.cos(pitch), -np.sin(pitch), np.cos(yaw) * np.cos(pitch)])
