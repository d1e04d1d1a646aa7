"""An environment of anybody's, with every value checked and every exception one of the contract's.

What a stranger's environment does wrong ends one episode, as a `SimulatorError` that names the
cause. Workers and the episode runner put this around whatever a registration makes.
"""

from __future__ import annotations

import functools
import traceback
from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar, cast

from pydantic import JsonValue

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
    Redirectable,
    SceneError,
    SceneObject,
    SimulatorError,
    Task,
    TaskError,
    Tools,
    UnavailableError,
)
from inhabit.envs.entries import is_interrupt, message
from inhabit.envs.host import checks
from inhabit.envs.host.checks import (
    BrokenContractError,
    check_action,
    check_actions,
    check_class,
    check_is,
    check_objects,
    check_observation,
    check_outcome,
    check_progress,
    what,
)

T = TypeVar("T")
_SHOWN_LINES = 12
THEMSELVES = (SceneError, TaskError, UnavailableError, SimulatorError)
"""Exceptions that an environment may raise."""


def checked(env: object) -> Env:
    """`env`, with its capabilities and no others, held to the contract at every call.

    What it declares wrongly, such as a `Scene` that is missing, is said at `reset`: so it ends
    episodes, and not the run.

    Raises:
        BrokenContractError: it is no environment at all.
    """
    if isinstance(env, CheckedEnv):
        return env
    if not isinstance(env, Env):
        raise BrokenContractError(f"The registration's make() returned {what(env)}, not an Env.")
    return _checked(env)


def _checked(env: Env) -> CheckedEnv:
    found = object.__new__(_class(_capabilities(env)))
    found._env, found._size = env, None
    declared = getattr(env, "determinism", None)
    found.determinism = declared if isinstance(declared, Determinism) else Determinism.NONE
    return found


def unexpected(call: str, error: BaseException) -> str:
    """What to say of an exception that the contract doesn't know: the cause, and where it was."""
    lines = "".join(traceback.format_exception(error)).splitlines()[-_SHOWN_LINES:]
    return f"{call!r} failed with {type(error).__name__}: {message(error)}\n" + "\n".join(lines)


class CheckedEnv(Env):
    """An environment whose every answer has been looked at. Made by `checked`."""

    _env: Env
    _size: tuple[int, ...] | None
    """Shape of the episode's first image; None before it."""

    def reset(self, task: Task, *, seed: int) -> None:
        """Start `task`."""
        check_class(self._env)
        self._size = None
        self._ask("reset", lambda: self._env.reset(task, seed=seed))

    def observe(self) -> Observation:
        """The current observation."""
        seen = self._ask("observe", lambda: check_observation(self._env.observe()))
        if seen.rgb is not None:
            if self._size not in (None, seen.rgb.shape):
                raise BrokenContractError(
                    f"Observation.rgb is {seen.rgb.shape} and was {self._size} before; expected "
                    "one size throughout an episode."
                )
            self._size = seen.rgb.shape
        return seen

    def vocabulary(self) -> Sequence[Action]:
        """All actions of this type of scene."""
        return self._actions("vocabulary")

    def actions(self) -> Sequence[Action]:
        """What is plausible given what this agent has seen so far."""
        return self._actions("actions")

    def parse(self, text: str) -> Action | None:
        """The action that `text` means, or None."""
        parsed = self._ask("parse", lambda: self._env.parse(text))
        return None if parsed is None else check_action(parsed, "parse()")

    def act(self, action: Action) -> Outcome:
        """Execute one action."""
        return self._ask("act", lambda: check_outcome(self._env.act(action)))

    def progress(self) -> tuple[int, int]:
        """Goal conditions that hold now, and how many there are."""
        return self._ask("progress", lambda: check_progress(self._env.progress()))

    def close(self) -> None:
        """Release the simulator."""
        self._ask("close", self._env.close)

    def _actions(self, call: str) -> Sequence[Action]:
        return self._ask(call, lambda: check_actions(getattr(self._env, call)(), f"{call}()"))

    def _ask(
        self, call: str, ask: Callable[[], T], own: tuple[type[Exception], ...] = THEMSELVES
    ) -> T:
        # Answers are checked within `ask`: what they hold may raise where it is looked at.
        # Not `faults_as`, which takes longer and would stand in the traceback that is told.
        try:
            return ask()
        except own:
            raise
        except BaseException as error:
            if is_interrupt(error):
                raise
            raise SimulatorError(unexpected(call, error)) from error


class _Expert(CheckedEnv):
    def plan(self) -> Sequence[Action]:
        return self._actions("plan")

    def best_actions(self) -> frozenset[Action] | None:
        check_class(self._env)

        def best() -> frozenset[Action] | None:
            found = cast(Expert, self._env).best_actions()
            return None if found is None else frozenset(check_actions(found, "best_actions()"))

        return self._ask("best_actions", best)


class _Forkable(CheckedEnv):
    def fork(self) -> Env:
        fork = self._ask("fork", cast(Forkable, self._env).fork)
        check_is(fork, Env, "fork()")
        return _checked(fork)


class _Redirectable(CheckedEnv):
    def pursue(self, task: Task) -> None:
        self._ask("pursue", lambda: cast(Redirectable, self._env).pursue(task))


class _Tools(CheckedEnv):
    def tools(self) -> Sequence[Mapping[str, JsonValue]]:
        tools = self._ask("tools", lambda: list(cast(Tools, self._env).tools()))
        for number, tool in enumerate(tools):
            check_is(tool, Mapping, f"tools()[{number}]")
        return tools

    def call(self, name: str, arguments: Mapping[str, JsonValue]) -> JsonValue:
        """The answer of one function.

        Raises:
            KeyError, ValueError: raised by the environment for the caller's mistake.
        """
        env, own = cast(Tools, self._env), (KeyError, ValueError, *THEMSELVES)
        return self._ask("call", lambda: env.call(name, arguments), own)


class _Privileged(CheckedEnv):
    def state(self) -> Mapping[str, JsonValue]:
        state = self._ask("state", cast(Privileged, self._env).state)
        check_is(state, Mapping, "state()")
        return state

    def digest(self) -> str:
        digest = self._ask("digest", cast(Privileged, self._env).digest)
        check_is(digest, str, "digest()")
        return digest

    def admissible(self) -> Sequence[Action]:
        return self._actions("admissible")


class _Factual(CheckedEnv):
    def things(self) -> Sequence[SceneObject]:
        return self._ask("things", lambda: check_objects(cast(Factual, self._env).things()))


_CAPABLE = (_Expert, _Forkable, _Redirectable, _Tools, _Privileged, _Factual)


def _capabilities(env: Env) -> tuple[str, ...]:
    """What an environment can do. One with `plan` alone passes for an expert, whose `reset` says
    what is missing: a run with it ends its episodes with that cause.
    """
    found = checks.capabilities_of(env)
    return (*found, "Expert") if hasattr(env, "plan") and "Expert" not in found else found


@functools.cache
def _class(known: tuple[str, ...]) -> type[CheckedEnv]:
    """The subclass that can do just this much."""
    scene = property(lambda self: getattr(self._env, "Scene", None))
    realtime = property(lambda self: bool(getattr(self._env, "realtime", False)))
    return checks.with_these(CheckedEnv, _CAPABLE, known, Scene=scene, realtime=realtime)
