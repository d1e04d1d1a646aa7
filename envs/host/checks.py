"""What the values of an environment have to be, checked wherever they enter the rest of inhabit.

Environments are written by anybody. A value of a wrong type that came through would fail far from
its cause, or not at all, so that each is looked at once, and what is wrong is said in a sentence.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import Any, TypeVar

import numpy as np
from pydantic import BaseModel

from inhabit.envs.core import (
    Action,
    Clip,
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
    SceneObject,
    SimulatorError,
    Tools,
)

E = TypeVar("E", bound=Env)
_MOST = 1 << 53
"""The largest whole number that a record holds."""


@dataclass(frozen=True, slots=True)
class Capability:
    """An optional capability of an environment."""

    protocol: type
    methods: tuple[str, ...]
    """Methods that the capability needs, all of them."""
    signs: tuple[str, ...]
    """Methods that announce the capability: with one of them, the others must not be missing."""


CAPABILITIES: Mapping[str, Capability] = {
    one.protocol.__name__: one
    for one in (
        Capability(Expert, ("plan", "best_actions"), ("plan", "best_actions")),
        Capability(Forkable, ("fork",), ()),
        Capability(Redirectable, ("pursue",), ()),
        Capability(Tools, ("tools", "call"), ("tools",)),
        Capability(Privileged, ("state", "digest", "admissible"), ("digest", "admissible")),
        Capability(Factual, ("things",), ()),
    )
}


def capabilities_of(env: Env) -> tuple[str, ...]:
    """The names of an environment's capabilities."""
    return tuple(name for name, one in CAPABILITIES.items() if isinstance(env, one.protocol))


def with_these(
    base: type[E], parts: Iterable[type[E]], capabilities: Iterable[str], **own: Any
) -> type[E]:
    """The subclass of a proxy that has these capabilities and no others.

    Args:
        base: the proxy.
        parts: the proxies with one capability each, which have its name after an underscore.
        capabilities: which of them.
        own: attributes of the class.
    """
    named = {part.__name__[1:]: part for part in parts}
    bases = tuple(named[name] for name in capabilities) or (base,)
    made: type[E] = type(base.__name__, bases, {"__module__": base.__module__, **own})
    return made


class BrokenContractError(SimulatorError):
    """An environment returned what no environment may return. Says what was expected."""


def check_class(env: Env) -> None:
    """See that an environment declares what every environment has to.

    Raises:
        BrokenContractError: it lacks `Scene` or `determinism`, or half of a capability.
    """
    name = type(env).__name__
    scene = getattr(env, "Scene", None)
    if not (isinstance(scene, type) and issubclass(scene, BaseModel)):
        raise BrokenContractError(
            f"{name}.Scene is {what(scene)}; expected the pydantic model of its scene parameters."
        )
    if not isinstance(getattr(env, "determinism", None), Determinism):
        raise BrokenContractError(
            f"{name}.determinism is {what(getattr(env, 'determinism', None))}; expected a member "
            "of Determinism."
        )
    for capability, one in CAPABILITIES.items():
        has = [sign for sign in one.signs if hasattr(env, sign)]
        lacking = [method for method in one.methods if not hasattr(env, method)]
        if has and lacking:
            raise BrokenContractError(
                f"{name} has {has[0]}() and no {lacking[0]}(): {capability} needs "
                f"{', '.join(one.methods)}."
            )


def check_observation(seen: object) -> Observation:
    """`seen`, which `observe()` returned, with its documented types and shapes.

    Raises:
        BrokenContractError: it has others.
    """
    if not isinstance(seen, Observation):
        raise _wrong("observe()", seen, "an Observation")
    if not isinstance(seen.text, str):
        raise _wrong("Observation.text", seen.text, 'a text ("" if there is nothing to say)')
    rgb = seen.rgb
    if rgb is not None:
        check_picture("Observation.rgb", rgb)
    if seen.depth is not None:
        _check_map("Observation.depth", seen.depth, np.float32, rgb)
        if np.isnan(seen.depth).any():
            raise _wrong("Observation.depth", "NaN in it", "metres, or inf where nothing is hit")
    if seen.instances is not None:
        _check_map("Observation.instances", seen.instances, np.int32, rgb)
        low, high = int(seen.instances.min()), int(seen.instances.max())
        if low < -1 or high >= len(seen.names):
            raise BrokenContractError(
                f"Observation.instances runs from {low} to {high}; expected indices into its "
                f"{len(seen.names)} names, and -1 where nothing is hit."
            )
    for clip in seen.clips:
        _check_clip(clip)
    return seen


def check_picture(where: str, rgb: object) -> None:
    """See that `rgb` is an image: uint8 (H, W, 3), not empty.

    Raises:
        BrokenContractError: it is not.
    """
    if not isinstance(rgb, np.ndarray):
        raise _wrong(where, rgb, "a NumPy array, uint8 (H, W, 3), or None")
    if rgb.dtype != np.uint8 or rgb.ndim != 3 or rgb.shape[2] != 3 or 0 in rgb.shape:
        raise BrokenContractError(
            f"{where} is {rgb.dtype} {rgb.shape}; expected uint8 (H, W, 3), with H and W of at "
            "least 1."
        )


def check_outcome(outcome: object) -> Outcome:
    """`outcome`, which `act()` returned, with its documented types and ranges.

    Raises:
        BrokenContractError: it has others.
    """
    if not isinstance(outcome, Outcome):
        raise _wrong("act()", outcome, "an Outcome")
    reason = outcome.reason
    if reason is not None and not isinstance(reason, Reason):
        near = f"Reason.{str(reason).upper()}" if reason in list(Reason) else "a member of Reason"
        raise _wrong("Outcome.reason", reason, f"{near}, or None if the action worked")
    if not isinstance(outcome.feedback, str):
        raise _wrong("Outcome.feedback", outcome.feedback, "a sentence")
    check_progress((outcome.met, outcome.total), "Outcome.met and total")
    if not isinstance(outcome.over, bool | np.bool_):
        raise _wrong("Outcome.over", outcome.over, "True or False")
    if not _whole(outcome.cost) or outcome.cost < 0:
        raise _wrong("Outcome.cost", outcome.cost, "a whole number from 0 to 2**53")
    return outcome


def check_progress(progress: object, where: str = "progress()") -> tuple[int, int]:
    """`progress`, two whole numbers: conditions met, and how many there are.

    Raises:
        BrokenContractError: it is something else.
    """
    if not isinstance(progress, tuple | list) or len(progress) != 2:
        raise _wrong(where, progress, "two whole numbers (met, total)")
    met, total = progress
    if not (_whole(met) and _whole(total) and 0 <= met <= total and total >= 1):
        expected = "whole numbers with 0 <= met <= total and 1 <= total <= 2**53"
        raise _wrong(where, tuple(progress), expected)
    return int(met), int(total)


def check_actions(actions: object, where: str) -> Sequence[Action]:
    """`actions`, a sequence of `Action` that the method `where` returned.

    Raises:
        BrokenContractError: it is something else.
    """
    if not isinstance(actions, Iterable) or isinstance(actions, str | Mapping):
        raise _wrong(where, actions, "a sequence of Action")
    return [check_action(action, f"{where}[{i}]") for i, action in enumerate(actions)]


def check_action(action: object, where: str) -> Action:
    """`action`, an `Action` of texts.

    Raises:
        BrokenContractError: it is something else.
    """
    if not isinstance(action, Action):
        raise _wrong(where, action, "an Action")
    if not (isinstance(action.text, str) and action.text):
        raise _wrong(f"{where}.text", action.text, "a text that is not empty")
    if not (
        isinstance(action.verb, str)
        and isinstance(action.arguments, tuple)
        and all(isinstance(argument, str) for argument in action.arguments)
    ):
        raise _wrong(
            f"{where}, verb and arguments",
            (action.verb, action.arguments),
            "a text and a tuple of texts",
        )
    return action


def check_objects(objects: object) -> Sequence[SceneObject]:
    """`objects`, the sequence of `SceneObject` that `things()` returned.

    Raises:
        BrokenContractError: it is something else.
    """
    if not isinstance(objects, Iterable) or isinstance(objects, str | Mapping):
        raise _wrong("things()", objects, "a sequence of SceneObject")
    found = list(objects)
    for number, one in enumerate(found):
        if not isinstance(one, SceneObject):
            raise _wrong(f"things()[{number}]", one, "a SceneObject")
    return found


def check_is(value: object, kind: type, where: str) -> None:
    """See that `value`, which the method `where` returned, is a `kind`.

    Raises:
        BrokenContractError: it is something else.
    """
    if not isinstance(value, kind):
        raise _wrong(where, value, f"a {kind.__name__}")


def what(value: object) -> str:
    """A short description of a value: its type, and the value itself if it is small."""
    if value is None or isinstance(value, bool):
        return str(value)
    if isinstance(value, np.ndarray):
        return f"{value.dtype} {value.shape}"
    try:
        shown = repr(value)
    except Exception:  # noqa: BLE001 (whatever a stranger's own `__repr__` raises)
        return f"a {type(value).__name__}"
    return shown if len(shown) <= 60 else f"a {type(value).__name__}"


def _check_map(where: str, array: object, dtype: type, rgb: object) -> None:
    size = rgb.shape[:2] if isinstance(rgb, np.ndarray) else None
    good = isinstance(array, np.ndarray) and array.dtype == dtype and array.ndim == 2
    if not good or 0 in array.shape or (size is not None and array.shape != size):  # type: ignore[attr-defined]
        sized = "(H, W)" if size is None else str(size)
        raise _wrong(where, array, f"{np.dtype(dtype)} {sized}")


def _check_clip(clip: object) -> None:
    if not isinstance(clip, Clip):
        raise _wrong("Observation.clips", clip, "a tuple of Clip")
    frames = clip.frames
    good = isinstance(frames, np.ndarray) and frames.dtype == np.uint8 and frames.ndim == 4
    if not good or frames.shape[3] != 3 or 0 in frames.shape:
        raise _wrong("Clip.frames", frames, "uint8 (T, H, W, 3)")
    if not isinstance(clip.text, str):
        raise _wrong("Clip.text", clip.text, "a text")


def _whole(number: object) -> bool:
    if isinstance(number, bool) or not isinstance(number, Integral):
        return False
    return int(number) <= _MOST


def _wrong(where: str, value: object, expected: str) -> BrokenContractError:
    returned = "returned" if where.endswith("()") else "is"
    return BrokenContractError(f"{where} {returned} {what(value)}; expected {expected}.")
