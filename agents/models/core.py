"""What a model is: messages in, scores or words out. Each declares what it can do."""

from __future__ import annotations

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from types import MappingProxyType
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import JsonValue

from agents.core import Call, Ranked


class Ability(StrEnum):
    """What a planner may ask of a model."""

    IMAGES = "images"
    RANK = "rank"
    """Exact log-probabilities of texts that are given to it."""
    BEAM = "beam"
    N_BEST = "n_best"
    TOOLS = "tools"
    SCHEMA = "schema"
    LOGPROBS = "logprobs"


@dataclass(frozen=True, slots=True, eq=False)
class Image:
    """A picture in a prompt: uint8 (H, W, 3)."""

    rgb: NDArray[np.uint8]

    @property
    def digest(self) -> str:
        """Sixteen hexadecimal digits that name these pixels in records."""
        shape = "x".join(map(str, self.rgb.shape)).encode()
        return hashlib.sha256(shape + self.rgb.tobytes()).hexdigest()[:16]


@dataclass(frozen=True, slots=True, eq=False)
class Message:
    """One turn of a prompt: texts and pictures in their order."""

    role: Literal["system", "user", "assistant", "tool"]
    parts: tuple[str | Image, ...]

    def record(self) -> Mapping[str, JsonValue]:
        """As it goes into a record: a picture by its digest."""
        content: list[JsonValue] = [
            {"text": p} if isinstance(p, str) else {"image": p.digest} for p in self.parts
        ]
        return {"role": self.role, "content": content}


@dataclass(frozen=True, slots=True)
class Ranking:
    """Every candidate with its exact log-probability, in the order given."""

    scores: tuple[Ranked, ...]
    call: Call


@dataclass(frozen=True, slots=True)
class Reply:
    """Words of a model, best first where it gave several."""

    texts: tuple[str, ...]
    call: Call
    logprobs: tuple[float, ...] = field(default=())


class Model(ABC):
    """A backend. It batches calls that wait for it at the same time as it sees fit."""

    name: str
    """KIND:NAME as the command line has it, such as "local:smollm2"."""
    abilities: frozenset[Ability]
    details: Mapping[str, JsonValue] = MappingProxyType({})
    """What else shapes its answers, such as {"dtype": "float32"}: for the record of a run."""

    @abstractmethod
    async def rank(self, prompt: Sequence[Message], candidates: Sequence[str]) -> Ranking:
        """Score `candidates` as the beginnings of an answer to `prompt`.

        Where one candidate goes on from another, the shorter one is scored as the answer that
        does not: no two candidates can both happen, and their probabilities sum to at most 1.

        Raises:
            ModelError: it can't (`Ability.RANK` is not declared), or the call failed.
        """

    @abstractmethod
    async def generate(
        self, prompt: Sequence[Message], *, max_tokens: int = 256, seed: int = 0
    ) -> Reply:
        """Answer `prompt` in words.

        Raises:
            ModelError: the call failed.
        """

    async def close(self) -> None:
        """Let go of memory and connections. Safe to call twice."""
        return
