"""A language model and an image tower become one model that sees."""

from __future__ import annotations

import asyncio
from pathlib import Path

import numpy as np
import pytest
import torch
from transformers import LlavaForConditionalGeneration

from inhabit.agents.models.core import Ability, Image, Message
from inhabit.agents.models.local.settings import LocalSettings
from inhabit.agents.models.registry import load
from inhabit.eie.tuning.vlm.model import compose
from inhabit.eie.tuning.vlm.tower import LabelledTower, load_head, save_tower
from tests.agents.models.local.tiny import save_llama

CLASSES = ("mug", "sink")


@pytest.fixture(scope="module")
def parts(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path, Path]:
    decoder = save_llama(tmp_path_factory.mktemp("decoder"))
    tower = tmp_path_factory.mktemp("tower")
    save_tower(LabelledTower(CLASSES, 0), tower)
    out = tmp_path_factory.mktemp("composed")
    compose(decoder, tower, out)
    return decoder, tower, out


def scores(folder: Path, *images: Image) -> list[float]:
    model = load(f"local:{folder}", LocalSettings(dtype="float32"))
    said = Message("user", ("open the mug", *images))
    ranked = asyncio.run(model.rank((said,), ["the pen", "open"])).scores
    return [one.logprob for one in ranked]


def test_without_images_it_scores_as_its_language_model(parts: tuple[Path, Path, Path]) -> None:
    decoder, _, composed = parts
    # The composed weights are rounded to bfloat16, and one token more shares the probability.
    assert scores(composed) == pytest.approx(scores(decoder), abs=0.3)


def test_it_sees(parts: tuple[Path, Path, Path]) -> None:
    _, _, composed = parts
    assert Ability.IMAGES in load(f"local:{composed}").abilities
    rng = np.random.default_rng(0)
    one, other = (Image(rng.integers(0, 255, (90, 120, 3), dtype=np.uint8)) for _ in range(2))
    assert scores(composed, one) != pytest.approx(scores(composed, other), abs=1e-3)


def test_the_projector_starts_as_the_class_scores(parts: tuple[Path, Path, Path]) -> None:
    _, tower, composed = parts
    model = LlavaForConditionalGeneration.from_pretrained(composed)
    classes, weight, bias = load_head(tower)
    first = model.model.multi_modal_projector.linear_1
    assert classes == CLASSES
    torch.testing.assert_close(first.weight[:2].float(), weight, atol=1e-2, rtol=1e-2)
    torch.testing.assert_close(first.bias[:2].float(), bias, atol=1e-2, rtol=1e-2)
