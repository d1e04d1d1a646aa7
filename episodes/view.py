"""What an agent is shown of an environment."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from inhabit.agents.core import Grant
from inhabit.envs.core import Action, Clip, Env, Expert, Forkable, Observation, Privileged, Tools
from inhabit.envs.errors import UserError
from inhabit.episodes.recording.schema import Choice, Sight


class LackingError(UserError, ValueError):
    """An environment can't give what a run asks of it. Names both."""


def shown(observation: Observation, sight: Sight, other: Observation | None = None) -> Observation:
    """What the agent sees of it: with `NONE` no image of any kind, with `BLANK` black ones, with
    `OTHER` those of `other`.
    """
    if sight is Sight.SHOWN:
        return observation
    rgb, clips = None, tuple[Clip, ...]()
    if sight is Sight.OTHER and other is not None:
        rgb, clips = other.rgb, other.clips
    elif sight is Sight.BLANK:
        rgb = None if observation.rgb is None else _black(observation.rgb)
        clips = tuple(Clip(_black(c.frames), c.text) for c in observation.clips)
    return replace(observation, rgb=rgb, clips=clips, depth=None, instances=None, names=())


def check(env: Env, choice: Choice, granted: frozenset[Grant]) -> None:
    """See that an environment can give what a run asks of it.

    Raises:
        LackingError: it can't.
    """
    if choice is Choice.ORACLE and not isinstance(env, Privileged):
        raise LackingError(
            "This environment can't tell which actions would succeed, as --candidates "
            "oracle needs. Use --candidates seen."
        )
    for grant in sorted(granted):
        if not isinstance(env, _CAPABILITY[grant]):
            raise LackingError(
                f"This environment can't grant {grant.value!r}: {_WHY[grant]}. Choose another "
                "agent or environment, or leave the grant out."
            )


_CAPABILITY: Mapping[Grant, type] = {
    Grant.EXPERT: Expert,
    Grant.LOOKAHEAD: Forkable,
    Grant.TOOLS: Tools,
}
_WHY = {
    Grant.EXPERT: "it has no expert",
    Grant.LOOKAHEAD: "it can't copy its state",
    Grant.TOOLS: "it answers no questions",
}


def candidates_of(env: Env, choice: Choice) -> Sequence[Action]:
    """What an agent may choose from; `check` says whether `env` can tell."""
    match choice:
        case Choice.VOCABULARY:
            return env.vocabulary()
        case Choice.SEEN:
            return env.actions()
        case Choice.ORACLE:
            assert isinstance(env, Privileged), "`check` comes first."
            return env.admissible()


def _black(pixels: NDArray[np.uint8]) -> NDArray[np.uint8]:
    return np.zeros_like(pixels)
