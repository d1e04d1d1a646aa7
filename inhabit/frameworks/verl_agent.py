"""A batch of environments with the methods of verl-agent's `EnvironmentManagerBase`.

Duck-typed (read in November 2026): `reset(kwargs)`, `step(texts)`, `build_text_obs`,
`success_evaluator`, `close`. verl-agent and torch need not be installed.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from numpy.typing import NDArray

from inhabit.frameworks.rollout import Rollout, RolloutFactory
from inhabit.frameworks.turn import Turn


class EnvironmentManager:
    """Plays `groups` tasks at once, each `group_size` times from the same start.

    Observations: {"text": list of str, "image": uint8 (n, H, W, 3) or None, "anchor": the same
    texts, which tell no history}, with n = groups * group_size and the members of a group
    side by side. Environments whose episode has ended stay as they are.

    Args:
        factory: which episodes.
        groups: tasks at once.
        group_size: rollouts of each, as GRPO and GiGPO compare them.
        config: verl-agent's configuration; kept, not read.
    """

    def __init__(
        self, factory: RolloutFactory, *, groups: int, group_size: int = 1, config: object = None
    ) -> None:
        self.config = config
        self._factory, self._group_size = factory, group_size
        self._rollouts = [factory.open() for _ in range(groups * group_size)]
        self._next = 0
        threads = min(len(self._rollouts), len(os.sched_getaffinity(0)))
        self._pool = ThreadPoolExecutor(threads)

    def reset(
        self, kwargs: Sequence[Mapping[str, Any]] | None = None
    ) -> tuple[dict[str, Any], list[dict[str, Any]]]:
        """Start the next tasks, or those that `kwargs` names, a mapping with "task" for each.

        Raises:
            ValueError: there are more or fewer than environments.
            TaskError: there is no such task.
        """
        count = len(self._rollouts) // self._group_size
        if kwargs is None:
            tasks: list[Any] = [
                (self._next + i // self._group_size) % len(self._factory.tasks)
                for i in range(len(self._rollouts))
            ]
            self._next = (self._next + count) % len(self._factory.tasks)
        else:
            self._check_count("rows", kwargs)
            tasks = [self._factory.of_row(one) for one in kwargs]
        turns = self._map(lambda i: self._rollouts[i].reset(tasks[i]))
        return self._observed(turns), [self._info(i, turn) for i, turn in enumerate(turns)]

    def step(
        self, text_actions: Sequence[str]
    ) -> tuple[dict[str, Any], NDArray[np.float32], NDArray[np.bool_], list[dict[str, Any]]]:
        """Carry out one reply in each environment.

        Raises:
            ValueError: there are more or fewer than environments.
        """
        self._check_count("replies", text_actions)
        over = [rollout.turn.done for rollout in self._rollouts]

        def one(i: int) -> Turn:
            rollout = self._rollouts[i]
            return rollout.turn if over[i] else rollout.act(text_actions[i])

        turns = self._map(one)
        rewards = [0.0 if was else turn.reward for was, turn in zip(over, turns, strict=True)]
        dones = np.array([turn.done for turn in turns], np.bool_)
        infos = [self._info(i, turn) for i, turn in enumerate(turns)]
        return self._observed(turns), np.array(rewards, np.float32), dones, infos

    def build_text_obs(self) -> list[str]:
        """The texts of the last turn."""
        return [rollout.turn.text for rollout in self._rollouts]

    def success_evaluator(self, *_: object, **batch: Any) -> dict[str, NDArray[np.float64]]:
        """Whether each episode succeeded, by the last active step of verl-agent's records."""
        won = []
        for items, infos in zip(batch["total_batch_list"], batch["total_infos"], strict=True):
            active = [info for item, info in zip(items, infos, strict=True) if item["active_masks"]]
            won.append(float(active[-1]["won"]) if active else 0.0)
        return {"success_rate": np.array(won)}

    def close(self) -> None:
        """Let go of the simulators."""
        for rollout in self._rollouts:
            rollout.close()
        self._pool.shutdown()

    def _check_count(self, what: str, given: Sequence[object]) -> None:
        if len(given) != len(self._rollouts):
            raise ValueError(
                f"{len(given)} {what} for {len(self._rollouts)} environments: give one for each."
            )

    def _map(self, do: Callable[[int], Turn]) -> list[Turn]:
        return list(self._pool.map(do, range(len(self._rollouts))))

    def _observed(self, turns: Sequence[Turn]) -> dict[str, Any]:
        pictures = [turn.picture for turn in turns if turn.picture is not None]
        texts = [turn.text for turn in turns]
        return {
            "text": texts,
            "image": np.stack(pictures) if len(pictures) == len(turns) else None,
            "anchor": list(texts),
        }

    def _info(self, number: int, turn: Turn) -> dict[str, Any]:
        rollout: Rollout = self._rollouts[number]
        return {
            "task": rollout.task.id,
            "group": number // self._group_size,
            "won": turn.success,
            "ending": turn.ending,
            "is_action_valid": np.array(turn.reason is None),
        }
