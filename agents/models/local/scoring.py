"""How a model's scores are computed: exactly by one of three ways."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import torch
from numpy.typing import NDArray

from inhabit.agents.models.beam_search import BeamResult, BeamRules
from inhabit.agents.models.local.continuations import Continuations
from inhabit.agents.models.local.encoder import EncodedPrompt
from inhabit.agents.models.local.likelihood import Likelihood, sums
from inhabit.agents.models.local.node_logits import descend, search
from inhabit.agents.models.local.picture_features import PictureFeatures
from inhabit.agents.models.local.reader import PromptReader
from inhabit.agents.models.trie import Trie

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
    """How many of them had been read earlier."""


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
        """The score of each sequence of each trie, as `likelihood.py` defines it."""
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
