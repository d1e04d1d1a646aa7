"""Environments for Gymnasium (extra `gym`), one at a time and as a vector.

`import inhabit.gym` registers an id for each environment. `gymnasium.make("inhabit/alfred-v0")`
takes the arguments of `GymEnv`, and those of `inhabit.rollouts` besides.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from functools import partial
from typing import Any, Literal, get_args

import gymnasium
import numpy as np
from gymnasium import spaces
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space, concatenate, create_empty_array
from numpy.typing import NDArray

from inhabit.envs import registry
from inhabit.envs.core import Action
from inhabit.episodes.recording.schema import Ending
from inhabit.frameworks.factory import rollouts
from inhabit.frameworks.rollout import Rollout, RolloutFactory
from inhabit.frameworks.turn import Turn

_PRINTABLE = "".join(map(chr, range(32, 127)))
_LONGEST = {"text": 1000, "goal": 400, "action": 200}
"""Characters, or bytes: longer texts are cut."""
_NUMBER = re.compile(r"_\d+")

Words = Literal["text", "bytes", "none"]
Actions = Literal["index", "text"]


def register() -> None:
    """Register `inhabit/NAME-v0` for every environment of the registry. Safe to call twice."""
    for name in registry.names():
        if f"inhabit/{name}-v0" not in gymnasium.registry:
            gymnasium.register(
                f"inhabit/{name}-v0",
                entry_point=f"{__name__}:make",
                vector_entry_point=f"{__name__}:make_vec",
                kwargs={"env": name},
            )


def make(
    env: str,
    *,
    actions: Actions = "index",
    words: Words = "text",
    render_mode: str | None = None,
    **which: Any,
) -> GymEnv:
    """What `gymnasium.make` calls. `which` holds arguments of `inhabit.rollouts`."""
    return GymEnv(rollouts(env, **which), actions=actions, words=words, render_mode=render_mode)


def make_vec(
    env: str,
    num_envs: int = 1,
    *,
    actions: Actions = "index",
    words: Words = "text",
    threads: int | None = 1,
    render_mode: str | None = None,
    **which: Any,
) -> GymVectorEnv:
    """What `gymnasium.make_vec` calls. `which` holds arguments of `inhabit.rollouts`."""
    factory = rollouts(env, **which)
    return GymVectorEnv(
        factory, num_envs, actions=actions, words=words, threads=threads, render_mode=render_mode
    )


class GymEnv(gymnasium.Env[dict[str, Any], Any]):
    """Plays tasks of a `RolloutFactory`, each chosen by the seeded generator of `reset`.

    Observation: a dictionary of "rgb", uint8 (H, W, 3), where the environment has images; and
    unless `words` is "none" of "goal" and "text". With `words="text"` these two are strings of
    printable ASCII; with "bytes" uint8 arrays, padded with zeros, which stable-baselines3 accepts.

    Action: with `actions="index"` a number in the vocabulary of all tasks, which stays the same
    from episode to episode, whatever the rooms; with "text" any text.

    The `info` holds "task" (its id), "actions" (texts of the plausible ones), "feedback",
    "reason" (None if the action worked), "success", "ending" (None while the episode goes on), and
    with `actions="index"` "action_mask": int8 (n,), 1 for the plausible ones; all 0 at the end.

    Args:
        factory: which episodes.
        actions: "index" or "text".
        words: "text", "bytes" or "none".
        render_mode: "rgb_array" or None.
        vocabulary: texts of the actions, in order; None collects them from all tasks, each of which
            is started once for that.

    Raises:
        ValueError: `actions`, `words` or `render_mode` is none of these.
        SceneError, SimulatorError, UnavailableError: a task can't be started.
    """

    metadata: dict[str, Any] = {"render_modes": ["rgb_array"], "render_fps": 2}  # noqa: RUF012

    def __init__(
        self,
        factory: RolloutFactory,
        *,
        actions: Actions = "index",
        words: Words = "text",
        render_mode: str | None = None,
        vocabulary: Sequence[str] | None = None,
    ) -> None:
        for what, given, kind in (("actions", actions, Actions), ("words", words, Words)):
            if given not in get_args(kind):
                raise ValueError(f"{what} is {given!r}, and none of: {', '.join(get_args(kind))}.")
        if render_mode not in (None, "rgb_array"):
            raise ValueError(f"render_mode is {render_mode!r}, and neither 'rgb_array' nor None.")
        self.render_mode = render_mode
        self._rollout = factory.open()
        self._tasks, self._words = len(factory.tasks), words
        self.vocabulary: tuple[str, ...] = ()
        """Texts of the actions by index; empty with `actions="text"`."""
        try:
            if actions == "index":
                self.vocabulary = tuple(vocabulary or _all_actions(self._rollout, self._tasks))
            self.observation_space = _space(self._rollout.reset(0), words)
        except BaseException:
            self._rollout.close()
            raise
        if actions == "index":
            self.action_space = spaces.Discrete(len(self.vocabulary))
        else:
            self.action_space = spaces.Text(_LONGEST["action"], charset=_PRINTABLE)
        self._index = {text: i for i, text in enumerate(self.vocabulary)}

    def reset(
        self, *, seed: int | None = None, options: Mapping[str, Any] | None = None
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """Start a random task, or the one that `options={"task": number or id}` selects.

        Raises:
            ValueError: there is another option.
        """
        super().reset(seed=seed)
        given = dict(options or {})
        chosen = given.pop("task", None)
        if given:
            raise ValueError(f"reset() has the option 'task' alone, not {', '.join(given)}.")
        if chosen is None:
            chosen = int(self.np_random.integers(self._tasks))
        turn = self._rollout.reset(chosen)
        return self._seen(turn), self._info(turn)

    def step(self, action: Any) -> tuple[dict[str, Any], float, bool, bool, dict[str, Any]]:
        """Execute an action; `truncated` after the maximum number of steps.

        Raises:
            ValueError: the index is not in the action space.
            RuntimeError: the episode has ended.
        """
        turn = self._rollout.act(self._said(action))
        truncated = turn.ending is Ending.STEP_LIMIT
        terminated = turn.done and not truncated
        return self._seen(turn), turn.reward, terminated, truncated, self._info(turn)

    def action_masks(self) -> NDArray[np.bool_]:
        """Which actions are plausible now, bool (n,), as sb3-contrib's MaskablePPO asks for it."""
        mask = np.zeros(len(self.vocabulary), bool)
        for text in self._rollout.turn.candidates:
            # A vocabulary may name kinds of things where candidates name single ones.
            index = self._index.get(text, self._index.get(_NUMBER.sub("", text)))
            if index is not None:
                mask[index] = True
        return mask

    def render(self) -> NDArray[np.uint8] | None:
        """The image, uint8 (H, W, 3), with render mode "rgb_array"."""
        return self._rollout.turn.picture if self.render_mode == "rgb_array" else None

    def close(self) -> None:
        """Let go of the simulator."""
        self._rollout.close()

    @property
    def rollout(self) -> Rollout:
        """The rollout underneath, for its session, its expert and its forks."""
        return self._rollout

    def _said(self, action: Any) -> str | Action:
        if not self.vocabulary:
            return str(action)
        index = int(action)
        if not 0 <= index < len(self.vocabulary):
            raise ValueError(
                f"There is no action {index}: actions are numbered 0 to {len(self.vocabulary) - 1}."
            )
        text = self.vocabulary[index]
        # All of the vocabulary can be tried, whether or not it is plausible now.
        return self._rollout.session.env.parse(text) or text

    def _seen(self, turn: Turn) -> dict[str, Any]:
        seen: dict[str, Any] = {} if turn.picture is None else {"rgb": turn.picture.copy()}
        if self._words != "none":
            convert = _ascii if self._words == "text" else _bytes
            text = self._rollout.session.last.text
            seen["goal"] = convert(self._rollout.task.goal, _LONGEST["goal"])
            seen["text"] = convert(text, _LONGEST["text"])
        return seen

    def _info(self, turn: Turn) -> dict[str, Any]:
        history = self._rollout.session.history
        info: dict[str, Any] = {
            "task": self._rollout.task.id,
            "actions": turn.candidates,
            "feedback": history[-1].feedback if history else "",
            "reason": turn.reason,
            "success": turn.success,
            "ending": turn.ending,
        }
        if self.vocabulary:
            info["action_mask"] = self.action_masks().astype(np.int8)
        return info


class GymVectorEnv(VectorEnv[dict[str, Any], Any, Any]):
    """Many episodes in one process, each with its own simulator.

    An episode that has ended is reset by the next step, whose action is not used
    (`AutoresetMode.NEXT_STEP`, Gymnasium's default).

    Args:
        factory: which episodes.
        num_envs: how many at once.
        actions: as for `GymEnv`.
        words: as for `GymEnv`.
        render_mode: as for `GymEnv`.
        threads: that step; None takes one for each core. By default episodes are stepped one
            after another: threads gain only where drawing takes most of a step, since Python
            runs one thread at a time.
    """

    def __init__(
        self,
        factory: RolloutFactory,
        num_envs: int,
        *,
        actions: Actions = "index",
        words: Words = "text",
        threads: int | None = 1,
        render_mode: str | None = None,
    ) -> None:
        if num_envs < 1:
            raise ValueError(f"num_envs is {num_envs}, and must be at least 1.")
        make = partial(GymEnv, factory, actions=actions, words=words, render_mode=render_mode)
        with ExitStack() as started:  # If one fails to start, the others are closed.
            first = make()
            self.envs = [first]
            started.callback(first.close)
            for _ in range(num_envs - 1):
                self.envs.append(make(vocabulary=first.vocabulary))
                started.callback(self.envs[-1].close)
            started.pop_all()
        self.num_envs, self.render_mode = num_envs, render_mode
        self.vocabulary = first.vocabulary
        self.metadata = {**first.metadata, "autoreset_mode": AutoresetMode.NEXT_STEP}
        self.single_observation_space = first.observation_space
        self.single_action_space = first.action_space
        self.observation_space = batch_space(first.observation_space, num_envs)
        self.action_space = batch_space(first.action_space, num_envs)
        self._over = np.zeros(num_envs, bool)
        count = min(num_envs, threads or len(os.sched_getaffinity(0)))
        self._pool = ThreadPoolExecutor(count) if count > 1 else None

    def reset(
        self, *, seed: int | list[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """Start all episodes. A single seed gives environment i the seed `seed + i`.

        Raises:
            ValueError: there are more or fewer seeds than environments.
        """
        if isinstance(seed, list):
            seeds = seed
        else:
            seeds = [None if seed is None else seed + i for i in range(self.num_envs)]
        if len(seeds) != self.num_envs:
            raise ValueError(f"{len(seeds)} seeds for {self.num_envs} environments: give as many.")
        found = self._map(lambda i: self.envs[i].reset(seed=seeds[i], options=options))
        self._over[:] = False
        return self._batched([seen for seen, _ in found]), self._infos([info for _, info in found])

    def step(
        self, actions: Any
    ) -> tuple[
        dict[str, Any], NDArray[np.float64], NDArray[np.bool_], NDArray[np.bool_], dict[str, Any]
    ]:
        """Step all episodes, and reset those that had ended."""

        def one(i: int) -> tuple[dict[str, Any], float, bool, bool, dict[str, Any]]:
            if self._over[i]:
                seen, info = self.envs[i].reset()
                return seen, 0.0, False, False, info
            return self.envs[i].step(actions[i])

        found = self._map(one)
        rewards = np.array([reward for _, reward, *_ in found], np.float64)
        terminated = np.array([one[2] for one in found], np.bool_)
        truncated = np.array([one[3] for one in found], np.bool_)
        self._over = terminated | truncated
        seen = self._batched([one[0] for one in found])
        return seen, rewards, terminated, truncated, self._infos([one[4] for one in found])

    def action_masks(self) -> NDArray[np.bool_]:
        """Which actions are plausible now, bool (num_envs, n)."""
        return np.stack([env.action_masks() for env in self.envs])

    def render(self) -> tuple[NDArray[np.uint8], ...] | None:
        """The image of each episode, with render mode "rgb_array"."""
        found = [env.render() for env in self.envs]
        return tuple(one for one in found if one is not None) or None

    def close_extras(self, **kwargs: Any) -> None:
        """Let go of the simulators."""
        for env in self.envs:
            env.close()
        if self._pool is not None:
            self._pool.shutdown()

    def _map(self, do: Callable[[int], Any]) -> list[Any]:
        numbers = range(self.num_envs)
        return [do(i) for i in numbers] if self._pool is None else list(self._pool.map(do, numbers))

    def _batched(self, seen: Sequence[dict[str, Any]]) -> dict[str, Any]:
        # New arrays each time: the caller may keep what it is given.
        empty: Any = create_empty_array(self.single_observation_space, self.num_envs, np.zeros)
        batched: Any = concatenate(self.single_observation_space, seen, empty)
        return dict(batched)

    def _infos(self, found: Sequence[dict[str, Any]]) -> dict[str, Any]:
        infos: dict[str, Any] = {}
        for i, info in enumerate(found):
            infos = self._add_info(infos, info, i)
        return infos


def _all_actions(rollout: Rollout, tasks: int) -> Sequence[str]:
    """Texts of the vocabularies of all tasks, without repetition, in order."""
    found: dict[str, None] = {}
    for task in range(tasks):
        rollout.reset(task)
        found.update((action.text, None) for action in rollout.session.env.vocabulary())
    return tuple(found)


def _space(turn: Turn, words: Words) -> spaces.Dict:
    parts: dict[str, gymnasium.Space[Any]] = {}
    if turn.picture is not None:
        parts["rgb"] = spaces.Box(0, 255, turn.picture.shape, np.uint8)
    for key in ("goal", "text") if words != "none" else ():
        if words == "text":
            parts[key] = spaces.Text(_LONGEST[key], min_length=0, charset=_PRINTABLE)
        else:
            parts[key] = spaces.Box(0, 255, (_LONGEST[key],), np.uint8)
    if not parts:
        raise ValueError("This environment has no pictures: choose words='text' or 'bytes'.")
    return spaces.Dict(parts)


def _ascii(text: str, longest: int) -> str:
    return "".join(c if c in _PRINTABLE else "?" for c in text)[:longest]


def _bytes(text: str, longest: int) -> NDArray[np.uint8]:
    padded = text.encode("utf-8", "replace")[:longest].ljust(longest, b"\0")
    return np.frombuffer(padded, np.uint8).copy()
