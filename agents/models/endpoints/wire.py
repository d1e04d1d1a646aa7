"""What a chat endpoint is sent: messages, tools and schemas as JSON."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from pydantic import JsonValue

from inhabit.agents.models.core import Image, Message, ToolCall
from inhabit.envs.pictures import data_url

Body = dict[str, JsonValue]
"""A request, or a part of one, as JSON."""


def messages(prompt: Sequence[Message], held: Collection[str] | None = None) -> list[JsonValue]:
    """`prompt` as an endpoint reads it: plain text where there are no images among it.

    Args:
        prompt: oldest turn first.
        held: for a server of vLLM, which knows images by their digests: those that it holds, which
            are sent without pixels.
    """
    return [_message(message, held) for message in prompt]


def functions(tools: Sequence[Mapping[str, JsonValue]]) -> list[JsonValue]:
    """`tools`, as `inhabit.envs.core.Tools.tools` has them, as an endpoint reads them."""
    return [{"type": "function", "function": dict(tool)} for tool in tools]


def answer_format(schema: Mapping[str, JsonValue]) -> Body:
    """Have the answer be JSON of exactly this schema."""
    form: Body = {"name": "answer", "strict": True, "schema": dict(schema)}
    return {"type": "json_schema", "json_schema": form}


def holds_image(body: JsonValue) -> bool:
    """Whether a message of `body` holds an image."""
    if isinstance(body, dict):
        return body.get("type") == "image_url" or any(map(holds_image, body.values()))
    return isinstance(body, list) and any(map(holds_image, body))


def without_system(turns: JsonValue) -> JsonValue:
    """`turns`, as `messages` gives them, with a first system message in the user's first."""
    joined: JsonValue
    match turns:
        case [{"role": "system", "content": str(told)}, {"role": "user", "content": said}, *rest]:
            if isinstance(said, list):
                joined = [{"type": "text", "text": f"{told}\n\n"}, *said]
            else:
                joined = f"{told}\n\n{said}"
            return [{"role": "user", "content": joined}, *rest]
    return turns


def _message(message: Message, held: Collection[str] | None) -> JsonValue:
    body: Body = {**message.fields, "role": message.role, "content": _content(message, held)}
    if message.wants:
        body["tool_calls"] = [_tool_call(want) for want in message.wants]
    if message.answers:
        body["tool_call_id"] = message.answers
    return body


def _tool_call(want: ToolCall) -> JsonValue:
    """A tool call as it came: Gemini's, for one, is refused without its `thought_signature`."""
    fields = dict(want.fields)
    more = fields.pop("function", None)
    function: Body = {
        **(more if isinstance(more, dict) else {}),
        "name": _sendable(want.name),
        "arguments": _sendable(want.arguments),
    }
    return {"type": "function", **fields, "id": want.id, "function": function}


def _content(message: Message, held: Collection[str] | None) -> JsonValue:
    if not message.images:
        return _sendable("".join(message.texts))
    return [
        _image(part, held) if isinstance(part, Image) else {"type": "text", "text": _sendable(part)}
        for part in message.parts
    ]


def _image(image: Image, held: Collection[str] | None) -> JsonValue:
    if held is None:
        return {"type": "image_url", "image_url": {"url": data_url(image.rgb)}}
    # The server believes the name: so it is the digest of the pixels, and all of it.
    name = image.sha256
    url: JsonValue = None if name in held else {"url": data_url(image.rgb)}
    return {"type": "image_url", "image_url": url, "uuid": name}


def _sendable(text: str) -> str:
    """Half a surrogate pair, which a model may well have said, can't be sent: "?" stands for it."""
    return text.encode("utf-8", errors="replace").decode()
