"""The language of chat endpoints: what they are sent, and what counts as an answer of theirs."""

from __future__ import annotations

import base64
import io
import json
import math
from collections.abc import Mapping, Sequence
from typing import Annotated

import numpy as np
from numpy.typing import NDArray
from PIL import Image as Picture
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

from inhabit.agents.models.core import Image, Message, ToolCall

Body = dict[str, JsonValue]
"""A request, or a part of one, as JSON."""


def messages(prompt: Sequence[Message]) -> list[JsonValue]:
    """`prompt` as an endpoint reads it: plain text where there are no pictures among it."""
    return [_message(message) for message in prompt]


def functions(tools: Sequence[Mapping[str, JsonValue]]) -> list[JsonValue]:
    """`tools`, as `inhabit.envs.core.Tools.tools` has them, as an endpoint reads them."""
    return [{"type": "function", "function": dict(tool)} for tool in tools]


def answer_format(schema: Mapping[str, JsonValue]) -> Body:
    """Have the answer be JSON of exactly this schema."""
    form: Body = {"name": "answer", "strict": True, "schema": dict(schema)}
    return {"type": "json_schema", "json_schema": form}


class _Answered(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")


def _as_text(arguments: object) -> object:
    """Some servers take a function's arguments apart before they send them."""
    return json.dumps(arguments) if isinstance(arguments, Mapping) else arguments


class _Function(_Answered):
    name: str
    arguments: Annotated[str, BeforeValidator(_as_text)] = ""


class _FunctionCall(_Answered):
    id: str | None = None
    function: _Function


def _no_nan(number: float) -> float:
    if math.isnan(number):
        raise ValueError("a log-probability is a number")
    return number


class _Said(_Answered):
    content: str | None = None
    refusal: str | None = None
    tool_calls: tuple[_FunctionCall, ...] | None = None


LogProb = Annotated[float, Field(le=0.01, allow_inf_nan=True), AfterValidator(_no_nan)]
"""The logarithm of a probability in nats: at most 0, but for what rounding adds."""


class _Likely(_Answered):
    token: str
    logprob: LogProb


class _Place(_Likely):
    top_logprobs: tuple[_Likely, ...] = ()


class _Places(_Answered):
    content: tuple[_Place, ...] | None = None


def _or_none(value: object, read: ValidatorFunctionWrapHandler) -> object:
    """None where it can't be read: an answer is paid for, and not to be asked for again because of
    what stands beside it.
    """
    try:
        return read(value)
    except ValidationError:
        return None


class _Choice(_Answered):
    index: Annotated[int | None, WrapValidator(_or_none)] = None
    message: _Said
    logprobs: Annotated[_Places | None, WrapValidator(_or_none)] = None


class _Usage(_Answered):
    prompt_tokens: NonNegativeInt = 0
    completion_tokens: NonNegativeInt | None = 0


class PromptToken(_Answered):
    """A token of the prompt, as vLLM scores it."""

    logprob: LogProb
    decoded_token: str | None = None


class Completion(_Answered):
    """An answer. Whatever else an endpoint says of it is passed over."""

    choices: tuple[_Choice, ...] = Field(min_length=1)
    usage: Annotated[_Usage | None, WrapValidator(_or_none)] = None
    prompt_logprobs: tuple[Mapping[str, PromptToken] | None, ...] | None = None
    """vLLM's: of each token of the prompt, by its id."""
    model: Annotated[str | None, WrapValidator(_or_none)] = None
    system_fingerprint: Annotated[str | None, WrapValidator(_or_none)] = None

    @property
    def texts(self) -> tuple[str, ...]:
        """What was said, in the order of the choices; a refusal is something said."""
        said = (choice.message for choice in self._in_order())
        return tuple(one.content or one.refusal or "" for one in said)

    @property
    def wants(self) -> tuple[ToolCall, ...]:
        """What the first choice wants called."""
        first = self._in_order()[0]
        return tuple(
            ToolCall(call.id or f"call-{i}", call.function.name, call.function.arguments)
            for i, call in enumerate(first.message.tool_calls or ())
        )

    @property
    def beginnings(self) -> Mapping[str, float] | None:
        """How likely the answer begins with each of some tokens; None where it isn't said."""
        places = self._in_order()[0].logprobs
        if places is None or not places.content:
            return None
        return {likely.token: likely.logprob for likely in places.content[0].top_logprobs}

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

    def _in_order(self) -> Sequence[_Choice]:
        return sorted(self.choices, key=lambda choice: choice.index or 0)


def _message(message: Message) -> JsonValue:
    body: Body = {"role": message.role, "content": _content(message)}
    if message.wants:
        body["tool_calls"] = [
            {
                "id": want.id,
                "type": "function",
                "function": {
                    "name": _sendable(want.name),
                    "arguments": _sendable(want.arguments),
                },
            }
            for want in message.wants
        ]
    if message.answers:
        body["tool_call_id"] = message.answers
    return body


def _content(message: Message) -> JsonValue:
    if all(isinstance(part, str) for part in message.parts):
        return _sendable("".join(part for part in message.parts if isinstance(part, str)))
    return [_part(part) for part in message.parts]


def _part(part: str | Image) -> JsonValue:
    if isinstance(part, str):
        return {"type": "text", "text": _sendable(part)}
    return {"type": "image_url", "image_url": {"url": data_url(part.rgb)}}


def _sendable(text: str) -> str:
    """Half a surrogate pair, which a model may well have said, can't be sent: "?" stands for it."""
    return text.encode("utf-8", errors="replace").decode()


def data_url(rgb: NDArray[np.uint8]) -> str:
    """The picture itself as an address: PNG, so that what is sent are the pixels on record."""
    packed = io.BytesIO()
    Picture.fromarray(rgb).save(packed, "PNG", compress_level=1)
    return f"data:image/png;base64,{base64.b64encode(packed.getvalue()).decode()}"
