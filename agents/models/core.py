"""The contract of a model: messages in, scores or text out. Each model declares its abilities."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from types import MappingProxyType
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import JsonValue

from inhabit.agents.core import Call, ModelError, Ranked
from inhabit.agents.models.beam_search import BeamRules


class Ability(StrEnum):
    """What an agent may ask of a model."""

    IMAGES = "images"
    RANK = "rank"
    """Exact log-probabilities of given texts: `Model.rank`."""
    BEAM = "beam"
    """Beam search among given texts: `Model.beam`."""
    WORDS = "words"
    """Generated text: `Model.generate`."""
    N_BEST = "n_best"
    """Several replies to one prompt."""
    TOOLS = "tools"
    """Native tool calls."""
    SCHEMA = "schema"
    """Replies constrained to a JSON schema."""
    LOGPROBS = "logprobs"
    """Log-probabilities of single letters as the reply: `Model.choose`."""


@dataclass(frozen=True, eq=False)
class Image:
    """An image in a prompt: uint8 (H, W, 3)."""

    rgb: NDArray[np.uint8]

    @cached_property
    def sha256(self) -> str:
        """The digest of shape and pixels, in hexadecimal."""
        shape = "x".join(map(str, self.rgb.shape)).encode()
        return hashlib.sha256(shape + self.rgb.tobytes()).hexdigest()

    @property
    def digest(self) -> str:
        """Sixteen hexadecimal digits that name these pixels in records."""
        return self.sha256[:16]


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A tool call that a model requests. All of it is model output, unchecked."""

    id: str
    """Identifies the call in its answer."""
    name: str
    arguments: str
    """Arguments of the call, meant to be JSON."""
    fields: Mapping[str, JsonValue] = field(default_factory=dict)
    """Every other field of the call, such as a thought signature; sent back unchanged."""


@dataclass(frozen=True, slots=True, eq=False)
class Message:
    """One turn of a prompt: texts and images in order."""

    role: Literal["system", "user", "assistant", "tool"]
    parts: tuple[str | Image, ...]
    wants: tuple[ToolCall, ...] = ()
    """Tool calls of an assistant's turn."""
    answers: str = ""
    """The `ToolCall.id` that a tool's turn answers."""
    fields: Mapping[str, JsonValue] = field(default_factory=dict)
    """Other fields of an assistant's turn with tool calls; sent back unchanged."""

    @property
    def texts(self) -> tuple[str, ...]:
        """Its texts, in order."""
        return tuple(part for part in self.parts if isinstance(part, str))

    @property
    def images(self) -> tuple[Image, ...]:
        """Its images, in order."""
        return tuple(part for part in self.parts if isinstance(part, Image))

    def record(self) -> Mapping[str, JsonValue]:
        """The message as a record keeps it: images by digest."""
        content: list[JsonValue] = [
            {"text": p} if isinstance(p, str) else {"image": p.digest} for p in self.parts
        ]
        record: dict[str, JsonValue] = {"role": self.role, "content": content}
        if self.wants:
            record["wants"] = [
                {"id": w.id, "name": w.name, "arguments": w.arguments}
                | ({"fields": dict(w.fields)} if w.fields else {})
                for w in self.wants
            ]
        if self.answers:
            record["answers"] = self.answers
        if self.fields:
            record["fields"] = dict(self.fields)
        return record


@dataclass(frozen=True, slots=True)
class Ranking:
    """Candidates with their log-probabilities, in the order given."""

    scores: tuple[Ranked, ...]
    call: Call


@dataclass(frozen=True, slots=True)
class GenerateOptions:
    """What `Model.generate` is asked for besides the prompt; its arguments explain them."""

    max_tokens: int | None
    seed: int
    n: int
    tools: Sequence[Mapping[str, JsonValue]]
    schema: Mapping[str, JsonValue] | None
    call_tools: bool


@dataclass(frozen=True, slots=True)
class Reply:
    """Generated texts, best first."""

    texts: tuple[str, ...]
    call: Call
    scores: tuple[Ranked, ...] = ()
    """`texts` with their log-probabilities, where the model tells them."""
    wants: tuple[ToolCall, ...] = ()
    """Tool calls of the best of `texts`, which may then be empty."""
    fields: Mapping[str, JsonValue] = field(default_factory=dict)
    """Other fields of the message, to be sent back with its tool calls (`Message.fields`)."""


class UnsupportedError(ModelError):
    """A model turned out to lack an ability that it was thought to have.

    `Model.abilities` no longer names it, so an agent may ask in another way.
    """

    def __init__(self, message: str, ability: Ability) -> None:
        super().__init__(message)
        self.ability = ability
        """The ability that the model lacks."""


class Model:
    """A backend. It implements what its `abilities` name, and may batch concurrent calls."""

    name: str
    """KIND:NAME as the command line has it, such as "local:smollm2"."""
    abilities: frozenset[Ability]
    details: Mapping[str, JsonValue] = MappingProxyType({})
    """What else affects the output, such as {"dtype": "float32"}: for the record of a run."""
    samples: bool = False
    """Whether `generate` samples, so that another seed may give another reply."""
    instead: Mapping[Ability, str] = MappingProxyType({})
    """What to do for want of an ability, in sentences."""
    checked: str = ""
    """How exact the model's scores were found to be, in a clause."""

    async def detected(self, images: Sequence[Image]) -> str:
        """The objects that it detects in the last of the `images` of a step: for the record.

        "" for models that have no names for what they see: all but those with a detector.
        """
        return ""

    async def rank(self, prompt: Sequence[Message], candidates: Sequence[str]) -> Ranking:
        """Score `candidates` as the beginnings of a reply to `prompt`.

        A candidate that is a prefix of others is scored as a reply that does not continue with
        any of them: candidates are mutually exclusive, and their probabilities sum to at most 1.

        Raises:
            ModelError: `Ability.RANK` is not declared, or the call failed.
        """
        raise ModelError(f"{self.name} can't rank texts: it has no method `rank`.")

    async def beam(
        self,
        prompt: Sequence[Message],
        candidates: Sequence[str],
        *,
        width: int,
        end: bool = False,
        length_penalty: float = 0.0,
        exact: bool = False,
    ) -> Ranking:
        """The best of `candidates` by a beam search of `width`, best first. A backend implements
        `_beam`.

        It keeps the `width` likeliest prefixes of candidates, and returns at most so many
        candidates; if `width` covers the candidates, all are returned.

        Args:
            prompt: oldest turn first.
            candidates: texts to search.
            width: of the beam.
            end: score the end-of-answer token after each candidate as well, and drop an ended
                candidate that is not among the `width` likeliest continuations of its step, as
                `generate` of transformers does. Otherwise scores are those of `rank`.
            length_penalty: candidates are ordered by log-probability / tokens ** length_penalty.
            exact: return the `width` best of all candidates, as scoring each of them would find
                them. Few of their tokens are read where the model knows what it wants.

        Raises:
            ModelError: `Ability.BEAM` is not declared, the model has no tokens to search by, or
                the call failed.
        """
        if Ability.BEAM not in self.abilities:
            raise ModelError(f"{self.name} can't search with a beam.")
        return await self._beam(prompt, candidates, BeamRules(width, end, length_penalty, exact))

    async def _beam(
        self, prompt: Sequence[Message], candidates: Sequence[str], rules: BeamRules
    ) -> Ranking:
        """Search by `rules`, for a model that declares `Ability.BEAM`. Raises as `beam` does."""
        raise ModelError(f"{self.name} declares Ability.BEAM, but has no beam search.")

    async def generate(
        self,
        prompt: Sequence[Message],
        *,
        max_tokens: int | None = None,
        seed: int = 0,
        n: int = 1,
        tools: Sequence[Mapping[str, JsonValue]] = (),
        schema: Mapping[str, JsonValue] | None = None,
        call_tools: bool = True,
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
            call_tools: False where `tools` are named because earlier turns called them, and the
                reply must be text.

        Raises:
            ModelError: the model lacks an ability, or the call failed.
        """
        asked = {Ability.N_BEST: n > 1, Ability.TOOLS: tools, Ability.SCHEMA: schema is not None}
        for ability, wanted in asked.items():
            if wanted and ability not in self.abilities:
                raise ModelError(f"{self.name} was asked for {ability.value}, which it can't do.")
        options = GenerateOptions(max_tokens, seed, n, tools, schema, call_tools)
        return await self._generate(prompt, options)

    async def _generate(self, prompt: Sequence[Message], options: GenerateOptions) -> Reply:
        """Generate a reply. `options` ask for declared abilities alone.

        Raises:
            ModelError: the model generates no text, or the call failed.
        """
        raise ModelError(f"{self.name} can't generate text.")

    async def choose(self, prompt: Sequence[Message], letters: Sequence[str]) -> Ranking:
        """Score `letters`, one capital each, as the whole reply to `prompt`, in the order given.

        Endpoints return the likeliest tokens only; any other letter scores minus infinity.

        Raises:
            ModelError: `Ability.LOGPROBS` is not declared, or the call failed.
        """
        raise ModelError(f"{self.name} returns no log-probabilities of letters.")

    def count_earlier(self, calls: Iterable[Call]) -> None:
        """Count the calls of a run before it was interrupted: its budget is for the whole run."""
        return

    def check_budget(self) -> None:
        """Check that the budget is not spent.

        Raises:
            BudgetError: it is spent.
        """
        return

    async def close(self) -> None:
        """Release memory and connections. Safe to call twice."""
        return
