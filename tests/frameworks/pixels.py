"""What an episode shows, as digests of pixels, and what another program shows of it."""

from __future__ import annotations

import base64
import hashlib
import io
import os
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from PIL import Image

from inhabit.frameworks.factory import rollouts
from inhabit.frameworks.rollout import RolloutFactory

SEED = 4
FAILS = "dance with the moon"
_MORE = int(os.environ.get("INHABIT_DOOR_EPISODES", "0"))
"""Episodes of each environment through each door, in place of the few of the tests."""
WORLDS = [(env, _MORE or n) for env, n in (("toy", 2), ("alfred", 2), ("virtualhome", 1))]
"""(environment, episodes) that go through each door."""


@dataclass(frozen=True)
class Shown:
    """An episode whose first action fails."""

    texts: Sequence[str]
    """Of its actions."""
    pixels: Sequence[str]
    """A digest for each turn: one more."""
    value: float
    """The sum of its rewards."""


@cache
def factory_of(env: str, n: int) -> RolloutFactory:
    """The episodes that go through a door."""
    return rollouts(env, n, seed=SEED)


@cache
def shown(env: str, n: int) -> Sequence[Shown]:
    """What each of them shows."""
    return [_played(factory_of(env, n), task) for task in range(n)]


def _played(factory: RolloutFactory, task: int) -> Shown:
    """A task as its expert does it, after one action that fails."""
    with factory.open() as rollout:
        turns, texts = [rollout.reset(task)], [FAILS]
        turns.append(rollout.act(FAILS))
        assert turns[1].reason is not None
        while not turns[-1].done:
            # Anew each time: an expert that searches does not know its whole way.
            texts.append(rollout.session.plan()[0])
            turns.append(rollout.act(texts[-1]))
        value = rollout.value
    assert turns[-1].success
    return Shown(texts, [digest(turn.picture) for turn in turns], value)


def digest(pixels: Any) -> str:
    """Of a picture's pixels, uint8 (H, W, 3)."""
    assert pixels.dtype == np.uint8 and pixels.ndim == 3
    return hashlib.sha256(repr(pixels.shape).encode() + pixels.tobytes()).hexdigest()


def of_png(encoded: str) -> str:
    """The digest of a PNG file in base64."""
    return digest(np.asarray(Image.open(io.BytesIO(base64.b64decode(encoded)))))


def of_parts(parts: Sequence[dict[str, Any]]) -> str:
    """The digest of the only picture among a chat message's content parts."""
    (url,) = [part["image_url"]["url"] for part in parts if part["type"] == "image_url"]
    kind, encoded = url.split(",")
    assert kind == "data:image/png;base64"
    return of_png(encoded)
