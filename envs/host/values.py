"""The values of the contract as plain JSON, and back."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from inhabit.envs.core import Action, Clip, Observation, Outcome, Reason, SceneObject
from inhabit.envs.host.memory import SharedMemory


def from_action(action: Action) -> list[str]:
    """Its text, its verb, and its arguments."""
    return [action.text, action.verb, *action.arguments]


def to_action(plain: Sequence[str]) -> Action:
    """The opposite of `from_action`."""
    text, verb, *arguments = plain
    return Action(text, verb, tuple(arguments))


def from_actions(actions: Iterable[Action]) -> list[list[str]]:
    """A list of actions, in order."""
    return [from_action(a) for a in actions]


def to_actions(plain: Iterable[Sequence[str]]) -> list[Action]:
    """The opposite of `from_actions`."""
    return [to_action(p) for p in plain]


def from_outcome(outcome: Outcome) -> list[Any]:
    """Its fields in their order."""
    reason = None if outcome.reason is None else outcome.reason.value
    o = outcome
    return [reason, o.feedback, int(o.met), int(o.total), bool(o.over), int(o.cost)]


def to_outcome(plain: Sequence[Any]) -> Outcome:
    """The opposite of `from_outcome`."""
    reason, feedback, met, total, over, cost = plain
    return Outcome(None if reason is None else Reason(reason), feedback, met, total, over, cost)


def from_things(things: Iterable[SceneObject]) -> list[list[Any]]:
    """Their fields in their order."""
    return [
        [t.name, t.kind, dict(t.states), t.support, t.inside, t.held, int(t.pixels)] for t in things
    ]


def to_things(plain: Iterable[Sequence[Any]]) -> list[SceneObject]:
    """The opposite of `from_things`."""
    return [SceneObject(*fields) for fields in plain]


def from_observation(seen: Observation, memory: SharedMemory) -> dict[str, Any]:
    """An observation as plain values; arrays go to `memory`, replaced by their locations."""
    memory.clear()
    arrays = {"rgb": seen.rgb, "depth": seen.depth, "instances": seen.instances}
    places = {k: memory.write(a) for k, a in arrays.items() if a is not None}
    clips = [[memory.write(c.frames), c.text] for c in seen.clips]
    return {"text": seen.text, "names": list(seen.names), "clips": clips, **places}


def to_observation(plain: dict[str, Any], memory: SharedMemory) -> Observation:
    """The opposite of `from_observation`; the arrays are copies that the caller owns.

    Raises:
        ValueError: an array's location is invalid.
    """
    arrays = {k: memory.read(plain[k]) for k in ("rgb", "depth", "instances") if k in plain}
    clips = tuple(Clip(memory.read(place), text) for place, text in plain["clips"])
    return Observation(plain["text"], clips=clips, names=tuple(plain["names"]), **arrays)
