"""How a model's scores are computed: exactly by one of four ways.

Linear attention, chunked attention and windows shorter than the prompt keep no separate keys for
every token, so that a packed trie can't be read. Then each continuation is a row of a batch over
copies of the prompt's cache, or, if even that is wrong for a model, a forward pass of its own.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import torch
from numpy.typing import NDArray

from inhabit.agents.models.beam_search import BeamResult, BeamRules
from inhabit.agents.models.local.encoder import EncodedPrompt
from inhabit.agents.models.local.node_logits import Likelihood, descend, search, sums
from inhabit.agents.models.local.picture_features import PictureFeatures
from inhabit.agents.models.local.reader import PromptReader, locate
from inhabit.agents.models.transformers_names import cache_input, cache_of, position_index
from inhabit.agents.models.trie import Trie

_ROWS = 32
"""Continuations that are read together: each takes a copy of the prompt's cache."""


@dataclass(frozen=True, slots=True, eq=False)
class _ReadPrompt:
    prompt: EncodedPrompt
    cache: Any
    """Key-value cache of the prompt; None if it is read again with each continuation."""
    shift: int
    last: torch.Tensor
    """Logits after the prompt, (1, vocabulary)."""


class Continuations:
    """Reads the nodes of one trie after one prompt: a `node_logits.NodeReader`."""

    def __init__(
        self,
        model: Any,
        prompt: EncodedPrompt,
        trie: Trie,
        *,
        shared: bool,
        features: PictureFeatures | None = None,
    ) -> None:
        """Read `prompt`, once if `shared`, else with every continuation."""
        self._model = model
        self._features = features
        self._trie = trie
        self._shared = shared
        self._axes = position_index(model) is not None
        self._read = self._read_prompt(prompt)
        self._tokens = len(prompt.ids)

    @property
    def tokens(self) -> list[tuple[int, int]]:
        """Number of tokens read, padding not counted; none of them earlier."""
        return [(self._tokens, 0)]

    def all_logits(self) -> torch.Tensor:
        """Logits at every node, (nodes, vocabulary), in float32."""
        leaves = [node for node in self._trie.leaves() if node]
        found: dict[int, torch.Tensor] = {0: self._read.last[0]}
        for leaf, said in zip(
            leaves, self._along([self._trie.path(n) for n in leaves]), strict=True
        ):
            found |= zip(self._trie.nodes_to(leaf), said, strict=True)
        return torch.stack([found[node] for node in range(len(self._trie))])

    def logits_at(self, nodes: Sequence[list[int]]) -> list[torch.Tensor]:
        """Logits at some nodes of the only trie, (nodes, vocabulary), in float32."""
        (some,) = nodes
        said = iter(self._along([self._trie.path(node) for node in some if node]))
        return [torch.stack([next(said)[-1] if node else self._read.last[0] for node in some])]

    def _read_prompt(self, prompt: EncodedPrompt) -> _ReadPrompt:
        shift, places = locate(self._model, prompt)
        extra = self._with_features(prompt, prompt.extra(self._model))
        if places is not None:
            extra["position_ids"] = places
        output = self._model(
            input_ids=torch.tensor([prompt.ids], device=self._model.device),
            use_cache=self._shared,
            logits_to_keep=1,
            **extra,
        )
        cache = cache_of(output) if self._shared else None
        return _ReadPrompt(prompt, cache, shift, output.logits[:, -1].float())

    def _with_features(
        self, prompt: EncodedPrompt, inputs: Mapping[str, torch.Tensor]
    ) -> dict[str, Any]:
        return dict(inputs) if self._features is None else self._features.replace(inputs, [prompt])

    def _along(self, paths: Sequence[Sequence[int]]) -> list[torch.Tensor]:
        """Logits after each token of each path, (tokens, vocabulary)."""
        self._tokens += sum(map(len, paths))
        if not self._shared:
            return [self._alone(path) for path in paths]
        return [
            said
            for begin in range(0, len(paths), _ROWS)
            for said in self._rows(paths[begin : begin + _ROWS])
        ]

    def _rows(self, paths: Sequence[Sequence[int]]) -> list[torch.Tensor]:
        """One batch. Padding follows the paths, where nothing sees it."""
        read, longest = self._read, max(map(len, paths))
        cache = copy.deepcopy(read.cache)
        # Unlike batch_repeat_interleave, this copies the states of linear attention as well.
        cache.reorder_cache(torch.zeros(len(paths), dtype=torch.long, device=self._model.device))
        ids = torch.tensor([[*path, *[0] * (longest - len(path))] for path in paths])
        extra = {
            name: value.expand(len(paths), *value.shape[1:])
            for name, value in read.prompt.onward(self._model, longest).items()
        }
        if self._axes:
            first = read.shift + len(read.prompt.ids)
            places = torch.arange(first, first + longest, device=self._model.device)
            extra["position_ids"] = places.expand(len(paths), -1)
        extra |= cache_input(self._model, cache)
        output = self._model(input_ids=ids.to(self._model.device), use_cache=True, **extra)
        logits = output.logits.float()
        return [said[: len(path)] for said, path in zip(logits, paths, strict=True)]

    def _alone(self, path: Sequence[int]) -> torch.Tensor:
        prompt = self._read.prompt
        output = self._model(
            input_ids=torch.tensor([[*prompt.ids, *path]], device=self._model.device),
            use_cache=False,
            **self._with_features(prompt, prompt.extended(self._model, len(path))),
        )
        logits: torch.Tensor = output.logits[0, len(prompt.ids) :]
        return logits.float()


Way = Literal["tree", "tree_alone", "batch", "single"]
"""tree: all candidates of several prompts in one forward pass, by masks. tree_alone: the same for
one prompt at a time. batch: candidates as a batch over copies of the prompt's cache. single: the
prompt and one candidate in each forward pass. In order of their price."""
WAYS: tuple[Way, ...] = ("tree", "tree_alone", "batch", "single")

_FULL, _SLIDING = "full_attention", "sliding_attention"


def possible_ways(model: Any) -> tuple[Way, ...]:
    """The ways that the layers of `model` may support, best first."""
    text = model.config.get_text_config()
    kinds = set(getattr(text, "layer_types", None) or ()) | {_FULL}
    masks = getattr(text, "_attn_implementation", "sdpa") in ("sdpa", "eager")
    trees = masks and kinds <= {_FULL, _SLIDING} and not getattr(model, "_is_stateful", False)
    return WAYS if trees else WAYS[2:]


@dataclass(frozen=True, slots=True)
class ScoredTokens:
    """Indices of candidates, and their scores in nats."""

    order: Sequence[int]
    scores: Sequence[float]
    read: int
    """Tokens of the prompt and of what was read after it."""
    kept: int = 0
    """How many of `read` had been read earlier."""


class Scorer:
    """Scores and searches tries after prompts, with one model. Not thread-safe."""

    def __init__(
        self,
        model: Any,
        way: Way,
        features: PictureFeatures | None = None,
        *,
        cuts_images: bool = False,
        limit: int = 0,
    ) -> None:
        """Score with `model` by `way`; the rest is as `PromptReader` has it."""
        self.way = way
        self._model = model
        self._features = features
        self.reader = PromptReader(model, features, cuts_images=cuts_images, limit=limit)
        self._likelihood = Likelihood(self.reader)
        text = model.config.get_text_config()
        window = getattr(text, "sliding_window", None)
        kinds = getattr(text, "layer_types", None) or ()
        self._window: float = window if window and (_SLIDING in kinds or not kinds) else np.inf

    def rank(self, questions: Sequence[tuple[EncodedPrompt, Trie]]) -> list[ScoredTokens]:
        """The score of each sequence of each trie, as `node_logits.py` defines it."""
        trees = [one for one in questions if self._takes_tree(*one)]
        groups = [trees] if self.way == "tree" and trees else [[one] for one in trees]
        packed = iter([s for group in groups for s in self._likelihood.scores_of_many(group)])
        return [
            _ranked(prompt, trie, *next(packed))
            if self._takes_tree(prompt, trie)
            else self._rank_apart(prompt, trie)
            for prompt, trie in questions
        ]

    def beam(
        self, questions: Sequence[tuple[EncodedPrompt, Trie, BeamRules]]
    ) -> list[ScoredTokens]:
        """The best sequences of each trie by a beam search."""
        trees = [one for one in questions if self._takes_tree(*one[:2])]
        groups = [trees] if self.way == "tree" and trees else [[one] for one in trees]
        found = iter([one for group in groups for one in search(self.reader, group)])
        return [
            _scored(*(next(found) if self._takes_tree(*one[:2]) else self._beam_apart(*one)))
            for one in questions
        ]

    def _takes_tree(self, prompt: EncodedPrompt, trie: Trie) -> bool:
        """A window that is shorter than what is read needs masks that depend on the layer."""
        whole = len(prompt.ids) + int(trie.depths.max()) + 1
        return self.way in ("tree", "tree_alone") and whole < self._window

    @torch.inference_mode()
    def _rank_apart(self, prompt: EncodedPrompt, trie: Trie) -> ScoredTokens:
        reading = self._continuations(prompt, trie)
        scores: NDArray[np.float64] = sums(reading.all_logits(), trie)
        return ScoredTokens(range(len(scores)), scores.tolist(), *reading.tokens[0])

    @torch.inference_mode()
    def _beam_apart(
        self, prompt: EncodedPrompt, trie: Trie, rules: BeamRules
    ) -> tuple[list[BeamResult], tuple[int, int]]:
        return descend(self._continuations(prompt, trie), [(trie, rules)])[0]

    def _continuations(self, prompt: EncodedPrompt, trie: Trie) -> Continuations:
        shared = self.way != "single"
        return Continuations(self._model, prompt, trie, shared=shared, features=self._features)


def _ranked(
    prompt: EncodedPrompt, trie: Trie, scores: NDArray[np.float64], kept: int
) -> ScoredTokens:
    read = len(prompt.ids) + len(trie) - 1
    return ScoredTokens(range(len(scores)), scores.tolist(), read, kept)


def _scored(found: Sequence[BeamResult], tokens: tuple[int, int]) -> ScoredTokens:
    return ScoredTokens([one.sequence for one in found], [one.score for one in found], *tokens)
