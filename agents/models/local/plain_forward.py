"""Scores by their definition, with one forward pass of transformers for each candidate.

The self-check compares the ways of scoring with this. It is written apart and shares no code with
them, with the trie or with the cache: what is wrong there can't be wrong here in the same way.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import log1p
from typing import Any

import torch
from PIL import Image as Picture


@torch.inference_mode()
def plain_scores(
    model: Any,
    tokenizer: Any,
    processor: Any,
    text: str,
    pictures: Sequence[Picture.Image],
    answers: Sequence[Sequence[int]],
    *,
    begins: bool,
) -> list[float]:
    """The score of each of `answers`, tokens, in nats, as `likelihood.py` defines it.

    Args:
        model: in evaluation mode.
        tokenizer: of the model.
        processor: of the model, used where there are images.
        text: the prompt, as the chat template writes it.
        pictures: what its image tokens stand for.
        answers: the tokens of each candidate.
        begins: whether the tokenizer has to add the beginning of a sequence.
    """
    options = {"add_special_tokens": begins, "return_tensors": "pt"}
    if pictures:
        asked = dict(processor(text=[text], images=[list(pictures)], **options))
    else:
        asked = {"input_ids": tokenizer(text, **options)["input_ids"]}
    ids = asked.pop("input_ids")
    types = int(model.config.model_type == "paligemma")  # reads its prompt both ways
    if types:
        asked["token_type_ids"] = torch.zeros_like(ids)
    asked = {k: v for k, v in asked.items() if k not in ("attention_mask", "labels")}
    return [_score(model, ids, asked, list(answer), answers, types) for answer in answers]


def _score(
    model: Any,
    ids: torch.Tensor,
    asked: dict[str, torch.Tensor],
    answer: list[int],
    answers: Sequence[Sequence[int]],
    types: int,
) -> float:
    size, more = ids.shape[1], len(answer)
    inputs = {}
    for name, value in asked.items():
        if value.ndim > 1 and value.shape[:2] == ids.shape:  # one item for each token
            last = value[:, -1:].expand(-1, more, *value.shape[2:])
            last = torch.full_like(last, types) if name == "token_type_ids" else last
            value = torch.cat([value, last], 1)
        kind = model.dtype if value.is_floating_point() else None
        inputs[name] = value.to(model.device, kind)
    whole = torch.cat([ids, torch.tensor([answer])], 1).to(model.device)
    said = model(input_ids=whole, use_cache=False, **inputs).logits[0, size - 1 :]
    said = said.double().log_softmax(-1).cpu()
    longer = {one[more] for one in answers if len(one) > more and list(one[:more]) == answer}
    ends = log1p(-sum(float(said[more, token].exp()) for token in longer))
    return sum(float(said[i, token]) for i, token in enumerate(answer)) + ends
