"""What counts as an answer of an endpoint. Whatever else it says is passed over.

Of vLLM, too: servers ignore fields that they don't know, and answer with status 200 all the same.
So an answer about next tokens is taken only if it holds exactly what was asked for.
"""

from __future__ import annotations

import json
import math
from collections.abc import Collection, Mapping, Sequence
from typing import Annotated, Any

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    JsonValue,
    NonNegativeInt,
    ValidationError,
    ValidatorFunctionWrapHandler,
    WrapValidator,
)

from inhabit.agents.core import ModelError
from inhabit.agents.models.core import ToolCall

_THOUGHTS = ("reasoning_content", "reasoning", "thinking")
_NOT_SENT = frozenset({"role", "annotations", "audio", "function_call"})
"""Fields of an answer that no request may hold."""


class Answered(BaseModel):
    """A part of an answer; unknown fields are passed over."""

    model_config = ConfigDict(frozen=True, extra="ignore")


def _as_text(arguments: object) -> object:
    """Some servers take a function's arguments apart before they send them."""
    return json.dumps(arguments) if isinstance(arguments, Mapping) else arguments or ""


class _Function(BaseModel):
    model_config = ConfigDict(frozen=True, extra="allow")

    name: str
    arguments: Annotated[str, BeforeValidator(_as_text)] = ""


class _FunctionCall(BaseModel):
    model_config = ConfigDict(frozen=True, extra="allow")

    id: str | None = None
    function: _Function

    def tool_call(self, number: int) -> ToolCall:
        """The call with every field that it came with."""
        fields: dict[str, JsonValue] = dict(self.model_extra or {})
        if self.function.model_extra:
            fields["function"] = dict(self.function.model_extra)
        name, arguments = self.function.name, self.function.arguments
        return ToolCall(self.id or f"call-{number}", name, arguments, fields)


def _no_nan(number: float) -> float:
    if math.isnan(number):
        raise ValueError("a log-probability is a number")
    return number


def _of_kind(parts: Sequence[JsonValue], *kinds: str) -> str:
    """What the parts of these kinds say."""
    return "".join(_text(p) for p in parts if isinstance(p, dict) and p.get("type") in kinds)


def _text(part: JsonValue) -> str:
    """Mistral's part of thought holds parts of text."""
    if isinstance(part, list):
        return "".join(map(_text, part))
    if isinstance(part, dict):
        return _text(part.get("text") or part.get("thinking"))
    return part if isinstance(part, str) else ""


class _Said(BaseModel):
    # Other fields are kept: some endpoints want them back in the next request.
    model_config = ConfigDict(frozen=True, extra="allow")

    content: str | tuple[JsonValue, ...] | None = None
    refusal: str | None = None
    tool_calls: tuple[_FunctionCall, ...] | None = None

    @property
    def text(self) -> str:
        """What was said; some servers put it into parts."""
        if isinstance(self.content, tuple):
            return _of_kind(self.content, "text", "output_text")
        return self.content or ""

    @property
    def thoughts(self) -> str:
        """Reasoning beside what was said; servers differ in the name of its field."""
        parts = self.content if isinstance(self.content, tuple) else ()
        found = [_of_kind(parts, "thinking", "reasoning"), *map(self.fields.get, _THOUGHTS)]
        return next((text for text in found if isinstance(text, str) and text), "")

    @property
    def fields(self) -> Mapping[str, JsonValue]:
        """What else the message holds."""
        return {k: v for k, v in (self.model_extra or {}).items() if v is not None}


LogProb = Annotated[float, Field(le=0.01, allow_inf_nan=True), AfterValidator(_no_nan)]
"""The logarithm of a probability in nats: at most 0, but for what rounding adds."""


class _Likely(Answered):
    token: str
    logprob: LogProb


class _Place(_Likely):
    top_logprobs: tuple[_Likely, ...] = ()


class _Places(Answered):
    content: tuple[_Place, ...] | None = None


def or_none(value: object, read: ValidatorFunctionWrapHandler) -> object:
    """`value` as `read` has it; None where that fails: the field is minor, the answer paid for."""
    try:
        return read(value)
    except ValidationError:
        return None


class _Choice(Answered):
    finish_reason: Annotated[str | None, WrapValidator(or_none)] = None
    index: Annotated[int | None, WrapValidator(or_none)] = None
    message: _Said
    logprobs: Annotated[_Places | None, WrapValidator(or_none)] = None


class _Details(Answered):
    cached_tokens: NonNegativeInt | None = 0


class _Usage(Answered):
    prompt_tokens: NonNegativeInt = 0
    prompt_tokens_details: Annotated[_Details | None, WrapValidator(or_none)] = None
    completion_tokens: NonNegativeInt | None = 0


class PaidAnswer(Answered):
    """An answer with what it cost."""

    usage: Annotated[_Usage | None, WrapValidator(or_none)] = None
    model: Annotated[str | None, WrapValidator(or_none)] = None
    system_fingerprint: Annotated[str | None, WrapValidator(or_none)] = None

    @property
    def served(self) -> str:
        """What answered, by the endpoint's own word; empty where it says nothing."""
        return " ".join(word for word in (self.model, self.system_fingerprint) if word)

    @property
    def tokens(self) -> tuple[int, int] | None:
        """Tokens read and written; None where it isn't said."""
        if self.usage is None:
            return None
        return self.usage.prompt_tokens, self.usage.completion_tokens or 0

    @property
    def tokens_kept(self) -> int:
        """Tokens that came from the endpoint's cache of prompts; 0 where it isn't said."""
        details = self.usage and self.usage.prompt_tokens_details
        return details.cached_tokens or 0 if details else 0


class PromptToken(Answered):
    """A token of the prompt, as vLLM scores it."""

    logprob: LogProb
    decoded_token: str | None = None


PromptScores = tuple[Mapping[int, PromptToken] | None, ...]
"""vLLM's score of each token of a prompt, by its id; None for the first token."""


class Tokens(Answered):
    """vLLM's answer of /tokenize."""

    tokens: tuple[NonNegativeInt, ...]


class Text(Answered):
    """vLLM's answer of /detokenize."""

    prompt: str


class Completion(PaidAnswer):
    """An answer. Whatever else an endpoint says of it is passed over."""

    choices: tuple[_Choice, ...] = Field(min_length=1)
    prompt_logprobs: PromptScores | None = None

    @property
    def texts(self) -> tuple[str, ...]:
        """What was said, in the order of the choices; a refusal is something said."""
        said = (choice.message for choice in self._in_order())
        return tuple(one.text or one.refusal or "" for one in said)

    @property
    def wants(self) -> tuple[ToolCall, ...]:
        """What the first choice wants called."""
        first = self._in_order()[0]
        return tuple(call.tool_call(i) for i, call in enumerate(first.message.tool_calls or ()))

    @property
    def thoughts(self) -> str:
        """The reasoning of the first choice, where it is told apart from what was said."""
        return self._in_order()[0].message.thoughts

    @property
    def finish(self) -> str:
        """Why the first choice ended; empty where it isn't said."""
        return self._in_order()[0].finish_reason or ""

    @property
    def fields(self) -> Mapping[str, JsonValue]:
        """What else the first choice's message holds, to be sent back with its tool calls."""
        fields = self._in_order()[0].message.fields
        return {name: value for name, value in fields.items() if name not in _NOT_SENT}

    @property
    def beginnings(self) -> Collection[tuple[str, float]] | None:
        """How likely the answer begins with each of some tokens, of which several may read alike;
        None where it isn't said. A token that a server lists twice counts once.
        """
        places = self._in_order()[0].logprobs
        if places is None or not places.content:
            return None
        return {(likely.token, likely.logprob) for likely in places.content[0].top_logprobs}

    def _in_order(self) -> Sequence[_Choice]:
        return sorted(self.choices, key=lambda choice: choice.index or 0)


_TOKEN = "token_id:"
_ROUNDED = 0.01
"""How far rounding may take a probability, or a sum of them, above 1."""


def _of_both_forms(logprobs: Any) -> Any:
    """The pairs of token and log-probability, of /chat/completions or of /completions."""
    if content := logprobs.get("content"):
        return [(one["token"], one["logprob"]) for one in content[0]["top_logprobs"]]
    return list(logprobs["top_logprobs"][0].items())


def _pairs(logprobs: Any) -> Any:
    try:
        return _of_both_forms(logprobs)
    except (AttributeError, KeyError, IndexError, TypeError) as error:
        raise ValueError("no log-probabilities of tokens") from error


class _Prompted(Answered):
    index: Annotated[int | None, WrapValidator(or_none)] = None
    logprobs: Annotated[
        tuple[tuple[str, float], ...] | None, BeforeValidator(_pairs), WrapValidator(or_none)
    ] = None


class NextTokens(PaidAnswer):
    """An answer about several prompts."""

    choices: tuple[_Prompted, ...] = Field(min_length=1)

    def following(self, prompts: int, tokens: Sequence[int]) -> list[Mapping[int, float]]:
        """For each of `prompts` the log-probabilities, in nats, of `tokens` after it.

        Raises:
            ModelError: the answer does not hold them, or they can't be probabilities.
        """
        if len(self.choices) != prompts:
            raise _unusable(f"scores {len(self.choices)} of {prompts} prompts")
        ordered = {choice.index: choice for choice in self.choices}
        if ordered.keys() != set(range(prompts)):
            raise _unusable("does not say which prompt each score belongs to")
        return [_sound(ordered[i].logprobs, tokens) for i in range(prompts)]


def _sound(pairs: Sequence[tuple[str, float]] | None, tokens: Sequence[int]) -> Mapping[int, float]:
    if pairs is None:
        raise _unusable("gives no log-probabilities of the next token")
    found: dict[int, float] = {}
    for name, logprob in pairs:
        id = name.removeprefix(_TOKEN)
        if not name.startswith(_TOKEN) or not id.isdecimal():
            raise _unusable("names tokens by their text, not by their number")
        if math.isnan(logprob) or logprob > _ROUNDED:
            raise _unusable(f"gives a token the log-probability {logprob:g}")
        if found.setdefault(int(id), logprob) != logprob:
            raise _unusable(f"gives token {id} two log-probabilities")
    if missing := [id for id in tokens if id not in found]:
        raise _unusable(
            f"leaves out {len(missing)} of {len(tokens)} tokens that it was asked about (vLLM "
            "knows logprob_token_ids from 0.19 on)"
        )
    if (total := math.fsum(map(math.exp, found.values()))) > 1 + _ROUNDED:
        raise _unusable(f"gives tokens probabilities that sum to {total:.2f}")
    return found


def _unusable(why: str) -> ModelError:
    return ModelError(f"The endpoint {why}.")
