"""The conformance test that every environment passes, ours and third parties'.

Inherit `EnvContract` in a pytest class, say how to make the environment and a few of its tasks,
and every rule that `inhabit.envs.core` states is tried on it:

    class TestMine(EnvContract):
        def make(self) -> Env:
            return Mine()

        def tasks(self) -> Sequence[Task]:
            return list(sample(3, seed=0))
"""

from __future__ import annotations

import json
import random
from abc import abstractmethod
from collections.abc import Iterator, Sequence

import numpy as np

from inhabit.envs.core import (
    Action,
    Determinism,
    Env,
    Expert,
    Forkable,
    Observation,
    Outcome,
    Privileged,
    Reason,
    SceneError,
    Task,
    Tools,
)


class EnvContract:
    """What holds for every environment. Needs no pytest, only its collection of methods."""

    steps = 12
    """How many random actions an episode is tried with."""

    @abstractmethod
    def make(self) -> Env:
        """A new environment."""

    @abstractmethod
    def tasks(self) -> Sequence[Task]:
        """At least two tasks, not solved at their start."""

    def test_tasks_are_one_line_of_json(self) -> None:
        """A task survives being written and read."""
        for task in self.tasks():
            line = task.model_dump_json()
            assert "\n" not in line
            assert Task.model_validate_json(line) == task

    def test_vocabulary_is_fixed_and_can_be_parsed(self) -> None:
        """No doubles; the same order each time; every text means its own action."""
        with self.make() as env:
            for task in self.tasks():
                env.reset(task, seed=0)
                words = list(env.vocabulary())
                assert words, "An environment in which nothing can be said."
                assert len({a.text for a in words}) == len(words)
                assert words == list(env.vocabulary())
                for action in [*words, *env.actions()]:
                    _assert_parses(env, action)

    def test_parse_survives_any_text(self) -> None:
        """Nonsense is None (or an action that can be acted), never an exception."""
        with self.make() as env:
            env.reset(self.tasks()[0], seed=0)
            for text in ("", " ", "{}", "{0.x}", "%s", "\x00", "put the {x} in", "é" * 3000, "[b]"):
                parsed = env.parse(text)
                assert parsed is None or env.parse(parsed.text) == parsed

    def test_looking_changes_nothing(self) -> None:
        """Whatever an agent may call between actions gives the same again."""
        with self.make() as env:
            env.reset(self.tasks()[0], seed=0)
            if env.realtime:
                return
            first, before = env.observe(), env.progress()
            env.vocabulary(), env.actions(), env.parse("look")
            second = env.observe()
            assert first.text == second.text and before == env.progress()
            if env.determinism is Determinism.FRAMES:
                _assert_same_picture(first, second)

    def test_observations_are_well_formed(self) -> None:
        """Types and shapes as documented, through an episode."""
        with self.make() as env:
            for _, _ in self._walk(env, self.tasks()[0], seed=1):
                _assert_well_formed(env.observe())

    def test_outcomes_are_well_formed(self) -> None:
        """A failure has its reason, and every outcome a feedback; progress agrees."""
        with self.make() as env:
            for action, outcome in self._walk(env, self.tasks()[1], seed=2):
                assert outcome.reason is None or isinstance(outcome.reason, Reason)
                assert outcome.feedback.strip(), f"{action.text!r} gave no feedback."
                assert 0 <= outcome.met <= outcome.total and outcome.total >= 1
                assert outcome.cost >= 0
                assert (outcome.met, outcome.total) == env.progress()

    def test_unknown_action_is_an_outcome(self) -> None:
        """An action that was never offered fails with a reason, changes nothing, raises nothing."""
        with self.make() as env:
            env.reset(self.tasks()[0], seed=0)
            before = env.digest() if isinstance(env, Privileged) and not env.realtime else None
            outcome = env.act(Action("dance with the {moon}", "dance", ("{moon}",)))
            assert outcome.reason is Reason.UNKNOWN_ACTION
            if isinstance(env, Privileged) and before is not None:
                assert env.digest() == before

    def test_same_seed_same_episode(self) -> None:
        """Two environments agree as far as the declared determinism goes."""
        with self.make() as one, self.make() as two:
            if one.determinism is Determinism.NONE:
                return
            task = self.tasks()[0]
            walks = zip(self._walk(one, task, seed=3), self._walk(two, task, seed=3), strict=True)
            for (action, outcome), (same_action, same_outcome) in walks:
                assert action == same_action and outcome == same_outcome
                if isinstance(one, Privileged) and isinstance(two, Privileged):
                    assert one.digest() == two.digest()
                if one.determinism is Determinism.FRAMES:
                    _assert_same_picture(one.observe(), two.observe())

    def test_reset_starts_afresh(self) -> None:
        """What was done in one episode leaves no trace in the next."""
        with self.make() as env:
            if env.determinism is Determinism.NONE:
                return
            task, other = self.tasks()[:2]
            env.reset(task, seed=0)
            fresh, offered = env.observe(), list(env.actions())
            list(self._walk(env, other, seed=4))
            env.reset(task, seed=0)
            again = env.observe()
            assert fresh.text == again.text and offered == list(env.actions())
            if env.determinism is Determinism.FRAMES:
                _assert_same_picture(fresh, again)

    def test_wrong_scene_is_refused(self) -> None:
        """A parameter that the template lacks is named, and the next task starts all the same."""
        with self.make() as env:
            task = self.tasks()[0]
            wrong = task.model_copy(update={"scene": {**task.scene, "no_such_{field}": 1}})
            try:
                env.reset(wrong, seed=0)
            except SceneError as error:
                assert "no_such_{field}" in str(error)
            else:
                raise AssertionError("A scene with an unknown field was accepted.")
            env.reset(task, seed=0)
            env.observe()

    def test_close_twice(self) -> None:
        """Closing is safe at any time."""
        env = self.make()
        env.close()
        env.close()

    def test_expert_solves(self) -> None:
        """Every action of a plan works in its turn, and at the end the task is solved."""
        with self.make() as env:
            if not isinstance(env, Expert):
                return
            for task in self.tasks():
                env.reset(task, seed=0)
                plan = env.plan()
                assert plan, "A task that is solved at its start, or can't be."
                best = env.best_actions()
                assert best is None or best
                for action in plan:
                    outcome = env.act(action)
                    assert outcome.reason is None, f"{action.text}: {outcome.feedback}"
                assert outcome.over and outcome.met == outcome.total
                assert not env.plan()

    def test_forks_are_independent(self) -> None:
        """Acting in a fork leaves the original as it was, and the other way round."""
        with self.make() as env:
            if not (isinstance(env, Forkable) and isinstance(env, Privileged)):
                return
            env.reset(self.tasks()[0], seed=0)
            before = env.digest()
            with env.fork() as fork:
                assert isinstance(fork, Privileged) and fork.digest() == before
                for action in list(fork.admissible())[:3]:
                    fork.act(action)
                assert env.digest() == before
                there = fork.digest()
                env.act(env.admissible()[0])
                assert fork.digest() == there

    def test_admissible_actions_work(self) -> None:
        """What is called admissible succeeds."""
        with self.make() as env:
            if not (isinstance(env, Forkable) and isinstance(env, Privileged)):
                return
            env.reset(self.tasks()[0], seed=0)
            for action in list(env.admissible())[: self.steps]:
                with env.fork() as fork:
                    outcome = fork.act(action)
                    assert outcome.reason is None, f"{action.text}: {outcome.feedback}"

    def test_state_is_plain(self) -> None:
        """State and tools are JSON."""
        with self.make() as env:
            env.reset(self.tasks()[0], seed=0)
            if isinstance(env, Privileged):
                json.dumps(dict(env.state()), allow_nan=False)
                assert env.digest() == env.digest()
            if isinstance(env, Tools):
                for tool in env.tools():
                    assert isinstance(tool["name"], str) and tool["description"]
                    json.dumps(env.call(tool["name"], {}), allow_nan=False)

    def _walk(self, env: Env, task: Task, seed: int) -> Iterator[tuple[Action, Outcome]]:
        """A random episode, drawn from what the environment offers."""
        rng = random.Random(f"contract {seed}")
        env.reset(task, seed=seed)
        for _ in range(self.steps):
            action = rng.choice([*env.actions()] or [*env.vocabulary()])
            outcome = env.act(action)
            yield action, outcome
            if outcome.over:
                return


def _assert_parses(env: Env, action: Action) -> None:
    parsed = env.parse(action.text)
    assert parsed == action, f"{action.text!r} was understood as {parsed!r}."


def _assert_well_formed(seen: Observation) -> None:
    if seen.rgb is not None:
        assert seen.rgb.dtype == np.uint8 and seen.rgb.ndim == 3 and seen.rgb.shape[2] == 3
        if seen.depth is not None:
            assert seen.depth.shape == seen.rgb.shape[:2] and seen.depth.dtype == np.float32
        if seen.instances is not None:
            assert seen.instances.shape == seen.rgb.shape[:2]
            assert seen.instances.dtype == np.int32
            assert seen.instances.min() >= -1 and seen.instances.max() < len(seen.names)
    for clip in seen.clips:
        assert clip.frames.ndim == 4 and clip.frames.dtype == np.uint8


def _assert_same_picture(one: Observation, two: Observation) -> None:
    assert (one.rgb is None) == (two.rgb is None)
    if one.rgb is not None and two.rgb is not None:
        assert np.array_equal(one.rgb, two.rgb), "The same moment gave two pictures."
