"""What a model is: messages in, scores or words out. Each declares what it can do."""

from __future__ import annotations

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import JsonValue

from inhabit.agents.core import Call, ModelError, Ranked


class Ability(StrEnum):
    """What a planner may ask of a model."""

    IMAGES = "images"
    RANK = "rank"
    """Exact log-probabilities of texts that are given to it."""
    BEAM = "beam"
    """The best of many texts, found token by token: `Model.beam`."""
    WORDS = "words"
    """Answers of its own: `Model.generate`."""
    N_BEST = "n_best"
    """Several answers to one prompt."""
    TOOLS = "tools"
    """Functions that it may want called, told apart from its words."""
    SCHEMA = "schema"
    """Answers held to a JSON schema."""
    EYES = "eyes"
    """Pictures put in words, apart from any prompt: `Model.look`."""
    LOGPROBS = "logprobs"
    """How likely each of a few letters is as the answer: `Model.choose`."""


@dataclass(frozen=True, slots=True, eq=False)
class Image:
    """A picture in a prompt: uint8 (H, W, 3)."""

    rgb: NDArray[np.uint8]

    @property
    def digest(self) -> str:
        """Sixteen hexadecimal digits that name these pixels in records."""
        shape = "x".join(map(str, self.rgb.shape)).encode()
        return hashlib.sha256(shape + self.rgb.tobytes()).hexdigest()[:16]


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A function that a model wants called. Every word of it is the model's: unchecked."""

    id: str
    """By which the answer names it."""
    name: str
    arguments: str
    """JSON, or what the model takes for it."""


@dataclass(frozen=True, slots=True, eq=False)
class Message:
    """One turn of a prompt: texts and pictures in their order."""

    role: Literal["system", "user", "assistant", "tool"]
    parts: tuple[str | Image, ...]
    wants: tuple[ToolCall, ...] = ()
    """What the assistant wanted called in this turn."""
    answers: str = ""
    """Of a tool's turn: the `ToolCall.id` that it answers."""

    def record(self) -> Mapping[str, JsonValue]:
        """As it goes into a record: a picture by its digest."""
        content: list[JsonValue] = [
            {"text": p} if isinstance(p, str) else {"image": p.digest} for p in self.parts
        ]
        record: dict[str, JsonValue] = {"role": self.role, "content": content}
        if self.wants:
            record["wants"] = [
                {"id": w.id, "name": w.name, "arguments": w.arguments} for w in self.wants
            ]
        if self.answers:
            record["answers"] = self.answers
        return record


@dataclass(frozen=True, slots=True)
class Ranking:
    """Every candidate with its exact log-probability, in the order given."""

    scores: tuple[Ranked, ...]
    call: Call


@dataclass(frozen=True, slots=True)
class GenerateOptions:
    """What `Model.generate` is asked for besides the prompt; its arguments explain them."""

    max_tokens: int | None = None
    seed: int = 0
    n: int = 1
    tools: Sequence[Mapping[str, JsonValue]] = ()
    schema: Mapping[str, JsonValue] | None = None


@dataclass(frozen=True, slots=True)
class Reply:
    """Generated texts, best first."""

    texts: tuple[str, ...]
    call: Call
    scores: tuple[Ranked, ...] = ()
    """`texts` with their log-probabilities, where it tells them."""
    wants: tuple[ToolCall, ...] = ()
    """What the best of them wants called; its text may then be empty."""


class Model(ABC):
    """A backend. It batches calls that wait for it at the same time as it sees fit."""

    name: str
    """KIND:NAME as the command line has it, such as "local:smollm2"."""
    abilities: frozenset[Ability]
    details: Mapping[str, JsonValue] = MappingProxyType({})
    """What else shapes its answers, such as {"dtype": "float32"}: for the record of a run."""
    samples: bool = False
    """Whether `generate` draws lots, so that another seed may give another answer."""

    @abstractmethod
    async def rank(self, prompt: Sequence[Message], candidates: Sequence[str]) -> Ranking:
        """Score `candidates` as the beginnings of an answer to `prompt`.

        Where one candidate goes on from another, the shorter one is scored as the answer that
        does not: no two candidates can both happen, and their probabilities sum to at most 1.

        Raises:
            ModelError: it can't (`Ability.RANK` is not declared), or the call failed.
        """

    async def beam(
        self, prompt: Sequence[Message], candidates: Sequence[str], *, width: int
    ) -> Ranking:
        """The best of `candidates` that a beam search of `width` finds, best first.

        It holds on to the `width` likeliest beginnings of candidates and gives at most so many.
        Their scores are those of `rank`; where `width` covers the candidates, it gives all.

        Raises:
            ModelError: it can't (`Ability.BEAM` is not declared), or the call failed.
        """
        raise ModelError(f"{self.name} can't search with a beam.")

    async def generate(
        self,
        prompt: Sequence[Message],
        *,
        max_tokens: int | None = None,
        seed: int = 0,
        n: int = 1,
        tools: Sequence[Mapping[str, JsonValue]] = (),
        schema: Mapping[str, JsonValue] | None = None,
    ) -> Reply:
        """Generate a reply to `prompt`. A backend implements `_generate`.

        Args:
            prompt: oldest turn first.
            max_tokens: limit of a reply; None for the model's own.
            seed: of the sampling, where the model `samples`.
            n: number of replies; more than one needs `Ability.N_BEST`.
            tools: functions that it may call instead, as `inhabit.envs.core.Tools.tools` describes
                them; needs `Ability.TOOLS`.
            schema: JSON schema of the object to reply with; needs `Ability.SCHEMA`.

        Raises:
            ModelError: the model lacks an ability, or the call failed.
        """
        asked = {Ability.N_BEST: n > 1, Ability.TOOLS: tools, Ability.SCHEMA: schema is not None}
        for ability, wanted in asked.items():
            if wanted and ability not in self.abilities:
                raise ModelError(f"{self.name} was asked for {ability.value}, which it can't do.")
        return await self._generate(prompt, GenerateOptions(max_tokens, seed, n, tools, schema))

    async def _generate(self, prompt: Sequence[Message], options: GenerateOptions) -> Reply:
        """Generate a reply. `options` ask for declared abilities alone.

        Raises:
            ModelError: the model generates no text, or the call failed.
        """
        raise ModelError(f"{self.name} can't generate text.")

    async def choose(self, prompt: Sequence[Message], letters: Sequence[str]) -> Ranking:
        """Score `letters`, one capital each, as the whole answer to `prompt`, in the order given.

        Endpoints tell of the likeliest tokens alone: a letter that is none of these scores minus
        infinity.

        Raises:
            ModelError: it can't (`Ability.LOGPROBS` is not declared), or the call failed.
        """
        raise ModelError(f"{self.name} can't say how likely letters are.")

    def count_earlier(self, calls: Iterable[Call]) -> None:
        """Hear what the run has asked before it was cut off: a budget is for all of it."""
        return

    async def look(self, pictures: Sequence[Image]) -> Sequence[Mapping[str, float]]:
        """What each of `pictures` shows: kinds of things, and how sure it is of each, 0..1.

        Raises:
            ModelError: it can't (`Ability.EYES` is not declared).
        """
        raise ModelError(f"{self.name} has no eyes to look at pictures with.")

    def check_budget(self) -> None:
        """See that there is anything left to spend.

        Raises:
            BudgetError: there isn't.
        """
        return

    async def close(self) -> None:
        """Let go of memory and connections. Safe to call twice."""
        return
