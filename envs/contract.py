"""The conformance test that every environment passes, ours and third parties'.

Inherit `EnvContract` in a pytest or unittest class, say how to make the environment and a few of
its tasks, and every rule that `inhabit.envs.core` states is tried on it:

    class TestMine(EnvContract):
        def make(self) -> Env:
            return Mine()

        def tasks(self) -> Sequence[Task]:
            return list(sample(3, seed=0))

What an environment does not claim to do, such as an expert, is skipped and not passed. Every
failure states in one sentence what was expected and what was returned.
"""

from __future__ import annotations

import json
import random
from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NoReturn, TypeVar, cast
from unittest import SkipTest

import numpy as np

from inhabit.envs.core import (
    Action,
    Determinism,
    Env,
    Expert,
    Factual,
    Forkable,
    Observation,
    Outcome,
    Privileged,
    Reason,
    Redirectable,
    SceneError,
    Task,
    Tools,
)
from inhabit.envs.host.checks import (
    BrokenContractError,
    check_actions,
    check_class,
    check_objects,
    check_observation,
    check_outcome,
    check_progress,
)

T = TypeVar("T")

_NONSENSE = ("", " ", "{}", "{0.x}", "%s", "\x00", "put the {x} in", "é" * 3000, "[b]")


class EnvContract:
    """What holds for every environment. Needs no pytest, only its collection of methods."""

    steps = 12
    """How many random actions an episode is tried with."""

    @abstractmethod
    def make(self) -> Env:
        """A new environment."""

    @abstractmethod
    def tasks(self) -> Sequence[Task]:
        """At least two tasks, not solved at their start; the same ones at every call."""

    def test_class_is_complete(self) -> None:
        """`Scene` and `determinism` are declared, and no capability is half there."""
        with self.make() as env:
            _check(check_class, env)

    def test_tasks_are_one_line_of_json(self) -> None:
        """A task survives being written and read, and is not solved at its start."""
        tasks = self.tasks()
        _expect(len(tasks) >= 2, f"tasks() returned {len(tasks)} tasks; expected at least two.")
        for task in tasks:
            line = task.model_dump_json()
            _expect("\n" not in line, f"Task {task.id!r} is written on several lines of JSON.")
            read = Task.model_validate_json(line)
            _expect(read == task, f"Task {task.id!r} is read as {read!r} after being written.")
        names = [task.id for task in tasks]
        _expect(len(set(names)) == len(names), f"tasks() repeats an id: {names}.")
        _expect(
            list(tasks) == list(self.tasks()), "tasks() gave other tasks when it was called again."
        )

    def test_vocabulary_is_fixed_and_can_be_parsed(self) -> None:
        """No doubles; the same order each time; every text means its own action."""
        with self.make() as env:
            for task in self.tasks():
                env.reset(task, seed=0)
                words = _actions(env, "vocabulary")
                _expect(bool(words), "vocabulary() is empty; expected at least one action.")
                texts = [action.text for action in words]
                doubles = sorted({text for text in texts if texts.count(text) > 1})
                _expect(not doubles, f"vocabulary() repeats {doubles}; expected each action once.")
                _same(words, _actions(env, "vocabulary"), "vocabulary(), asked twice in a row,")
                offered = _actions(env, "actions")
                for action in [*words, *offered]:
                    _check_parses(env, action)

    def test_vocabulary_stays_through_an_episode(self) -> None:
        """It depends on the scene type only, so that acting does not change it."""
        with self.make() as env:
            env.reset(self.tasks()[0], seed=1)
            words = _actions(env, "vocabulary")
            for action, _ in self._walk(env, self.tasks()[0], seed=1):
                now = _actions(env, "vocabulary")
                _same(words, now, f"vocabulary(), before and after {action.text!r},")

    def test_parse_survives_any_text(self) -> None:
        """Nonsense is None (or an action that can be acted), never an exception."""
        with self.make() as env:
            env.reset(self.tasks()[0], seed=0)
            for text in _NONSENSE:
                try:
                    parsed = env.parse(text)
                except Exception as error:  # noqa: BLE001 - whatever it raises is the finding
                    _fail(f"parse({text[:20]!r}) raised {error!r}; expected an Action or None.")
                if parsed is not None:
                    _check_parses(env, parsed)

    def test_looking_changes_nothing(self) -> None:
        """Repeated queries between two actions return the same results."""
        with self.make() as env:
            _skip_if(env.realtime, "the world of this environment moves by itself")
            for task in self.tasks()[:2]:
                env.reset(task, seed=0)
                digest = env.digest() if isinstance(env, Privileged) else None
                first, before, offered = env.observe(), env.progress(), _actions(env, "actions")
                _actions(env, "vocabulary"), env.parse("look"), env.progress()
                second = env.observe()
                _same(first.text, second.text, "Observation.text, looking twice,")
                _same(before, env.progress(), "progress(), before and after looking,")
                _same(offered, _actions(env, "actions"), "actions(), before and after looking,")
                if isinstance(env, Privileged):
                    _same(digest, env.digest(), "digest(), before and after looking,")
                if env.determinism is Determinism.FRAMES:
                    _same_picture(first, second, "looking twice")

    def test_observations_are_well_formed(self) -> None:
        """Types and shapes as documented, and one size of image, through an episode."""
        with self.make() as env:
            env.reset(self.tasks()[0], seed=1)
            first = _check(check_observation, env.observe())
            for action, _ in self._walk(env, self.tasks()[0], seed=1):
                seen = _check(check_observation, env.observe())
                if first.rgb is not None and seen.rgb is not None:
                    size = seen.rgb.shape
                    _same(first.rgb.shape, size, f"The image's size, after {action.text!r},")

    def test_observations_are_snapshots(self) -> None:
        """An observation is a copy: later actions do not change it, and the caller may."""
        with self.make() as env:
            for task in self.tasks()[:2]:
                env.reset(task, seed=1)
                seen = env.observe()
                if seen.rgb is None:
                    raise SkipTest("This environment shows no image.")
                kept = seen.rgb.copy()
                for action, _ in self._walk(env, task, seed=1, reset=False):
                    env.observe()
                    _expect(
                        np.array_equal(seen.rgb, kept),
                        f"An earlier Observation.rgb changed when {action.text!r} was done; "
                        "expected an image of its own for each observation.",
                    )
                if env.determinism is not Determinism.FRAMES or not seen.rgb.flags.writeable:
                    continue
                now = env.observe().rgb
                if now is not None and now.flags.writeable and not env.realtime:
                    kept = now.copy()
                    now[:] = 255 - now
                    again = env.observe().rgb
                    _expect(
                        again is not None and np.array_equal(again, kept),
                        "Drawing on an Observation.rgb changed what observe() returns next; "
                        "expected an image of the caller's own.",
                    )

    def test_outcomes_are_well_formed(self) -> None:
        """A failure has its reason, every outcome a feedback; progress and end agree."""
        with self.make() as env:
            for task in self.tasks():
                for action, outcome in self._walk(env, task, seed=2):
                    _check(check_outcome, outcome)
                    said = f"after {action.text!r},"
                    feedback = outcome.feedback
                    _expect(bool(feedback.strip()), f"Outcome.feedback is empty {said[:-1]}.")
                    progress = _check(check_progress, env.progress())
                    _same((outcome.met, outcome.total), progress, f"Outcome and progress(), {said}")

    def test_a_solved_task_is_over(self) -> None:
        """`over` is True as soon as every goal condition holds, and no action follows."""
        with self.make() as env:
            expert: Expert = _needs(env, Expert, "an expert")
            for task in self.tasks():
                env.reset(task, seed=0)
                for action in _actions(env, "plan"):
                    outcome = _check(check_outcome, env.act(action))
                    solved = outcome.met == outcome.total
                    _expect(
                        outcome.over or not solved,
                        f"{outcome.met} of {outcome.total} conditions hold after {action.text!r} "
                        "and Outcome.over is False; expected True when the task is solved.",
                    )
                _expect(not list(expert.plan()), "plan() is not empty when the task is solved.")

    def test_unknown_action_is_an_outcome(self) -> None:
        """An action that was never offered fails with a reason, changes nothing, raises nothing."""
        with self.make() as env:
            env.reset(self.tasks()[0], seed=0)
            before = env.digest() if isinstance(env, Privileged) and not env.realtime else None
            try:
                outcome = env.act(Action("dance with the {moon}", "dance", ("{moon}",)))
            except Exception as error:  # noqa: BLE001 - whatever it raises is the finding
                _fail(f"act() of an unknown action raised {error!r}; expected an Outcome.")
            _check(check_outcome, outcome)
            _same(Reason.UNKNOWN_ACTION, outcome.reason, "Outcome.reason of an unknown action")
            if isinstance(env, Privileged) and before is not None:
                _same(before, env.digest(), "digest(), before and after an unknown action,")

    def test_failed_actions_change_no_progress(self) -> None:
        """An action that failed (with a reason) met no goal condition."""
        with self.make() as env:
            for task in self.tasks():
                env.reset(task, seed=5)
                before = env.progress()
                for action, outcome in self._walk(env, task, seed=5, reset=False):
                    after = (outcome.met, outcome.total)
                    if outcome.reason is not None:
                        said = f"progress(), before and after {action.text!r} failed,"
                        _same(before, after, said)
                    _same(before[1], after[1], f"The number of conditions, at {action.text!r},")
                    before = after

    def test_same_seed_same_episode(self) -> None:
        """Two environments agree as far as the declared determinism goes."""
        with self.make() as one, self.make() as two:
            _skip_if(one.determinism is Determinism.NONE, "it is not deterministic")
            for task in self.tasks()[:2]:
                one.reset(task, seed=3)
                two.reset(task, seed=3)
                self._same_now(one, two, "at the start of the same episode,")
                walks = zip(
                    self._walk(one, task, seed=3, reset=False),
                    self._walk(two, task, seed=3, reset=False),
                    strict=True,
                )
                for (action, outcome), (same_action, same_outcome) in walks:
                    said = f"after {action.text!r} in the same episode,"
                    _same(action.text, same_action.text, "actions(), in the same episode,")
                    _same(outcome, same_outcome, f"Outcome, {said}")
                    self._same_now(one, two, said)

    def test_environments_are_independent(self) -> None:
        """What is done in one environment changes nothing in another of the same class."""
        with self.make() as one, self.make() as two:
            _skip_if(one.realtime, "the world of this environment moves by itself")
            task = self.tasks()[0]
            one.reset(task, seed=2)
            two.reset(task, seed=2)
            before = _told(two)
            for action, _ in self._walk(one, task, seed=2, reset=False):
                _same(
                    before,
                    _told(two),
                    "The text, progress, digest and actions of one environment, before and after "
                    f"{action.text!r} in another,",
                )

    def test_reset_starts_afresh(self) -> None:
        """What was done in one episode leaves no trace in the next."""
        with self.make() as env, self.make() as other:
            _skip_if(env.determinism is Determinism.NONE, "it is not deterministic")
            for task in self.tasks()[:2]:
                for earlier in self.tasks()[:2]:
                    for _ in self._walk(env, earlier, seed=4):
                        pass
                    if isinstance(env, Expert):
                        self._solve(env, earlier)
                    env.reset(task, seed=0)
                    other.reset(task, seed=0)
                    said = "at the start of a used and of a new environment,"
                    self._same_now(env, other, said)
                    same = (_actions(env, "actions"), _actions(other, "actions"))
                    _same(*same, f"actions(), {said}")
                used = [outcome for _, outcome in self._walk(env, task, seed=6)]
                new = [outcome for _, outcome in self._walk(other, task, seed=6)]
                _same(used, new, "The outcomes of the same actions in a used and a new environment")

    def test_wrong_scene_is_refused(self) -> None:
        """A parameter that the template lacks is named, and the next task starts all the same."""
        with self.make() as env:
            task = self.tasks()[0]
            wrong = task.model_copy(update={"scene": {**task.scene, "no_such_{field}": 1}})
            try:
                env.reset(wrong, seed=0)
            except SceneError as error:
                named = "no_such_{field}" in str(error)
                _expect(named, f"SceneError does not name the unknown field: {error}")
            except Exception as error:  # noqa: BLE001 - whatever it raises is the finding
                _fail(f"reset() of a wrong scene raised {error!r}; expected SceneError.")
            else:
                _fail("reset() accepted a scene with an unknown field; expected SceneError.")
            env.reset(task, seed=0)
            env.observe()

    def test_close_twice(self) -> None:
        """Closing is safe at any time."""
        env = self.make()
        env.close()
        try:
            env.close()
        except Exception as error:  # noqa: BLE001 - whatever it raises is the finding
            _fail(f"close() raised {error!r} when it was called twice; expected nothing.")

    def test_expert_solves(self) -> None:
        """Every action of a plan works in its turn, and at the end the task is solved."""
        with self.make() as env:
            _needs(env, Expert, "an expert")
            for task in self.tasks():
                env.reset(task, seed=0)
                plan = _actions(env, "plan")
                _expect(bool(plan), f"plan() of task {task.id!r} is empty at its start.")
                outcome = self._follow(env, plan)
                _expect(
                    outcome.over and outcome.met == outcome.total,
                    f"After its whole plan task {task.id!r} has {outcome.met} of {outcome.total} "
                    f"conditions and over={outcome.over}; expected all of them and True.",
                )

    def test_best_actions_begin_shortest_plans(self) -> None:
        """They are actions that work; the plan begins with one; after one, no more is left."""
        with self.make() as env:
            expert: Expert = _needs(env, Expert, "an expert")
            for task in self.tasks()[:2]:
                env.reset(task, seed=0)
                best = expert.best_actions()
                if best is None:
                    raise SkipTest("This environment does not know its best actions.")
                texts = sorted(a.text for a in _check(check_actions, best, "best_actions()"))
                plan = _actions(env, "plan")
                _expect(bool(texts), "best_actions() is empty at the start of a task.")
                _expect(
                    plan[0].text in texts,
                    f"plan() begins with {plan[0].text!r}, which is none of best_actions(): "
                    f"{texts}.",
                )
                for action in sorted(best, key=lambda one: one.text):
                    env.reset(task, seed=0)
                    self._try_best(env, action, len(plan))

    def _try_best(self, env: Env, action: Action, before: int) -> None:
        outcome = env.act(action)
        _expect(
            outcome.reason is None,
            f"best_actions() holds {action.text!r}, which failed: {outcome.feedback}",
        )
        left = len(_actions(env, "plan"))
        _expect(
            left < before,
            f"best_actions() holds {action.text!r}, after which plan() has {left} actions, and "
            f"{before} before it; expected fewer.",
        )

    def test_forks_are_independent(self) -> None:
        """Acting in a fork leaves the original as it was, and the other way round."""
        with self.make() as env:
            forkable: Forkable = _needs(env, Forkable, "a fork of its state")
            original: Privileged = _needs(env, Privileged, "its state")
            env.reset(self.tasks()[0], seed=0)
            before = original.digest()
            with forkable.fork() as fork:
                inside = cast(Privileged, fork)
                _same(before, inside.digest(), "digest() of an environment and of its fork")
                for action in list(inside.admissible())[:3]:
                    fork.act(action)
                _same(before, original.digest(), "digest(), before and after acting in a fork,")
                there = inside.digest()
                env.act(original.admissible()[0])
                _same(there, inside.digest(), "digest() of a fork, when the original acts,")

    def test_the_same_goal_again_changes_nothing(self) -> None:
        """`pursue` changes the goal alone: what was done stays done."""
        with self.make() as env:
            redirectable: Redirectable = _needs(env, Redirectable, "another goal")
            _skip_if(env.realtime, "the world of this environment moves by itself")
            task = self.tasks()[0]
            for action, _ in self._walk(env, task, seed=8):
                before = _told(env)
                redirectable.pursue(task)
                _same(
                    before,
                    _told(env),
                    f"The text, progress, digest and actions after {action.text!r}, before and "
                    "after pursue() of the same task,",
                )

    def test_admissible_actions_work(self) -> None:
        """What is called admissible succeeds."""
        rng = random.Random("contract admissible")
        with self.make() as env:
            _needs(env, Privileged, "its state")
            first, *_ = tasks = self.tasks()[:3]
            env.reset(first, seed=0)
            for action in _actions(env, "admissible")[: self.steps]:
                env.reset(first, seed=0)
                _works(env, action)
            # Without a fork, an environment can't try beforehand what it offers later.
            for task in tasks if isinstance(env, Forkable) else ():
                env.reset(task, seed=0)
                for _ in range(self.steps):
                    admissible = _actions(env, "admissible")
                    if not admissible or _works(env, rng.choice(admissible)).over:
                        break

    def test_digest_follows_the_state(self) -> None:
        """Equal states have equal digests, and different states different ones."""
        with self.make() as env:
            privileged: Privileged = _needs(env, Privileged, "its state")
            _skip_if(env.realtime, "the world of this environment moves by itself")
            seen: dict[str, str] = {}
            for task in self.tasks()[:3]:
                for action, _ in self._walk(env, task, seed=7):
                    state = _json(dict(privileged.state()), "state()")
                    digest = privileged.digest()
                    _same(digest, privileged.digest(), "digest(), asked twice in a row,")
                    _expect(
                        seen.setdefault(digest, state) == state,
                        f"digest() is {digest!r} again after {action.text!r}, for another "
                        "state(); expected different digests for different states.",
                    )
            digests = {state: digest for digest, state in seen.items()}
            _expect(
                len(digests) == len(seen),
                "digest() differs for equal state(); expected one digest for one state.",
            )

    def test_state_and_tools_are_plain(self) -> None:
        """State, tools and their answers are JSON; things are `SceneObject`s."""
        with self.make() as env:
            _skip_if(
                not isinstance(env, Privileged | Tools | Factual),
                "this environment has neither state nor tools nor things",
            )
            env.reset(self.tasks()[0], seed=0)
            if isinstance(env, Privileged):
                _json(dict(env.state()), "state()")
            if isinstance(env, Factual):
                things = _check(check_objects, env.things())
                names = [thing.name for thing in things]
                doubles = sorted({name for name in names if names.count(name) > 1})
                _expect(not doubles, f"things() repeats the names {doubles}; expected each once.")
            for tool in env.tools() if isinstance(env, Tools) else ():
                named = isinstance(tool.get("name"), str) and tool.get("description")
                _expect(bool(named), f"tools() holds {tool!r}; expected a name and a description.")
                schema = tool.get("parameters")
                asks = isinstance(schema, Mapping) and bool(schema.get("required"))
                try:
                    answer = cast(Tools, env).call(str(tool["name"]), {})
                except (KeyError, ValueError) as error:
                    said = f"The tool {tool['name']!r} requires no arguments, and raises {error!r}."
                    _expect(asks, said)
                else:
                    _json(answer, f"The answer of the tool {tool['name']!r}")

    def _same_now(self, one: Env, two: Env, said: str) -> None:
        first, second = one.observe(), two.observe()
        _same(first.text, second.text, f"Observation.text, {said}")
        _same(one.progress(), two.progress(), f"progress(), {said}")
        if isinstance(one, Privileged) and isinstance(two, Privileged):
            _same(one.digest(), two.digest(), f"digest(), {said}")
        if one.determinism is Determinism.FRAMES:
            _same_picture(first, second, said.rstrip(","))

    def _solve(self, env: Env, task: Task) -> None:
        env.reset(task, seed=0)
        for action in cast(Expert, env).plan():
            env.act(action)

    def _follow(self, env: Env, plan: Sequence[Action]) -> Outcome:
        for action in plan:
            outcome = env.act(action)
            said = f"plan() holds {action.text!r}, which failed in its turn: {outcome.feedback}"
            _expect(outcome.reason is None, said)
        return outcome

    def _walk(
        self, env: Env, task: Task, seed: int, *, reset: bool = True
    ) -> Iterator[tuple[Action, Outcome]]:
        """A random episode, drawn from what the environment offers."""
        rng = random.Random(f"contract {seed}")
        if reset:
            env.reset(task, seed=seed)
        for _ in range(self.steps):
            action = rng.choice([*env.actions()] or [*env.vocabulary()])
            outcome = _check(check_outcome, env.act(action))
            yield action, outcome
            if outcome.over:
                return


def _fail(sentence: str) -> NoReturn:
    raise AssertionError(sentence)


def _expect(holds: bool, sentence: str) -> None:
    if not holds:
        _fail(sentence)


def _skip_if(holds: bool, why: str) -> None:
    if holds:
        raise SkipTest(f"Does not apply: {why}.")


def _needs(env: Env, capability: type, what: str) -> Any:
    """`env` as one that has the capability; the test is skipped where it has not."""
    _skip_if(not isinstance(env, capability), f"this environment does not offer {what}")
    return env


def _check(check: Callable[..., T], *arguments: object) -> T:
    """What `check` returns; what it finds wrong fails the test."""
    try:
        return check(*arguments)
    except BrokenContractError as error:
        _fail(str(error))


def _told(env: Env) -> tuple[object, ...]:
    """What an environment says of its state, without images."""
    digest = env.digest() if isinstance(env, Privileged) else ""
    actions = [action.text for action in env.actions()]
    return env.observe().text, env.progress(), digest, actions


def _actions(env: Env, method: str) -> list[Action]:
    return list(_check(check_actions, getattr(env, method)(), f"{method}()"))


def _works(env: Env, action: Action) -> Outcome:
    outcome = _check(check_outcome, env.act(action))
    said = f"admissible() holds {action.text!r}, which failed: {outcome.feedback}"
    _expect(outcome.reason is None, said)
    return outcome


def _same(one: object, two: object, what: str) -> None:
    _expect(one == two, f"{what} differ: {_short(one)} and {_short(two)}; expected the same.")


def _short(value: object) -> str:
    """A short description of a value; for a list, the texts of its actions."""
    if isinstance(value, list):
        value = [one.text if isinstance(one, Action) else one for one in value]
    shown = repr(value)
    return shown if len(shown) <= 200 else f"{shown[:200]}..."


def _check_parses(env: Env, action: Action) -> None:
    parsed = env.parse(action.text)
    _expect(
        parsed == action,
        f"parse({action.text!r}) returned {parsed!r}; expected the action of that text.",
    )


def _same_picture(one: Observation, two: Observation, when: str) -> None:
    if one.rgb is None or two.rgb is None:
        shown = one.rgb is None and two.rgb is None
        _expect(shown, f"There is an image once and none once, {when}; expected the same.")
        return
    same = one.rgb.shape == two.rgb.shape and np.array_equal(one.rgb, two.rgb)
    _expect(
        same,
        f"Two images differ, {when}; determinism FRAMES promises the same pixels.",
    )


def _json(value: object, what: str) -> str:
    try:
        return json.dumps(value, allow_nan=False, sort_keys=True)
    except (TypeError, ValueError) as error:
        _fail(f"{what} is not JSON ({error}); expected plain values, and no NaN.")
