"""How likely a model holds each of many texts after a prompt: exactly, in one forward pass.

The score of a candidate with tokens a_1 ... a_n is

    sum over i of log p(a_i | prompt, a_1 ... a_{i-1})  +  log(1 - sum over t of p(t | prompt, a))

where t runs over the tokens with which longer candidates go on from it. So "open the drawer" is
the answer that begins with these words and does not become "open the drawer_2": candidates are
events of which no two can both happen, whether or not one is a prefix of another, and their
probabilities sum to at most 1. Where no other candidate goes on from it the second term is zero.
An end-of-turn token is not asked for: that would have every candidate read to its last token, and
half as many again to read in all.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from agents.models.encode import Tokens
from agents.models.trie import Trie


class Likelihood:
    """Scores candidates with one causal transformer. Not for several threads at once.

    What it read of a prompt's fixed part is kept for the next prompt that begins alike. The fixed
    part is always read by itself, so that a score never depends on what was asked before.
    """

    def __init__(self, model: Any) -> None:
        self._model = model
        self._fixed: tuple[int, ...] = ()
        self._cache: Any = None

    @torch.inference_mode()
    def scores(self, prompt: Tokens, trie: Trie) -> NDArray[np.float64]:
        """The score of each sequence that `trie` was packed from, in nats, (sequences,)."""
        start, cache = self._begin(prompt)
        ids, positions, mask = self._layout(prompt.ids[start:], start, trie)
        logits = self._model(
            input_ids=ids,
            position_ids=positions,
            attention_mask=mask,
            past_key_values=cache,
            use_cache=True,
            logits_to_keep=len(trie),
        ).logits[0]
        return _sums(logits, trie)

    def _begin(self, prompt: Tokens) -> tuple[int, Any]:
        """What is read before the trie comes in: how many tokens, and the cache that holds them."""
        if prompt.images:
            # Only the model itself knows how its pictures come in and what may attend to them.
            return len(prompt.ids) - 1, self._read(
                prompt.ids[:-1], prompt.extra(self._model, drop_last=True)
            )
        fixed = prompt.ids[: prompt.fixed]
        if not fixed:
            return 0, None
        if fixed != self._fixed:
            self._fixed, self._cache = fixed, self._read(fixed, {})
        return len(fixed), copy.deepcopy(self._cache)

    def _read(self, ids: Sequence[int], extra: Mapping[str, torch.Tensor]) -> Any:
        known = torch.tensor([ids], device=self._model.device)
        output = self._model(input_ids=known, use_cache=True, logits_to_keep=1, **extra)
        return output.past_key_values

    def _layout(
        self, rest: Sequence[int], start: int, trie: Trie
    ) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """The rest of the prompt and then the nodes of `trie`, at one go.

        Returns:
            Tokens (1, n), their positions (1, n), and what is added to the attention, which is
            0 or as good as minus infinity, (1, 1, n, start + n).
        """
        model, nodes = self._model, len(trie) - 1
        read, total = len(rest), start + len(rest)
        ids = np.concatenate([np.array(rest, np.int64), trie.tokens[1:]])
        positions = np.concatenate([np.arange(start, total), total - 1 + trie.depths[1:]])
        seen = np.ones((read + nodes, total + nodes), np.bool_)
        seen[:read] = np.tri(read, total + nodes, start, np.bool_)
        seen[read:, total:] = trie.ancestors[1:, 1:]
        # Kernels for processors are much faster with a mask in float32, whatever the model's type.
        kind = torch.float32 if model.device.type == "cpu" else model.dtype
        mask = torch.zeros(seen.shape, dtype=kind, device=model.device)
        mask.masked_fill_(torch.from_numpy(~seen).to(model.device), torch.finfo(model.dtype).min)
        return (
            torch.from_numpy(ids)[None].to(model.device),
            torch.from_numpy(positions)[None].to(model.device),
            mask[None, None],
        )


def _sums(logits: torch.Tensor, trie: Trie) -> NDArray[np.float64]:
    """Scores from what the model says at each node, (nodes, vocabulary)."""
    logits = logits.float()
    totals = logits.logsumexp(-1)
    nodes, tokens = torch.from_numpy(trie.edge_nodes), torch.from_numpy(trie.edge_tokens)
    edges = (logits[nodes, tokens] - totals[nodes]).double().cpu().numpy()
    stays = {node: _stays(logits, totals, trie, node) for node in set(trie.ends) - {None}}
    return np.array(
        [
            edges[list(path)].sum() + (0.0 if end is None else stays[end])
            for path, end in zip(trie.paths, trie.ends, strict=True)
        ]
    )


def _stays(logits: torch.Tensor, totals: torch.Tensor, trie: Trie, node: int | None) -> float:
    """The logarithm of how likely no longer candidate follows `node`."""
    others = logits[node].clone()
    others[torch.from_numpy(trie.edge_tokens[trie.edge_nodes == node])] = -torch.inf
    return float(others.logsumexp(-1) - totals[node])
