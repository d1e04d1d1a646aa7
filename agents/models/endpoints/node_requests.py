"""Scores at the nodes of a trie of candidates: one request of vLLM for all of them.

The prompt with one node of the trie after it is asked for one more token, and for the
log-probabilities of the tokens that go on from that node. Unlike log-probabilities of the prompt's
own tokens, these leave the server its prefix cache: it computes the prompt once, and a token or so
for each node. Without images the prompts are token ids (/completions); with them they are chats
(/chat/completions/batch), and each image goes once, by the digest of its pixels. What the tokens of
a text are, as the beginning of an answer, the tokenizer of the server says.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from pydantic import JsonValue

from inhabit.agents.core import ModelError
from inhabit.agents.models.core import Message
from inhabit.agents.models.endpoints.completion import NextTokens
from inhabit.agents.models.endpoints.refusals import RefusalError
from inhabit.agents.models.endpoints.wire import Body, messages
from inhabit.agents.models.trie import Trie

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


TOKENS = 128
"""Tokens that one request of vLLM may ask about (MAX_LOGPROB_TOKEN_IDS)."""
_PROMPTS = 1024
"""Prompts that one request of vLLM may hold (VLLM_MAX_COMPLETION_PROMPTS)."""
_SCORES = 120_000
"""Scores that one answer about chats may hold: about 15 MB of JSON (`transport.MOST`).

An answer about token ids is a quarter as long.
"""
_MISS = r"cache miss|data is not provided"


@dataclass(slots=True)
class NodeGroup:
    """Nodes that one request asks about; each is asked about all of `tokens`."""

    nodes: list[int] = field(default_factory=list)
    tokens: set[int] = field(default_factory=set)

    def takes(self, tokens: Sequence[int], scores: int) -> bool:
        """Whether there is room for one more node, with these following tokens."""
        together, nodes = len(self.tokens.union(tokens)), len(self.nodes) + 1
        return together <= TOKENS and nodes <= _PROMPTS and together * nodes <= scores


def grouped(following: Mapping[int, Sequence[int]], *, chats: bool) -> list[NodeGroup]:
    """Few groups of nodes, from the tokens that follow each.

    A node that more tokens follow than one request may ask about is in several groups.

    Nodes are sent as chats if `chats`, else as token ids.
    """
    scores = _SCORES if chats else 4 * _SCORES
    parts = [
        (node, tokens[i : i + TOKENS])
        for node, tokens in following.items()
        for i in range(0, len(tokens), TOKENS)
    ]
    groups: list[NodeGroup] = []
    for node, tokens in sorted(parts, key=lambda part: -len(part[1])):
        group = next((one for one in groups if one.takes(tokens, scores)), None)
        if group is None:
            groups.append(group := NodeGroup())
        group.nodes.append(node)
        group.tokens.update(tokens)
    return groups


class NodeRequests:
    """Asks one server about nodes. It remembers which images the server holds."""

    def __init__(self, endpoint: Endpoint, model: str, extra: Body) -> None:
        """Ask `endpoint` for `model`, with further fields `extra`."""
        self._endpoint = endpoint
        self._fields: Body = {**extra, "model": model, "max_tokens": 1, "temperature": 0.0}
        self._held: set[str] = set()

    async def by_tokens(self, prompt: tuple[int, ...], trie: Trie, group: NodeGroup) -> NextTokens:
        """The answer about the nodes of `group` after a prompt of token ids.

        Raises:
            ModelError: the server can't be asked so.
        """
        prompts: list[JsonValue] = [[*prompt, *trie.path(node)] for node in group.nodes]
        body = {**self._asking(group), "prompt": prompts, "logprobs": len(group.tokens)}
        return await self._endpoint.next_tokens("/completions", body)

    async def by_chats(
        self, prompt: Sequence[Message], group: NodeGroup, texts: Sequence[str]
    ) -> NextTokens:
        """The answer about the nodes of `group`, whose texts are `texts`, after a chat.

        Raises:
            ModelError: the server can't be asked so.
        """
        body = {**self._asking(group), **CONTINUED, "logprobs": True}
        images = {image.sha256 for message in prompt for image in message.images}
        held = images & self._held
        while True:
            chats: list[JsonValue] = [
                [*messages(prompt, images if i else held), turn(text)]
                for i, text in enumerate(texts)
            ]
            try:
                answer = await self._endpoint.next_tokens(
                    "/chat/completions/batch", {**body, "messages": chats}
                )
                self._held |= images
                return answer
            except RefusalError as error:
                if not held or not error.mentions(_MISS):
                    raise
                held = set()

    def _asking(self, group: NodeGroup) -> Body:
        tokens: list[JsonValue] = [*sorted(group.tokens)]
        return {**self._fields, "logprob_token_ids": tokens, "return_tokens_as_token_ids": True}


def check_read(answer: NextTokens, trie: Trie, group: NodeGroup, prompt: int | None) -> None:
    """See that the server read what it was sent, after a prompt of so many tokens, if it is known.

    Raises:
        ModelError: by its own count it read something else.
    """
    if answer.tokens is None:
        return
    read = answer.tokens[0] - sum(int(trie.depths[node]) for node in group.nodes)
    if read % len(group.nodes) or (prompt is not None and read != prompt * len(group.nodes)):
        raise ModelError(
            f"The endpoint read {answer.tokens[0]} tokens, which are not those that it was sent."
        )
