"""Compares our scores with plain forward passes that use transformers alone."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from math import log1p
from pathlib import Path
from typing import Any

import numpy as np
import torch
import transformers
from PIL import Image as Picture

from inhabit.agents.core import ModelError
from inhabit.agents.models.core import Image, Message, Model
from inhabit.agents.models.local.settings import LocalSettings
from inhabit.agents.models.registry import load
from tests.agents.models.local.zoo.build import Architecture

ACTIONS = ("open it", "open it_2", "open it_21", "go to the {sink}", "put it down", "x")
SYSTEM = "You act."
RGB = np.random.default_rng(0).integers(0, 256, (8, 16, 16, 3), dtype=np.uint8)


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the table."""

    model_type: str
    way: str
    """How it scores, or "refused"."""
    errors: tuple[str, ...]
    """The largest error in nats with no, one and two images, or why that was refused."""
    kept: float = 0.0
    """The largest difference, in nats, between scores where what was read is kept and where not."""

    @property
    def exact(self) -> bool:
        """Whether nothing is wrong by more than 1e-3: refused is not wrong."""
        exact = all(not _number(error) or float(error) <= 1e-3 for error in self.errors)
        return exact and self.kept <= 1e-5

    @property
    def refused(self) -> bool:
        """Whether the model can't be used with as many images as it takes."""
        return not any(map(_number, self.errors)) or not all(map(_number, self.errors))


def measure(architecture: Architecture, folder: Path, scoring: str = "auto") -> Row:
    """Rank, search with a wide beam, and rank four prompts together, each against `plain`."""
    settings = LocalSettings.model_validate(
        {"device": "cpu", "dtype": "float32", "scoring": scoring, "batch": 4}
    )
    try:
        model = load(f"local:{folder}", settings)
    except ModelError as error:
        return Row(architecture.model_type, "refused", (str(error),))
    counts = (0, 1, 2) if architecture.sees else (0,)
    errors = [_worst(model, architecture, folder, count) for count in counts]
    nothing = load(f"local:{folder}", settings.model_copy(update={"prompt_cache": 0}))
    kept = 0.0
    for count in counts:
        if _number(errors[counts.index(count)]):  # a second time all is kept; and a longer prompt
            for asked in (prompt(range(count), 0), prompt(range(count), 1), _later(count)):
                found = [_scores(one, asked) for one in (model, nothing)]
                kept = max(kept, float(np.abs(np.subtract(*found)).max()))
    for one in (model, nothing):
        asyncio.run(one.close())
    return Row(architecture.model_type, str(model.details["scoring"]), tuple(errors), kept)


def _scores(model: Model, asked: Sequence[Message]) -> list[float]:
    return [one.logprob for one in asyncio.run(model.rank(asked, ACTIONS)).scores]


def _later(count: int) -> list[Message]:
    """The first prompt, and one more step of its episode."""
    told = [Message("assistant", (ACTIONS[0],)), Message("user", ("It is open.",))]
    return [*prompt(range(count), 0), *told]


def _worst(model: Model, architecture: Architecture, folder: Path, count: int) -> str:
    shown = [tuple(range(n, n + count)) for n in range(4)]
    try:
        together, beam = asyncio.run(_ask(model, shown))
    except ModelError as error:
        return str(error)
    network = _network(architecture, folder)
    want = [plain(architecture, folder, network, one, n) for n, one in enumerate(shown)]
    worst = np.abs(np.subtract(together, want)).max(), np.abs(np.subtract(beam, want[0])).max()
    return f"{max(worst):.1e}"


async def _ask(
    model: Model, shown: Sequence[Sequence[int]]
) -> tuple[list[list[float]], list[float]]:
    prompts = [prompt(pictures, n) for n, pictures in enumerate(shown)]
    rankings = await asyncio.gather(*(model.rank(one, ACTIONS) for one in prompts))
    beam = await model.beam(prompts[0], ACTIONS, width=len(ACTIONS))
    found = {one.text: one.logprob for one in beam.scores}
    together = [[one.logprob for one in ranking.scores] for ranking in rankings]
    return together, [found[text] for text in ACTIONS]


def prompt(pictures: Sequence[int], n: int) -> list[Message]:
    """The n-th prompt: they differ in length."""
    parts = [part for i in pictures for part in (f"Now: {i}", Image(RGB[i]))]
    return [Message("system", (SYSTEM,)), Message("user", (*parts, "Act." + " Well." * n))]


def _network(architecture: Architecture, folder: Path) -> Any:
    sees, auto = architecture.sees, transformers
    kind = auto.AutoModelForImageTextToText if sees else auto.AutoModelForCausalLM
    return kind.from_pretrained(folder, dtype=torch.float32).eval()


@cache
def _tokenizer(folder: Path) -> Any:
    return transformers.AutoTokenizer.from_pretrained(folder)


@cache
def _processor(folder: Path) -> Any:
    return transformers.AutoProcessor.from_pretrained(folder)


@torch.inference_mode()
def plain(
    architecture: Architecture, folder: Path, network: Any, pictures: Sequence[int], n: int
) -> list[float]:
    """The definition of a score, with one forward pass for each action and none of our code."""
    words = _tokenizer(folder)
    body = "".join(f"Now: {i}{architecture.image}" for i in pictures) + "Act." + " Well." * n
    text = f"<s>system\n{SYSTEM}</s>\n<s>user\n{body}</s>\n<s>assistant\n"
    if pictures:
        processor = _processor(folder)
        images = [[Picture.fromarray(RGB[i]) for i in pictures]]
        options = {"add_special_tokens": False, "return_tensors": "pt"}
        asked = dict(processor(text=[text], images=images, **options))
    else:
        asked = dict(words(text, add_special_tokens=False, return_tensors="pt"))
        asked.pop("token_type_ids", None)
        if architecture.model_type == "paligemma":
            asked["token_type_ids"] = torch.zeros_like(asked["input_ids"])
    answers = [words(one, add_special_tokens=False)["input_ids"] for one in ACTIONS]
    return [_score(network, asked, answer, answers) for answer in answers]


def _score(
    network: Any, asked: dict[str, Any], answer: list[int], answers: list[list[int]]
) -> float:
    more = {k: v for k, v in asked.items() if k not in ("input_ids", "attention_mask", "labels")}
    # Llama 4's processor gives bfloat16.
    more = {k: v.float() if v.is_floating_point() else v for k, v in more.items()}
    ids = asked["input_ids"]
    for name in ("token_type_ids", "mm_token_type_ids"):
        if name in more:
            # 1 is what follows PaliGemma's prompt, and an image of Gemma 3.
            suffix = int(network.config.model_type == "paligemma")
            more[name] = torch.nn.functional.pad(more[name], (0, len(answer)), value=suffix)
    if (cross := more.get("cross_attention_mask")) is not None:
        more["cross_attention_mask"] = torch.cat([cross, *[cross[:, -1:]] * len(answer)], 1)
    whole = torch.cat([ids, torch.tensor([answer])], 1)
    said = network(input_ids=whole, use_cache=False, **more).logits[0].double().log_softmax(-1)
    said = said[ids.shape[1] - 1 :]
    length = len(answer)
    longer = {o[length] for o in answers if len(o) > length and o[:length] == answer}
    ends = log1p(-sum(float(said[length, token].exp()) for token in longer))
    return sum(float(said[i, token]) for i, token in enumerate(answer)) + ends


def _number(error: str) -> bool:
    try:
        float(error)
    except ValueError:
        return False
    return True
