"""Exact scores of candidates from an endpoint, in the fewest requests that it can do.

A server of vLLM is asked about the nodes of the candidates' trie. Whether it answers as it should
is seen from its answers when the model is loaded: from their form, and from the scores, which are
compared with those of whole candidates. What it can't do so is asked candidate by candidate.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from inhabit.agents.core import BudgetError, ModelError, Ranked, RequestError
from inhabit.agents.models.core import Image, Message
from inhabit.agents.models.endpoints.answer_tokens import AnswerTokens
from inhabit.agents.models.endpoints.completion import Completion, PaidAnswer
from inhabit.agents.models.endpoints.next_tokens import NextTokens
from inhabit.agents.models.endpoints.node_requests import NodeGroup, NodeRequests, grouped
from inhabit.agents.models.endpoints.scoring import TrieScores, scores_of, tokens_of
from inhabit.agents.models.endpoints.wire import Body, messages
from inhabit.agents.models.trie import Trie

if TYPE_CHECKING:
    from inhabit.agents.models.endpoints.endpoint import Endpoint

Way = Literal["nodes", "candidates"]
"""nodes: a request for all nodes of the trie. candidates: a request for each candidate."""
AskWhole = Callable[[Sequence[Message], Sequence[str]], Awaitable[Sequence[Completion]]]
"""Asks about whole candidates: (prompt, candidates) -> an answer about each."""
_TEXTS = ("open the door", "open the door_2", "stop")
_TOLERANCE = 0.75
"""In nats: the rounding of bfloat16 differs from one batch to another."""
_SIDE = 56
"""Pixels of the test images: Qwen2-VL refuses sides below 28."""


@dataclass(frozen=True, slots=True)
class Ways:
    """How a server is asked for scores."""

    text: Way = "candidates"
    images: Way = "candidates"
    """The same for prompts with images."""
    notes: tuple[str, ...] = ()
    """Why it is asked candidate by candidate, in sentences without a full stop."""
    checked: str = ""
    """How far the two ways differ, in a clause."""


class EndpointRanking:
    """Ranks and searches candidates with one model behind an endpoint."""

    def __init__(
        self, endpoint: Endpoint, model: str, extra: Body, whole: AskWhole, ways: Ways
    ) -> None:
        """Ask `endpoint` for `model`, with further fields `extra`, in these `ways`."""
        self.ways = ways
        self._whole = whole
        self._tokens = AnswerTokens(endpoint, model, extra)
        self._requests = NodeRequests(endpoint, model, extra, self._tokens)

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
        way = self.ways.images if _holds_image(prompt) else self.ways.text
        found = await self._by_nodes(prompt, texts, paid, end) if way == "nodes" else None
        if found is not None:
            return found
        if end:
            raise ModelError(
                "The endpoint scores no end of an answer after whole candidates: leave out end."
            )
        return await self._by_candidates(prompt, texts, paid)

    async def find_ways(self, *, images: bool) -> Ways:
        """Find out how the server can be asked, with about ten short requests.

        Raises:
            ModelError: it gives no scores at all.
        """
        notes: list[str] = []
        ask = [Message("user", ("What now?",))]
        whole = await (await self._by_candidates(ask, _TEXTS, [])).rank()
        errors = [await self._compared([ask], whole, "text", notes)]
        if images:
            first, second = (Message("user", ("What now?", _noise(seed))) for seed in (0, 1))
            try:
                whole = await (await self._by_candidates([first], _TEXTS, [])).rank()
            except BudgetError:
                raise
            except (ModelError, RequestError):  # The model takes no images.
                images = False
            else:
                errors.append(
                    await self._compared([[first], [first], [second]], whole, "images", notes)
                )
        found = [error for error in errors if error is not None]
        return Ways(
            "candidates" if errors[0] is None else "nodes",
            "nodes" if images and errors[1] is not None else "candidates",
            tuple(notes),
            f"at most {max(found):.1g} nat from whole candidates" if found else "",
        )

    async def _compared(
        self,
        prompts: Sequence[Sequence[Message]],
        whole: Sequence[Ranked],
        kind: str,
        notes: list[str],
    ) -> float | None:
        """The largest difference of the first of `prompts` from `whole`; None where it is unusable.

        The second is the first again, whose image the server holds by then; the third has another.
        """
        try:
            found = []
            for prompt in prompts:
                scores = await self._by_nodes(prompt, _TEXTS, [], end=False)
                if scores is None:
                    raise ModelError("The chat template joins a candidate to what stands before it")
                found.append([one.logprob for one in await scores.rank()])
            error = _most(found[0], [one.logprob for one in whole])
            if error > _TOLERANCE:
                raise ModelError(f"The scores of the two ways differ by {error:.2f} nat")
            if found[1:] and not _most(found[0], found[1]) < _most(found[0], found[2]) / 2:
                raise ModelError("The scores do not follow the image that is named by its digest")
        except BudgetError:
            raise
        except (ModelError, RequestError) as failed:
            notes.append(
                f"prompts with {kind} are scored in one request for each candidate, because the "
                f"server can't score them together: {str(failed).rstrip('.')}"
            )
            return None
        return error

    async def _by_candidates(
        self, prompt: Sequence[Message], texts: Sequence[str], paid: list[PaidAnswer]
    ) -> TrieScores:
        answers = await self._whole(prompt, texts)
        paid += answers
        return scores_of(texts, answers)

    async def _by_nodes(
        self, prompt: Sequence[Message], texts: Sequence[str], paid: list[PaidAnswer], end: bool
    ) -> TrieScores | None:
        """None where the chat template joins a candidate to what stands before it."""
        paths = await self._tokens.of(texts)
        if paths is None:
            return None
        if end:
            last = await self._tokens.end()
            paths = [(*path, last) for path in paths]
        ids = None if _holds_image(prompt) else await self._tokens.prompt(messages(prompt))
        return _NodeScores(self, texts, Trie.pack(paths), prompt, ids, paid)


class _NodeScores(TrieScores):
    """Scores that are asked for node by node."""

    def __init__(
        self,
        ranking: EndpointRanking,
        texts: Sequence[str],
        trie: Trie,
        prompt: Sequence[Message],
        ids: tuple[int, ...] | None,
        paid: list[PaidAnswer],
    ) -> None:
        """Read `trie` after `prompt`, whose tokens are `ids`; None where it holds images."""
        self._likely: dict[int, float] = {}
        super().__init__(texts, trie, self._likely)
        self._ranking = ranking
        self._prompt = prompt
        self._ids = ids
        self._paid = paid

    async def read(self, nodes: Iterable[int]) -> None:
        """Learn the edges of `nodes`: in one request, or in few where they are many."""
        new = [node for node in nodes if self.outgoing[node][0] not in self._likely]
        said = await self._said(new)
        following = {
            node: [int(self.trie.edge_tokens[edge]) for edge in self.outgoing[node]]
            for node in new
            if said[node] is not None
        }
        groups = grouped(following)
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

    async def _said(self, nodes: Sequence[int]) -> dict[int, str | None]:
        """The text of each node; None where its tokens can't be sent as a text."""
        if self._ids is not None:
            return dict.fromkeys(nodes, "")
        paths = [self.trie.path(node) for node in nodes]
        return dict(zip(nodes, await self._ranking._tokens.texts(paths), strict=True))

    async def _asked(self, group: NodeGroup, said: dict[int, str | None]) -> NextTokens:
        requests = self._ranking._requests
        if self._ids is not None:
            return await requests.by_tokens(self._ids, self.trie, group)
        texts = [said[node] or "" for node in group.nodes]
        return await requests.by_chats(self._prompt, self.trie, group, texts)

    def _learn(self, group: NodeGroup, answer: NextTokens) -> None:
        found = answer.following(len(group.nodes), sorted(group.tokens))
        for node, likely in zip(group.nodes, found, strict=True):
            for edge in self.outgoing[node]:
                if (token := int(self.trie.edge_tokens[edge])) in group.tokens:
                    self._likely[edge] = likely[token]

    async def _read_whole(self, nodes: Sequence[int]) -> None:
        """Learn the edges of `nodes` from whole candidates that go through them."""
        through: dict[int, int] = {}  # edge -> a candidate
        for number, path in enumerate(self.trie.paths):
            for edge in path:
                through.setdefault(edge, number)
        asked = sorted({through[edge] for node in nodes for edge in self.outgoing[node]})
        texts = [self.texts[number] for number in asked]
        answers = await self._ranking._whole(self._prompt, texts) if asked else ()
        self._paid += answers
        for number, text, answer in zip(asked, texts, answers, strict=True):
            for edge, token in zip(self.trie.paths[number], tokens_of(text, answer), strict=False):
                if token.id != self.trie.edge_tokens[edge]:
                    raise ModelError("The endpoint scores other tokens than those it was sent.")
                self._likely[edge] = token.logprob


def _holds_image(prompt: Sequence[Message]) -> bool:
    return any(isinstance(part, Image) for message in prompt for part in message.parts)


def _noise(seed: int) -> Image:
    return Image(np.random.default_rng(seed).integers(0, 256, (_SIDE, _SIDE, 3), np.uint8))


def _most(some: Sequence[float], others: Sequence[float]) -> float:
    return max(abs(a - b) for a, b in zip(some, others, strict=True))
