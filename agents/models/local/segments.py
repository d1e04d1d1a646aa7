"""Cuts a prompt into segments, which are read one after another, each by itself.

A prompt of the next step begins with the segments of this one. Where it is cut depends on the
prompt alone, so that a score does not depend on what was read before.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from itertools import accumulate, groupby, pairwise

import torch

from inhabit.agents.models.local.encoder import EncodedPrompt
from inhabit.agents.models.local.picture_features import digest, split

Span = tuple[int, int]
"""First token, and the one after the last."""


def segments(prompt: EncodedPrompt, image: int | None, *, cut: bool) -> list[EncodedPrompt]:
    """The segments of a prompt, all its images among them, without at least its last token.

    Args:
        prompt: the tokens with the inputs for images.
        image: the token that stands for a part of an image; None where that is unknown.
        cut: whether a prompt with images may be cut. Otherwise it is one segment.
    """
    last = len(prompt.ids) - 1
    inputs = {name: prompt.images[name] for name in prompt.images.keys() - prompt.per_token}
    shown: Sequence[Span] = ()
    parts: Sequence[Mapping[str, torch.Tensor]] = ()
    of_tokens = _rows_of_tokens(prompt, inputs, image)
    if of_tokens is not None:
        rows, before = of_tokens
        shown = [(i, i + 1) for i, token in enumerate(prompt.ids) if token == image][-1:]
    elif prompt.pictures:
        parts = split(prompt, frozenset(inputs))
        shown = _spans(prompt.ids, image, parts) if cut else ()
        if not shown:
            shown, parts = [(0, last)], [inputs]
    ends = {end for end in prompt.cuts if not any(a < end < b for a, b in shown)}
    found = []
    for begin, end in pairwise([0, *sorted(ends | {min(end, last) for _, end in shown})]):
        if of_tokens is not None:
            seen = {name: value[before[begin] : before[end]] for name, value in rows.items()}
            count = before[end] - before[begin]
        else:
            here = [part for part, span in zip(parts, shown, strict=True) if begin < span[1] <= end]
            seen = dict(here[0]) if here else {}
            count = (prompt.pictures if len(parts) == 1 else 1) if here else 0
        seen |= {name: prompt.images[name][:, begin:end] for name in prompt.per_token}
        found.append(EncodedPrompt(prompt.ids[begin:end], (), seen, count))
    return found


def keys(some: Sequence[EncodedPrompt]) -> list[bytes]:
    """A digest of each segment and all before it."""
    found, before = [], b""
    for one in some:
        ids = ",".join(map(str, one.ids)).encode()
        before = hashlib.sha256(before + ids + digest(one.images)).digest()
        found.append(before)
    return found


def _rows_of_tokens(
    prompt: EncodedPrompt, inputs: Mapping[str, torch.Tensor], image: int | None
) -> tuple[Mapping[str, torch.Tensor], Sequence[int]] | None:
    """The inputs, if each has a row for each image token, and the number of rows before each token.

    So has `inhabit-vlm`, whose images are a token for each detected object.
    """
    before = list(accumulate((token == image for token in prompt.ids), initial=0))
    if set(inputs) != {"detections"}:
        return None
    return inputs, before


def _spans(
    ids: Sequence[int], image: int | None, parts: Sequence[Mapping[str, torch.Tensor]]
) -> Sequence[Span]:
    """The tokens of each of `parts`, images; none where they can't be told apart."""
    runs: list[Span] = []
    for token, run in groupby(range(len(ids)), lambda i: ids[i]):
        if token == image:
            first, *more = run
            runs.append((first, (more or [first])[-1] + 1))
    if not runs or len(parts) == 1:
        return [(runs[0][0], runs[-1][1])] if runs else ()
    each, left = divmod(len(runs), len(parts))
    shapes = {tuple(sorted((n, tuple(v.shape)) for n, v in part.items())) for part in parts}
    # Tiles of one image stand apart: then all have equally many, if they are of one size.
    if left or (each > 1 and len(shapes) > 1):
        return ()
    return [(runs[i][0], runs[i + each - 1][1]) for i in range(0, len(runs), each)]
