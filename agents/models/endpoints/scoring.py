"""How likely texts are as answers, from log-probabilities along a trie of their tokens.

The scores are those of `agents/models/local/node_logits.py`: candidates are events of which no two
can both happen, so that one that is the beginning of another is scored as the answer that doesn't
go on so.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from inhabit.agents.core import ModelError, Ranked
from inhabit.agents.models.beam_search import BeamRules, Following, levels
from inhabit.agents.models.endpoints.completion import Completion, PromptToken
from inhabit.agents.models.endpoints.node_requests import CONTINUED
from inhabit.agents.models.endpoints.wire import Body
from inhabit.agents.models.trie import Trie

EXTRA: Body = {"prompt_logprobs": 0, **CONTINUED}
"""What vLLM is asked beside the messages, of which the last one is the candidate: the scores of the
tokens that are there, and of no others beside them."""


OTHERWISE = (
    "a server of vLLM (docs/models.md), a model in this process (--model local:NAME), or an agent "
    "that asks for words (--agent chat)"
)
"""What scores candidates, or does without."""
NO_SCORES = (
    "The endpoint gives no prompt_logprobs, which vLLM's does: leave --set prompt_logprobs=true "
    f"out, and take {OTHERWISE}."
)


@dataclass(frozen=True, slots=True)
class Token:
    """A token of a candidate, and the logarithm of its probability after those before it."""

    id: int
    logprob: float


class TrieScores:
    """What is known of one trie of candidates: the log-probability of each of its edges."""

    def __init__(self, texts: Sequence[str], trie: Trie, likely: dict[int, float]) -> None:
        """Score `texts`, the sequences of `trie`, by `likely`: edge -> nats."""
        self.trie = trie
        self.texts = texts
        self.likely = likely

    @cached_property
    def outgoing(self) -> Mapping[int, Sequence[int]]:
        """Node -> its edges."""
        return self.trie.outgoing()

    async def read(self, nodes: Iterable[int]) -> None:
        """Learn the edges of `nodes`. Here all of them are known."""

    async def rank(self) -> tuple[Ranked, ...]:
        """Every text with its score."""
        await self.read(range(len(self.trie)))
        ends = {node: self._none(node) for node in self.trie.ends if node is not None}
        return tuple(
            Ranked(
                text,
                math.fsum(self.likely[edge] for edge in path) + (0.0 if end is None else ends[end]),
                len(path),
            )
            for text, path, end in zip(self.texts, self.trie.paths, self.trie.ends, strict=True)
        )

    async def beam(self, rules: BeamRules) -> tuple[Ranked, ...]:
        """The best texts by a beam search, which reads the trie level by level.

        An exact one reads all of it: one request costs less than several.
        """
        if rules.exact:
            await self.read(range(len(self.trie)))
        searching = levels([(self.trie, rules)])
        (nodes,) = next(searching)
        while True:
            await self.read(nodes)
            try:
                (nodes,) = searching.send([[self._following(node) for node in nodes]])
            except StopIteration as end:
                ((*results,),) = end.value
                break
        return tuple(
            Ranked(self.texts[one.sequence], one.score, len(self.trie.paths[one.sequence]))
            for one in results
        )

    def _following(self, node: int) -> Following:
        none = self._none(node) if node in self.trie.ends else None
        return Following([self.likely[edge] for edge in self.outgoing[node]], none)

    def _none(self, node: int) -> float:
        """The logarithm of how likely none of the longer candidates follows."""
        taken = math.fsum(math.exp(self.likely[edge]) for edge in self.outgoing[node])
        return math.log1p(-taken) if taken < 1.0 else -math.inf


def scores_of(texts: Sequence[str], answers: Sequence[Completion]) -> TrieScores:
    """The scores of `texts`, from the answers about each.

    Raises:
        ModelError: an answer has no `prompt_logprobs`, or they don't end in the text.
    """
    paths = [tokens_of(text, answer) for text, answer in zip(texts, answers, strict=True)]
    trie = Trie.pack([[token.id for token in path] for path in paths])
    likely: dict[int, float] = {}
    for edges, path in zip(trie.paths, paths, strict=True):
        likely |= zip(edges, (token.logprob for token in path), strict=True)
    return TrieScores(texts, trie, likely)


def tokens_of(text: str, answer: Completion) -> tuple[Token, ...]:
    """The tokens at the end of the prompt that are `text`.

    Raises:
        ModelError: the answer has no `prompt_logprobs`, or they don't end in the text.
    """
    if not answer.prompt_logprobs:
        raise ModelError(NO_SCORES)
    found: list[Token] = []
    words = ""
    for place in reversed(answer.prompt_logprobs):
        if not place or len(words) >= len(text):
            break
        id, token = _here(place)
        found.append(Token(id, token.logprob))
        words = (token.decoded_token or "") + words
    if not found or words.strip() != text.strip():
        raise ModelError(
            f"The endpoint's prompt ends in {words!r} where {text!r} was to be scored: its chat "
            "template does something to the last message."
        )
    return tuple(reversed(found))


def _here(place: Mapping[int, PromptToken]) -> tuple[int, PromptToken]:
    return next(iter(place.items()))
