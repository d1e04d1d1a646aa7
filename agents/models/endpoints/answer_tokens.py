"""The tokens of texts as beginnings of an answer, from the tokenizer of vLLM's server."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING

from pydantic import JsonValue

from inhabit.agents.core import ModelError
from inhabit.agents.models.endpoints.wire import Body

if TYPE_CHECKING:
    from inhabit.agents.models.endpoints.endpoint import Endpoint

CONTINUED: Body = {"add_generation_prompt": False, "continue_final_message": True}
"""Has a server end the prompt with the last message, which is the beginning of the answer."""
_ASK: JsonValue = {"role": "user", "content": "x"}
_SOME = "yes"


def turn(text: str) -> Body:
    """The beginning of an answer, as the last message of a chat."""
    return {"role": "assistant", "content": text}


class AnswerTokens:
    """Asks /tokenize and /detokenize, which cost nothing, about each text once.

    A text is tokenized in its place, at the end of a chat: a template may end in a space that a
    token of the text takes in.
    """

    def __init__(self, endpoint: Endpoint, model: str, extra: Body) -> None:
        """Ask `endpoint` about the tokens of `model`; `extra` are further fields of a chat."""
        self._endpoint = endpoint
        self._model = model
        self._extra = extra
        self._before: tuple[int, ...] | None = None
        self._end: int | None = None
        self._tokens: dict[str, tuple[int, ...]] = {}
        self._texts: dict[tuple[int, ...], str | None] = {(): ""}
        self._asking = asyncio.Lock()  # Many episodes begin with the same candidates.

    async def prompt(self, messages: Sequence[JsonValue]) -> tuple[int, ...]:
        """The tokens of a chat without images, up to where the answer begins.

        Raises:
            ModelError: the server has no tokenizer to ask; this holds for every method.
        """
        return await self._chat([*messages, turn("")])

    async def of(self, texts: Sequence[str]) -> list[tuple[int, ...]] | None:
        """The tokens of each of `texts`; None where one of them changes the tokens before it."""
        async with self._asking:
            before = await self._begin()
            new = [text for text in dict.fromkeys(texts) if text not in self._tokens]
            wholes = await asyncio.gather(*(self._chat([_ASK, turn(text)]) for text in new))
            for text, whole in zip(new, wholes, strict=True):
                joined = whole[: len(before)] != before
                self._tokens[text] = () if joined else whole[len(before) :]
                self._texts.setdefault(self._tokens[text], text)
        found = [self._tokens[text] for text in texts]
        return found if all(found) else None

    async def texts(self, paths: Sequence[tuple[int, ...]]) -> list[str | None]:
        """The text that is tokenized as each of `paths`; None where there is none."""
        async with self._asking:
            new = [path for path in dict.fromkeys(paths) if path not in self._texts]
            for path, text in zip(new, await asyncio.gather(*map(self._text, new)), strict=True):
                self._texts[path] = text
        return [self._texts[path] for path in paths]

    async def end(self) -> int:
        """The token that the chat template puts after an answer.

        Raises:
            ModelError: it puts none.
        """
        if self._end is None:
            chat: list[JsonValue] = [_ASK, turn(_SOME)]
            so_far, whole = await asyncio.gather(
                self._chat(chat), self._chat(chat, continue_final_message=False)
            )
            if whole[: len(so_far)] != so_far or whole == so_far:
                raise ModelError("The chat template ends an answer with no token: leave out end.")
            self._end = whole[len(so_far)]
        return self._end

    async def _begin(self) -> tuple[int, ...]:
        if self._before is None:
            self._before = await self.prompt([_ASK])
        return self._before

    async def _text(self, path: tuple[int, ...]) -> str | None:
        text = await self._endpoint.detokenize({"model": self._model, "tokens": list(path)})
        back = await self._chat([_ASK, turn(text)])
        return text if back == (*await self._begin(), *path) else None

    async def _chat(self, messages: list[JsonValue], **fields: JsonValue) -> tuple[int, ...]:
        asked: Body = {"model": self._model, "messages": messages}
        return await self._endpoint.tokenize({**self._extra, **CONTINUED, **asked, **fields})
