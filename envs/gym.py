"""Any environment as a Gymnasium environment (extra `gym`).

The action is an index into the vocabulary of the task's scene, which must not change between
episodes: make one adapter per kind of scene. The reward of a step is the change of
conditions met / total, so an episode's rewards add up to what was achieved.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from inhabit.envs.core import Action, Env, Observation, Task

_PRINTABLE = "".join(map(chr, range(32, 127)))


class GymEnv(gymnasium.Env[dict[str, Any], np.int64]):
    """Runs `tasks` in turn, or the one that `options={"task": index}` selects.

    Observation: {"rgb": uint8 (H, W, 3), "text": str of at most 1,000 ASCII characters}. The
    `info` holds the goal ("goal"), the task's id ("task"), the texts of the plausible actions
    ("actions") and the result of the last one ("feedback"; "reason", None if it worked).

    Args:
        env: what is adapted; closed with the adapter.
        tasks: at least one.
        seed: of the episodes where `reset` is given none.
    """

    metadata: dict[str, Any] = {"render_modes": ["rgb_array"], "render_fps": 2}  # noqa: RUF012

    def __init__(self, env: Env, tasks: Sequence[Task], *, seed: int = 0) -> None:
        if not tasks:
            raise ValueError("A Gymnasium environment needs at least one task.")
        self.render_mode = "rgb_array"
        self._env, self._tasks, self._seed = env, tuple(tasks), seed
        self._next = 0
        self._steps = 0
        self._task = self._tasks[0]
        env.reset(self._task, seed=seed)
        self._vocabulary = tuple(env.vocabulary())
        rgb = env.observe().rgb
        if rgb is None:
            raise ValueError("The Gymnasium adapter needs images, and this environment has none.")
        self.action_space = spaces.Discrete(len(self._vocabulary))
        self.observation_space = spaces.Dict(
            {
                "rgb": spaces.Box(0, 255, rgb.shape, np.uint8),
                "text": spaces.Text(1000, min_length=0, charset=_PRINTABLE),
            }
        )

    def reset(
        self, *, seed: int | None = None, options: Mapping[str, Any] | None = None
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """Start the next task, or the one that `options` selects."""
        super().reset(seed=seed)
        if seed is not None:
            self._seed, self._next = seed, 0
        index = int((options or {}).get("task", self._next))
        self._next = (index + 1) % len(self._tasks)
        self._task, self._steps = self._tasks[index], 0
        self._env.reset(self._task, seed=self._seed)
        if tuple(self._env.vocabulary()) != self._vocabulary:
            raise ValueError(
                f"Task {self._task.id!r} has a different vocabulary than {self._tasks[0].id!r}; "
                "create one adapter per scene type."
            )
        return self._seen(), self._about("", None)

    def step(self, action: np.int64) -> tuple[dict[str, Any], float, bool, bool, dict[str, Any]]:
        """Execute an action; `truncated` after the task's maximum number of steps."""
        before, total = self._env.progress()
        outcome = self._env.act(self.action(int(action)))
        self._steps += 1
        reward = (outcome.met - before) / total
        truncated = not outcome.over and self._steps >= self._task.max_steps
        about = self._about(outcome.feedback, outcome.reason)
        return self._seen(), reward, outcome.over, truncated, about

    def action(self, index: int) -> Action:
        """The action at an index of the vocabulary."""
        return self._vocabulary[index]

    def render(self) -> NDArray[np.uint8]:
        """The image, uint8 (H, W, 3)."""
        return _picture(self._env.observe())

    def close(self) -> None:
        """Close the wrapped environment."""
        self._env.close()

    def _seen(self) -> dict[str, Any]:
        seen = self._env.observe()
        text = "".join(c if c in _PRINTABLE else "?" for c in seen.text)[:1000]
        return {"rgb": _picture(seen), "text": text}

    def _about(self, feedback: str, reason: str | None) -> dict[str, Any]:
        return {
            "goal": self._task.goal,
            "task": self._task.id,
            "actions": [a.text for a in self._env.actions()],
            "feedback": feedback,
            "reason": reason,
        }


def _picture(seen: Observation) -> NDArray[np.uint8]:
    if seen.rgb is None:
        raise ValueError("The current observation has no image.")
    return seen.rgb
