"""Scores at the nodes of a trie of candidates: one request of vLLM for all of them.

The prompt with one node of the trie after it is asked for one more token, and for the
log-probabilities of the tokens that go on from that node. Unlike log-probabilities of the prompt's
own tokens, these leave the server its prefix cache: it computes the prompt once, and a token or so
for each node. Without images the prompts are token ids (/completions); with them they are chats
(/chat/completions/batch), and each image goes once, by the digest of its pixels.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from pydantic import JsonValue

from inhabit.agents.core import ModelError
from inhabit.agents.models.core import Image, Message
from inhabit.agents.models.endpoints.answer_tokens import CONTINUED, turn
from inhabit.agents.models.endpoints.next_tokens import NextTokens
from inhabit.agents.models.endpoints.refusals import RefusalError
from inhabit.agents.models.endpoints.wire import Body, messages
from inhabit.agents.models.trie import Trie

if TYPE_CHECKING:
    from inhabit.agents.models.endpoints.endpoint import Endpoint

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

    Args:
        following: node -> tokens.
        chats: whether the nodes are sent as chats, or else as token ids.
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
            ModelError: the server can't be asked so, or answers about other prompts.
        """
        prompts: list[JsonValue] = [[*prompt, *trie.path(node)] for node in group.nodes]
        body = {**self._asking(group), "prompt": prompts, "logprobs": len(group.tokens)}
        answer = await self._endpoint.next_tokens("/completions", body)
        _check_read(answer, trie, group, len(prompt))
        return answer

    async def by_chats(
        self, prompt: Sequence[Message], trie: Trie, group: NodeGroup, texts: Sequence[str]
    ) -> NextTokens:
        """The answer about the nodes of `group`, whose texts are `texts`, after a chat.

        Raises:
            ModelError: the server can't be asked so, or answers about other prompts.
        """
        body = {**self._asking(group), **CONTINUED, "logprobs": True}
        images = {p.sha256 for m in prompt for p in m.parts if isinstance(p, Image)}
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
                break
            except RefusalError as error:
                if not held or not error.mentions(_MISS):
                    raise
                held = set()
        self._held |= images
        _check_read(answer, trie, group, None)
        return answer

    def _asking(self, group: NodeGroup) -> Body:
        tokens: list[JsonValue] = [*sorted(group.tokens)]
        return {**self._fields, "logprob_token_ids": tokens, "return_tokens_as_token_ids": True}


def _check_read(answer: NextTokens, trie: Trie, group: NodeGroup, prompt: int | None) -> None:
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
