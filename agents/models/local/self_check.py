"""Compares a model's scores with plain forward passes before it is used.

An architecture may ignore a mask, count positions in its own way, or look at images both ways.
None of this raises an error; it shows only in the scores.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from math import log1p
from typing import Any

import numpy as np
import torch
import transformers
from pydantic import BaseModel, Field, ValidationError

from inhabit.agents.core import ModelError
from inhabit.agents.models.beam_search import BeamRules
from inhabit.agents.models.core import Image, Message
from inhabit.agents.models.local.encoder import EncodedPrompt, Encoder
from inhabit.agents.models.local.picture_features import PictureFeatures
from inhabit.agents.models.local.scoring import Scorer, Way
from inhabit.agents.models.trie import Trie
from inhabit.envs.cache import cache_home

_FORMAT = 7
"""Part of the cached file's name: incremented when the check changes."""
_ANSWERS = ("open the fridge", "open the fridge_2", "go to the sink", "stop")
_TOLERANCES = {"float32": 1e-3}
_LONGEST = 1 << 15
"""Tokens of a prompt of a few words and two small images."""
_KEPT = 1 << 28
"""Bytes of image features that are kept during the check."""
_ROUNDED = 0.75
"""Tolerance in nats for other dtypes and quantized weights, whose rounding differs from one batch
to another."""


class SelfCheck(BaseModel, frozen=True, extra="forbid"):
    """What the check found."""

    way: Way
    """The cheapest way whose scores agree with plain forward passes."""
    error: float
    """Largest difference of `way` from plain forward passes, in nats."""
    features: bool = False
    """Whether `way` agrees as well where features of images are kept."""
    cuts_images: bool = False
    """Whether `way` agrees as well where a prompt is cut between its images."""
    rejected: dict[str, str] = Field(default_factory=dict)
    """Way -> why it is not used."""
    refused: dict[int, str] = Field(default_factory=dict)
    """Number of images -> why a plain forward pass with so many fails."""

    def problem(self, pictures: int) -> str | None:
        """Why a prompt with so many images can't be asked; None if it can."""
        return self.refused.get(min(pictures, 2))


def check(
    model: Any, encoder: Encoder, *, name: str, images: bool, ways: Sequence[Way]
) -> SelfCheck:
    """Find the first of `ways` that agrees with plain forward passes.

    Raises:
        ModelError: none does, or the model fails without images.
    """
    tolerance = _TOLERANCES.get(str(model.dtype).removeprefix("torch."), _ROUNDED)
    if getattr(model, "is_quantized", False):  # 8 bits round activations, too
        tolerance = _ROUNDED
    # Two with one image, so that prompts of different lengths are read together.
    asked, want, refused = _plain(model, encoder, counts=(0, 1, 1, 2) if images else (0,))
    if not asked:
        raise ModelError(f"{name} fails on a prompt of a few words: {refused[0]}")
    rejected: dict[str, str] = {}
    features = PictureFeatures(model, _KEPT)
    for way in ways:
        for kept, cuts in _options(way, features if features.usable and images else None):
            try:  # an architecture may raise anything
                error = _error(Scorer(model, way, kept, cuts_images=cuts, limit=_KEPT), asked, want)
            except Exception as failure:  # noqa: BLE001
                rejected[_name(way, kept, cuts)] = f"{type(failure).__name__}: {failure}"
                continue
            if error <= tolerance:
                return SelfCheck(
                    way=way,
                    error=error,
                    features=kept is not None,
                    cuts_images=cuts,
                    rejected=rejected,
                    refused=refused,
                )
            rejected[_name(way, kept, cuts)] = f"off by {error:.3g} nat from a plain forward pass"
    reasons = "; ".join(f"{way}: {why}" for way, why in rejected.items())
    raise ModelError(f"{name} is not used, since its scores can't be trusted: {reasons}.")


def cached(key: Mapping[str, object], run: Any) -> SelfCheck:
    """The result of `run`, a function, kept on disk for this `key`, transformers and torch."""
    whole = {**key, "transformers": transformers.__version__, "torch": torch.__version__}
    digest = hashlib.sha256(repr(sorted(whole.items())).encode()).hexdigest()[:32]
    file = cache_home() / "self-checks" / f"{digest}-{_FORMAT}.json"
    try:
        return SelfCheck.model_validate_json(file.read_bytes())
    except (OSError, ValidationError):
        pass  # not checked yet
    found: SelfCheck = run()
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(found.model_dump_json(), "utf-8")
    except OSError:
        pass  # a cache that can't be written: the next load checks again
    return found


def _plain(
    model: Any, encoder: Encoder, counts: Sequence[int]
) -> tuple[list[tuple[EncodedPrompt, Trie]], list[list[float]], dict[int, str]]:
    """Questions with so many images, their scores by plain forward passes, and failures."""
    answers = [encoder.candidate(text) for text in _ANSWERS]
    if not all(answers):
        return [], [], {0: "its tokenizer makes no token of some words."}
    trie = Trie.pack(answers)
    asked, want, refused = [], [], {}
    for i, count in enumerate(counts):
        messages = _messages(count, more=i)
        try:  # an architecture may raise anything
            prompt = encoder.prompt(messages)
            if len(prompt.ids) > _LONGEST:
                refused[count] = f"its chat template makes {len(prompt.ids)} tokens of a few words"
                continue
            scores = _plain_scores(model, encoder, messages, answers)
        except Exception as failure:  # noqa: BLE001
            refused[count] = f"{type(failure).__name__}: {failure}"
            continue
        if not np.isfinite(scores).all():
            refused[count] = "its scores are no numbers"
            continue
        asked.append((prompt, trie))
        want.append(scores)
    return asked, want, refused


def _options(
    way: Way, features: PictureFeatures | None
) -> list[tuple[PictureFeatures | None, bool]]:
    """Whether features of images are kept, and whether prompts are cut between images; best first.

    Only trees are read after segments.
    """
    cuts = (True, False) if way in ("tree", "tree_alone") else (False,)
    kept = (features, None) if features is not None else (None,)
    return [(one, cut) for one in kept for cut in cuts]


def _name(way: Way, features: PictureFeatures | None, cuts: bool) -> str:
    said = [way, "with features kept" if features else "", "cut between images" if cuts else ""]
    return ", ".join(filter(None, said))


def _error(
    scorer: Scorer, asked: Sequence[tuple[EncodedPrompt, Trie]], want: Sequence[Sequence[float]]
) -> float:
    """The largest difference: one prompt at a time, all together, and by a wide beam."""
    got = [scorer.rank([one])[0].scores for one in asked]
    got += [one.scores for one in scorer.rank(asked)]
    for one, scores in zip(asked, want, strict=True):
        (found,) = scorer.beam([(*one, BeamRules(len(scores)))])
        by_index = dict(zip(found.order, found.scores, strict=True))
        got.append([by_index[i] for i in range(len(scores))])
    return float(np.abs(np.subtract(got, [*want, *want, *want])).max())


def _messages(pictures: int, *, more: int) -> list[Message]:
    """A prompt with a fixed part, and text between and after the images; longer with `more`."""
    rng = np.random.default_rng(more)
    shown = [Image(rng.integers(0, 256, (96, 96, 3), dtype=np.uint8)) for _ in range(pictures)]
    parts = [part for picture in shown for part in ("You see: ", picture)]
    ask = "Goal: chill an apple. " + "You look around. " * more + "Next action:"
    return [Message("system", ("You act in a house.",)), Message("user", (*parts, ask))]


@torch.inference_mode()
def _plain_scores(
    model: Any, encoder: Encoder, messages: Sequence[Message], answers: Sequence[Sequence[int]]
) -> list[float]:
    """The score of each of `answers`, tokens, in nats, as `node_logits.py` defines it."""
    text, pictures = encoder.text(messages), encoder.pictures(messages)
    options = {"add_special_tokens": encoder.lacks_bos(text), "return_tensors": "pt"}
    if pictures:
        asked = dict(encoder.processor(text=[text], images=[pictures], **options))
    else:
        asked = {"input_ids": encoder.tokenizer(text, **options)["input_ids"]}
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
