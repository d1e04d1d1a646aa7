"""Asks any agent within a deadline; its mistakes become a `ModelError` that names the cause."""

from __future__ import annotations

import asyncio
import inspect
import math
import re
import signal
import threading
import time
from collections.abc import Awaitable, Generator, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import fields
from functools import partial
from types import coroutine
from typing import Any, TypeVar
from warnings import warn

import numpy as np
from pydantic import BaseModel, TypeAdapter, ValidationError

from inhabit.agents.core import (
    Agent,
    Call,
    CutShortError,
    Decision,
    ModelError,
    Ranked,
    RequestError,
    UndoError,
    View,
)
from inhabit.agents.custom import CustomAgent
from inhabit.agents.models.core import Model
from inhabit.agents.registry import AgentRegistration
from inhabit.envs.core import Action, SimulatorError, TaskError, UnavailableError
from inhabit.envs.entries import faults_as, first_problem, is_interrupt, raised, same_folder

T = TypeVar("T")


class LateError(Exception):
    """The deadline has passed."""


class _AlarmError(BaseException):
    """Interrupts code that computes. It is no `Exception`, which that code may well catch."""


async def within(seconds: float, asked: Awaitable[T]) -> T:
    """What `asked` comes to. What computes can be interrupted on the main thread alone, between
    two instructions of Python or within a regular expression.

    Raises:
        LateError: it took longer than `seconds`.
    """
    whole = asyncio.timeout(seconds)
    try:
        async with whole:
            return await _watched(asked, time.monotonic() + seconds)
    except _AlarmError:
        raise LateError from None
    except TimeoutError:
        if whole.expired():
            raise LateError from None
        raise  # Its own, of something that it waited for.


@coroutine
def _watched(asked: Awaitable[T], until: float) -> Generator[Any, Any, T]:
    steps = asked.__await__()
    go_on = partial(steps.send, None)
    while True:
        try:
            with _alarm(until - time.monotonic()):
                waits_for = go_on()
        except StopIteration as done:
            return done.value  # type: ignore[no-any-return]
        try:
            go_on = partial(steps.send, (yield waits_for))
        except BaseException as error:  # noqa: BLE001 - what is awaited gets it, a cancellation too
            go_on = partial(steps.throw, error)


@contextmanager
def _alarm(seconds: float) -> Iterator[None]:
    """Raise `_AlarmError` in the block after so many seconds, and each second from then on."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    computes = True

    def interrupt(number: int, frame: object) -> None:
        if computes:
            raise _AlarmError

    before = signal.signal(signal.SIGALRM, interrupt)
    other, every = signal.setitimer(signal.ITIMER_REAL, max(seconds, 1e-3), 1.0)
    try:
        try:
            yield
        finally:
            computes = False
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, before)
        signal.setitimer(signal.ITIMER_REAL, other, every)  # Somebody else's goes on.


_RANKED, _CALL = TypeAdapter(Ranked), TypeAdapter(Call)
_DIGEST = re.compile(r"[0-9a-f]{1,64}")


def make_agent(registration: AgentRegistration, settings: BaseModel, model: Model | None) -> Agent:
    """The agent that `registration` makes.

    Raises:
        ModelError: the model can't do what it needs; or making it failed, or gave no agent.
        UnavailableError, TaskError, RequestError: it lacks something on this machine, or can't read
            it.
    """

    def wrong(why: str) -> ModelError:
        return ModelError(f"The agent {registration.name!r} can't be made: {why}.")

    own = (ModelError, UnavailableError, TaskError, RequestError)
    with faults_as(lambda error: wrong(f"it {raised(error)}"), *own), same_folder():
        agent = registration.make(settings, model)
    if not isinstance(agent, Agent):
        raise wrong(f"its make() returned a {type(agent).__name__}, not an Agent")
    return agent


async def decide(agent: Agent, view: View, seconds: float = math.inf) -> Decision:
    """What `agent` decides, looked at before anybody acts on it.

    Args:
        agent: decides. One that asks a person may take any time.
        view: what it decides on.
        seconds: that it may take.

    Raises:
        ModelError: the model behind it failed; or the agent took longer, raised something else, or
            returned something that is not a decision.
        SimulatorError, CutShortError: as `Agent.decide`.
        RequestError: the command asks for what can't be done.
        UndoError: a person takes back the last step, and `view` allows it.
    """
    own = (ModelError, SimulatorError, CutShortError, RequestError, LateError, UndoError)
    try:
        with faults_as(lambda error: ModelError(f"The agent {name(agent)} {raised(error)}."), *own):
            answer: object = agent.decide(view)
            if not inspect.isawaitable(answer):
                raise ModelError(
                    f"The decide() of {name(agent)} is not a coroutine: write "
                    "'async def decide(self, view)'."
                )
            # Not `await answer` alone: it may compute for ever.
            unlimited = agent.interactive or seconds == math.inf
            decision = await (answer if unlimited else within(seconds, answer))
    except LateError:
        raise ModelError(
            f"The agent {name(agent)} had not decided after {seconds:g} s, the decision_deadline."
        ) from None
    except UndoError as error:
        if view.can_undo:
            raise
        raise ModelError(f"The agent {name(agent)} takes back a step that must stay.") from error
    return check_decision(decision, name(agent))


def check_budget(agent: Agent) -> None:
    """See that there is anything left to spend, as `Agent.check_budget` does.

    Raises:
        ModelError: there isn't, or the agent raised something else.
    """
    with faults_as(
        lambda e: ModelError(f"The agent {name(agent)} {raised(e)} in check_budget()."), ModelError
    ):
        agent.check_budget()


async def close_agent(agent: Agent) -> None:
    """Close `agent`. What it raises becomes a warning: the episodes are recorded already."""
    try:
        await agent.close()
    except BaseException as error:
        if is_interrupt(error):
            raise
        warn(f"The agent {name(agent)} {raised(error)} when it was closed.", stacklevel=2)


def check_decision(decision: object, agent: str) -> Decision:
    """`decision`, if it is one, of the documented types.

    Raises:
        ModelError: it is not; says what was expected.
    """
    if asyncio.iscoroutine(decision):
        decision.close()
    if not isinstance(decision, Decision):
        raise _wrong(agent, "decide()", decision, "a Decision")
    action = decision.action
    if action is not None and not (isinstance(action, Action) and isinstance(action.text, str)):
        raise _wrong(agent, "Decision.action", action, "an Action or None; see View.parse")
    if not isinstance(decision.stop, bool):
        raise _wrong(agent, "Decision.stop", decision.stop, "True or False")
    planned = decision.planned
    if not isinstance(planned, tuple) or not all(isinstance(one, str) for one in planned):
        raise _wrong(agent, "Decision.planned", planned, "a tuple of texts")
    if not isinstance(decision.normaliser, float | int | None):
        raise _wrong(agent, "Decision.normaliser", decision.normaliser, "a number or None")
    for field in ("raw", "description", "reasoning"):
        if not isinstance(text := getattr(decision, field), str):
            raise _wrong(agent, f"Decision.{field}", text, "a text")
    _check_tuple(agent, "ranked", decision.ranked, Ranked)
    _check_tuple(agent, "calls", decision.calls, Call)
    for ranked in decision.ranked:
        _check_fields(agent, ranked)
    for call in decision.calls:
        _check_fields(agent, call)
    _check_images(agent, decision.images)
    return decision


def name(agent: Agent) -> str:
    """An agent in a sentence: its class, or the function behind it."""
    return agent.name if isinstance(agent, CustomAgent) else type(agent).__qualname__


def _check_tuple(agent: str, field: str, found: object, kind: type) -> None:
    if not isinstance(found, tuple) or not all(isinstance(one, kind) for one in found):
        raise _wrong(agent, f"Decision.{field}", found, f"a tuple of {kind.__name__}")


def _check_fields(agent: str, one: Ranked | Call) -> None:
    adapter = _RANKED if isinstance(one, Ranked) else _CALL
    try:
        adapter.validate_python({field.name: getattr(one, field.name) for field in fields(one)})
    except ValidationError as error:
        raise ModelError(
            f"The agent {agent} returned a {type(one).__name__} that is wrong: "
            f"{first_problem(error)}."
        ) from error
    if isinstance(one, Ranked) and math.isnan(one.logprob):
        raise _wrong(agent, "Ranked.logprob", one.logprob, "a log-probability")


def _check_images(agent: str, images: object) -> None:
    if not isinstance(images, Mapping):
        raise _wrong(agent, "Decision.images", images, "images by digest")
    for digest, rgb in images.items():
        if not (isinstance(digest, str) and _DIGEST.fullmatch(digest)):
            raise _wrong(agent, "the key of Decision.images", digest, "a digest, as Image has it")
        good = isinstance(rgb, np.ndarray) and rgb.dtype == np.uint8 and rgb.ndim == 3
        if not good or rgb.shape[2] != 3 or 0 in rgb.shape:
            raise _wrong(agent, f"Decision.images[{digest!r}]", rgb, "uint8 (H, W, 3)")


def _wrong(agent: str, where: str, value: object, expected: str) -> ModelError:
    shown = "None" if value is None else f"a {type(value).__name__} ({repr(value)[:60]})"
    what = f"{shown} from {where}" if where.endswith("()") else f"{where} as {shown}"
    return ModelError(f"The agent {agent} returned {what}; expected {expected}.")
