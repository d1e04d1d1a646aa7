"""Forward passes that give the logits after every prefix of the candidates, with gradients."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
import torch
from numpy.typing import NDArray

from inhabit.agents.models.local.encoder import EncodedPrompt
from inhabit.agents.models.local.reader import locate, mask_of
from inhabit.eie.tuning.questions import Question

Way = Literal["packed", "rows"]
"""packed: a prompt and all its candidates are one row, with tree masks. rows: a row for every
candidate, which any architecture can read."""


Places = tuple[NDArray[np.integer[Any]], NDArray[np.integer[Any]]]
"""The row and the column of the logits after each node of a trie, (nodes,) each."""


def read(model: Any, questions: Sequence[Question], way: Way, *, pad: int) -> list[torch.Tensor]:
    """The logits after each node of each question, from one forward pass.

    Either all questions have images or none has.

    Returns:
        For each question (nodes, vocabulary), in float32.
    """
    if way == "packed" and any(len(q.trie.paths) > 1 for q in questions):
        return _packed(model, questions, pad)
    return _rows(model, questions, pad)


def _rows(model: Any, questions: Sequence[Question], pad: int) -> list[torch.Tensor]:
    paths = [[[0, *q.trie.nodes_to(leaf)] for leaf in q.trie.leaves()] for q in questions]
    rows = [
        (question.prompt, question.trie.tokens[path[1:]].tolist())
        for question, some in zip(questions, paths, strict=True)
        for path in some
    ]
    given = collate(model, rows, pad=pad)
    first = min(len(question.prompt.ids) for question in questions) - 1
    places: list[Places] = []
    row = 0
    for question, some in zip(questions, paths, strict=True):
        at_row, at_column = np.zeros((2, len(question.trie)), np.int64)
        for path in some:
            at_row[path] = row
            at_column[path] = len(question.prompt.ids) - 1 - first + np.arange(len(path))
            row += 1
        places.append((at_row, at_column))
    return at_places(_logits(model, given, first), places)


def _packed(model: Any, questions: Sequence[Question], pad: int) -> list[torch.Tensor]:
    rows = [(q.prompt, q.trie.tokens[1:].tolist()) for q in questions]
    given = collate(model, rows, pad=pad)
    given["attention_mask"] = _tree_mask(model, questions, given["input_ids"].shape[1])
    given["position_ids"] = _positions(model, questions, given["input_ids"].shape[1])
    first = min(len(question.prompt.ids) for question in questions) - 1
    places = [
        (
            np.full(len(question.trie), row),
            len(question.prompt.ids) - 1 - first + np.arange(len(question.trie)),
        )
        for row, question in enumerate(questions)
    ]
    return at_places(_logits(model, given, first), places)


def at_places(logits: torch.Tensor, places: Sequence[Places]) -> list[torch.Tensor]:
    """The logits at the places of each question: (nodes, vocabulary) each, in float32.

    They are gathered at once. The gradient of an index is as large as what it indexes, so indexing
    for each question would cost the square of the batch.

    Args:
        logits: (rows, columns, vocabulary).
        places: of the nodes of each question.
    """
    rows, columns = (torch.from_numpy(np.concatenate(some)) for some in zip(*places, strict=True))
    taken = logits[rows.to(logits.device), columns.to(logits.device)].float()
    return list(torch.split(taken, [len(some) for some, _ in places]))


def _logits(model: Any, given: dict[str, torch.Tensor], first: int) -> torch.Tensor:
    """Logits from the token `first` on."""
    length = given["input_ids"].shape[1]
    # As indices and not as a number: a slice is not contiguous, and for such an input the output
    # layer is copied once a row on the CPU (half of a step's time with a large vocabulary).
    keep = torch.arange(first, length, device=model.device)
    logits: torch.Tensor = model(**given, use_cache=False, logits_to_keep=keep).logits
    return logits


def _tree_mask(model: Any, questions: Sequence[Question], length: int) -> torch.Tensor:
    """What each token sees, (rows, 1, length, length), as an addend to attention scores."""
    seen = np.zeros((len(questions), length, length), np.bool_)
    for row, question in enumerate(questions):
        end, trie = len(question.prompt.ids), question.trie
        last = end + len(trie) - 1
        seen[row, :end, :end] = _seen_in_prompt(model, question)
        seen[row, end:last, :end] = True
        seen[row, end:last, end:last] = trie.ancestors[1:, 1:]
    return mask_of(model, torch.from_numpy(seen))[:, None]


def _seen_in_prompt(model: Any, question: Question) -> NDArray[np.bool_]:
    """Earlier tokens; in Gemma 3 those of the same image, and in PaliGemma the whole prompt."""
    size = len(question.prompt.ids)
    seen = np.tri(size, dtype=np.bool_)
    kind = model.config.model_type
    if kind == "paligemma":
        return np.ones_like(seen)
    types = question.prompt.images.get("token_type_ids")
    if kind == "gemma3" and types is not None:
        image = types[0].numpy() == 1
        block = np.cumsum(np.diff(image, prepend=False) != 0)
        seen |= (block[:, None] == block) & image & image[:, None]
    return seen


def _positions(model: Any, questions: Sequence[Question], length: int) -> torch.Tensor:
    """Positions (rows, length), or (axes, rows, length) where images have several axes."""
    found = []
    for question in questions:
        prompt, depths = question.prompt, torch.from_numpy(question.trie.depths[1:])
        shift, places = locate(model, prompt)
        if places is None:
            places = torch.arange(len(prompt.ids)).expand(1, -1)
        nodes = (shift + len(prompt.ids) - 1 + depths).to(places.device)
        whole = torch.cat([places, nodes.expand(*places.shape[:-1], -1)], -1)
        found.append(torch.nn.functional.pad(whole, (0, length - whole.shape[-1])))
    return torch.cat(found, -2).to(model.device)


def collate(
    model: Any, rows: Sequence[tuple[EncodedPrompt, Sequence[int]]], *, pad: int
) -> dict[str, torch.Tensor]:
    """The inputs for some prompts, each with tokens after it, padded at the end.

    All rows have images, or none has. How the images of several prompts are stacked differs
    between architectures: `inhabit.eie.tuning.agreement` checks the result for each model.

    `pad` is a token that stands for no image.
    """
    longest = max(len(prompt.ids) + len(more) for prompt, more in rows)
    ids = torch.full((len(rows), longest), pad, device=model.device)
    mask = torch.zeros_like(ids)
    for row, (prompt, more) in enumerate(rows):
        length = len(prompt.ids) + len(more)
        ids[row, :length] = torch.tensor([*prompt.ids, *more], device=model.device)
        mask[row, :length] = 1
    parts = [prompt.extended(model, longest - len(prompt.ids)) for prompt, _ in rows]
    stacked = {name: _stacked([part[name] for part in parts]) for name in parts[0]}
    return {"input_ids": ids, "attention_mask": mask, **stacked}


def _stacked(tensors: Sequence[torch.Tensor]) -> torch.Tensor:
    """One after the other along the first axis, with zeros where the other axes are shorter."""
    sizes = [max(sizes) for sizes in zip(*(t.shape[1:] for t in tensors), strict=True)]
    return torch.cat([_padded(tensor, sizes) for tensor in tensors])


def _padded(tensor: torch.Tensor, sizes: Sequence[int]) -> torch.Tensor:
    missing = [size - have for size, have in zip(sizes, tensor.shape[1:], strict=True)]
    if not any(missing):
        return tensor
    return torch.nn.functional.pad(tensor, [n for m in reversed(missing) for n in (0, m)])
