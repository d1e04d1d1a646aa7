"""Exact scores of candidates from an endpoint, in the fewest requests that it can do.

A server of vLLM is asked about the nodes of the candidates' trie. Whether it answers as it should
is seen from its answers when the model is loaded: from their form, and from the scores, which are
compared with those of whole candidates. What it can't do so is asked candidate by candidate.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Literal

import numpy as np

from inhabit.agents.core import BudgetError, ModelError, RequestError
from inhabit.agents.models.core import Image, Message
from inhabit.agents.models.endpoints.completion import Completion, NextTokens, PaidAnswer
from inhabit.agents.models.endpoints.node_requests import (
    AnswerTokens,
    NodeGroup,
    NodeRequests,
    check_read,
    grouped,
)
from inhabit.agents.models.endpoints.scoring import TrieScores, scores_of, tokens_of
from inhabit.agents.models.endpoints.wire import Body, messages
from inhabit.agents.models.trie import Trie

if TYPE_CHECKING:
    from inhabit.agents.models.endpoints.endpoint import Endpoint

AskWhole = Callable[[Sequence[Message], Sequence[str]], Awaitable[Sequence[Completion]]]
"""Asks about whole candidates: (prompt, candidates) -> an answer about each."""
_TEXTS = ("open the door", "open the door_2", "stop")
_TOLERANCE = 0.75
"""Largest error of a score, in nats: the rounding of bfloat16 differs from one batch to another."""
_FLOAT32 = 0.01
"""Largest difference, in nats, of the two ways in float32."""
_STEP = 2.0**-9
"""What logits in bfloat16 are multiples of, in nats, unless they are close to 0."""
_SIDE = 56
"""Pixels of the test images: Qwen2-VL refuses sides below 28."""


@dataclass(frozen=True, slots=True)
class ScoringWays:
    """How a server is asked for scores after prompts of text, and of text and images.

    nodes: a request for all nodes of the trie. candidates: a request for each candidate.
    """

    text: Literal["nodes", "candidates"] = "candidates"
    images: Literal["nodes", "candidates"] = "candidates"
    notes: tuple[str, ...] = ()
    """Why the server is asked candidate by candidate, and how exact scores are where they are not,
    in sentences without a full stop."""
    checked: str = ""
    """How far the two ways differ, in a clause."""


class EndpointRanking:
    """Ranks and searches candidates with one model behind an endpoint."""

    def __init__(
        self, endpoint: Endpoint, model: str, extra: Body, whole: AskWhole, ways: ScoringWays
    ) -> None:
        """Ask `endpoint` for `model`, with further fields `extra`, in these `ways`."""
        self.ways = ways
        self._whole = whole
        self._tokens = AnswerTokens(endpoint, model, extra)
        self._requests = NodeRequests(endpoint, model, extra)

    async def scores(
        self, prompt: Sequence[Message], texts: Sequence[str], paid: list[PaidAnswer], *, end: bool
    ) -> TrieScores:
        """The scores of `texts` after `prompt`, some of which may be asked for later.

        Args:
            prompt: oldest turn first.
            texts: the candidates.
            paid: every answer is added here, whatever comes of it.
            end: whether each candidate ends with the end-of-answer token.

        Raises:
            ModelError: the endpoint can't score them, or fails.
        """
        if not all(texts):
            raise ModelError("An empty text can't be ranked.")
        seeing = any(message.images for message in prompt)
        way = self.ways.images if seeing else self.ways.text
        paths = await self._tokens.of(texts) if way == "nodes" else None
        if paths is not None:
            last = [await self._tokens.end()] if end else []
            trie = Trie.pack([[*path, *last] for path in paths])
            ids = None if seeing else await self._tokens.prompt(messages(prompt))
            ask = (self._tokens, self._requests, self._whole)
            return _NodeScores(texts, trie, prompt, ids, paid, *ask)
        if end:
            raise ModelError(
                "The endpoint scores no end of an answer after whole candidates: leave out end."
            )
        answers = await self._whole(prompt, texts)
        paid += answers
        return scores_of(texts, answers)

    async def find_ways(self, *, images: bool) -> ScoringWays:
        """Find out how the server can be asked, with about ten short requests.

        Raises:
            ModelError: it gives no scores at all.
        """
        first, second = ([Message("user", ("What now?", _noise(seed)))] for seed in (0, 1))
        # The image of the last prompt is sent by its name alone, after another one.
        prompts = {"text": [[Message("user", ("What now?",))]], "images": [first, second, first]}
        notes: list[str] = []
        errors: dict[str, float] = {}
        rounded = False
        for kind in ("text", "images") if images else ("text",):
            self.ways = ScoringWays()
            try:
                whole, *_ = await self._values(prompts[kind][0])
            except (ModelError, RequestError) as error:
                if kind == "text" or isinstance(error, BudgetError):
                    raise
                continue  # The model takes no images.
            self.ways = ScoringWays("nodes", "nodes")
            try:
                found = [await self._values(prompt) for prompt in prompts[kind]]
                errors[kind] = _checked([v for v, *_ in found], [t for _, t, _ in found], whole)
                rounded |= _rounded([one for *_, answers in found for one in answers])
            except BudgetError:
                raise
            except (ModelError, RequestError) as error:
                notes.append(
                    f"prompts with {kind} are scored in one request for each candidate, because "
                    f"the server can't score them together: {str(error).rstrip('.')}"
                )
        worst = max(errors.values(), default=None)
        inexact = ["are of logits in 16 bits"] if rounded else []
        if worst is not None and worst > _FLOAT32:
            inexact.append(f"move by up to {worst:.1g} nat with what else the server computes")
        if inexact:
            notes.append(
                f"scores {' and '.join(inexact)}, as in bfloat16: start vLLM with --dtype float32 "
                "to compare them"
            )
        bits = "in 16 bits " if rounded else ""
        return ScoringWays(
            "nodes" if "text" in errors else "candidates",
            "nodes" if "images" in errors else "candidates",
            tuple(notes),
            "" if worst is None else f"{bits}at most {worst:.1g} nat from whole candidates",
        )

    async def _values(
        self, prompt: Sequence[Message]
    ) -> tuple[Sequence[float], int, Sequence[Sequence[float]]]:
        """The scores of the test's candidates, the number of tokens that were read for them, and
        the log-probabilities that each answer about a node gave.
        """
        paid: list[PaidAnswer] = []
        scores = await self.scores(prompt, _TEXTS, paid, end=False)
        if self.ways.text == "nodes" and not isinstance(scores, _NodeScores):
            raise ModelError("The chat template joins a candidate to what stands before it")
        values = [one.logprob for one in await scores.rank()]
        tokens = sum(answer.tokens[0] for answer in paid if answer.tokens)
        choices = [c for answer in paid if isinstance(answer, NextTokens) for c in answer.choices]
        return values, tokens, [[p for _, p in choice.logprobs or ()] for choice in choices]


class _NodeScores(TrieScores):
    """Scores that are asked for node by node."""

    def __init__(
        self,
        texts: Sequence[str],
        trie: Trie,
        prompt: Sequence[Message],
        ids: tuple[int, ...] | None,
        paid: list[PaidAnswer],
        tokens: AnswerTokens,
        requests: NodeRequests,
        whole: AskWhole,
    ) -> None:
        """Read `trie` after `prompt`, whose tokens are `ids`; None where it holds images."""
        super().__init__(texts, trie, {})
        self._prompt = prompt
        self._ids = ids
        self._paid = paid
        self._tokens = tokens
        self._requests = requests
        self._whole = whole

    async def read(self, nodes: Iterable[int]) -> None:
        """Learn the edges of `nodes`: in one request, or in few where they are many."""
        new = [node for node in nodes if self.outgoing[node][0] not in self.likely]
        said: dict[int, str | None] = dict.fromkeys(new, "")
        if self._ids is None:
            paths = [self.trie.path(node) for node in new]
            said = dict(zip(new, await self._tokens.texts(paths), strict=True))
        groups = grouped(
            {
                node: [int(self.trie.edge_tokens[edge]) for edge in self.outgoing[node]]
                for node in new
                if said[node] is not None
            },
            chats=self._ids is None,
        )
        # The first brings images that the server does not hold yet.
        for some in (groups[:1], groups[1:]):
            answers = await asyncio.gather(
                *(self._asked(group, said) for group in some), return_exceptions=True
            )
            self._paid += [one for one in answers if isinstance(one, NextTokens)]
            for group, answer in zip(some, answers, strict=True):
                if isinstance(answer, BaseException):
                    raise answer
                self._learn(group, answer)
        await self._read_whole([node for node in new if said[node] is None])

    async def _asked(self, group: NodeGroup, said: Mapping[int, str | None]) -> NextTokens:
        if self._ids is not None:
            return await self._requests.by_tokens(self._ids, self.trie, group)
        texts = [said[node] or "" for node in group.nodes]
        return await self._requests.by_chats(self._prompt, group, texts)

    def _learn(self, group: NodeGroup, answer: NextTokens) -> None:
        check_read(answer, self.trie, group, None if self._ids is None else len(self._ids))
        found = answer.following(len(group.nodes), sorted(group.tokens))
        for node, likely in zip(group.nodes, found, strict=True):
            for edge in self.outgoing[node]:
                if (token := int(self.trie.edge_tokens[edge])) in group.tokens:
                    self.likely[edge] = likely[token]

    async def _read_whole(self, nodes: Sequence[int]) -> None:
        """Learn the edges of `nodes`, whose tokens no text stands for, from whole candidates."""
        edges = {edge for node in nodes for edge in self.outgoing[node]}
        through = {edge: i for i, path in enumerate(self.trie.paths) for edge in edges & {*path}}
        asked = sorted(set(through.values()))
        texts = [self.texts[number] for number in asked]
        answers = await self._whole(self._prompt, texts) if asked else ()
        self._paid += answers
        for number, text, answer in zip(asked, texts, answers, strict=True):
            for edge, token in zip(self.trie.paths[number], tokens_of(text, answer), strict=False):
                if token.id != self.trie.edge_tokens[edge]:
                    raise ModelError("The endpoint scores other tokens than those it was sent.")
                self.likely[edge] = token.logprob


def _checked(
    found: Sequence[Sequence[float]], tokens: Sequence[int], whole: Sequence[float]
) -> float:
    """How far the first scores are from those of `whole` candidates, in nats.

    With three of them, the last of `found` are for the first prompt again.
    """
    error = _most(found[0], whole)
    if error > _TOLERANCE:
        raise ModelError(f"The scores of the two ways differ by {error:.2f} nat")
    again = _most(found[0], found[-1])
    if found[1:] and (tokens[0] != tokens[-1] or not again < _most(found[0], found[1])):
        raise ModelError("The scores do not follow the image that is named by its digest")
    return error


def _rounded(answers: Sequence[Sequence[float]]) -> bool:
    """Whether log-probabilities after the same prompt are whole steps apart, most of them.

    Those of logits in float32 are so by chance: 3 in 1,000.
    """
    apart = [abs(a - b) / _STEP for one in answers for a, b in pairwise(one) if a != b]
    whole = sum(abs(steps - round(steps)) * _STEP < 3e-6 for steps in apart)
    return len(apart) > 4 and whole > len(apart) / 2


def _noise(seed: int) -> Image:
    return Image(np.random.default_rng(seed).integers(0, 256, (_SIDE, _SIDE, 3), np.uint8))


def _most(some: Sequence[float], others: Sequence[float]) -> float:
    return max(abs(a - b) for a, b in zip(some, others, strict=True))
