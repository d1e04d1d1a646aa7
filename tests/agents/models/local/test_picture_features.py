"""Features of images are kept: an image that comes again is not encoded again."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest
import torch
from sampling import every
from transformers import Idefics3Model

from inhabit.agents.models.core import Image, Message
from inhabit.agents.models.local.picture_features import PictureFeatures
from inhabit.agents.models.local.settings import LocalSettings
from inhabit.agents.models.local.transformer import Transformer
from inhabit.agents.models.registry import load
from tests.agents.models.local.tiny import save_idefics, save_llava, save_qwen
from tests.agents.models.local.zoo.check import ACTIONS, RGB

KINDS = {"llava": save_llava, "qwen": save_qwen, "idefics": save_idefics}
VISION = {"llava": "vision_tower", "qwen": "visual", "idefics": "vision_model"}


@pytest.fixture(params=every(3, ["qwen", "llava", "idefics"]))
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def seeing(kind: str, tmp_path: Path) -> Callable[..., Transformer]:
    folder = KINDS[kind](tmp_path / "model")

    def network(**settings: object) -> Transformer:
        asked = {"device": "cpu", "dtype": "float32", **settings}
        found = load(f"local:{folder}", LocalSettings.model_validate(asked))
        assert isinstance(found, Transformer)
        return found

    return network


def encoded(model: Transformer, kind: str) -> list[int]:
    """A list that grows by the number of values that the vision part is given."""
    sizes: list[int] = []

    def seen(_: object, given: tuple[torch.Tensor, ...], named: dict[str, torch.Tensor]) -> None:
        sizes.append((named["pixel_values"] if "pixel_values" in named else given[0]).numel())

    vision = getattr(model.network.model, VISION[kind])
    vision.register_forward_pre_hook(seen, with_kwargs=True)
    return sizes


def prompt(pictures: Sequence[int], more: str = "") -> list[Message]:
    parts = [part for i in pictures for part in (f"Now: {i}", Image(RGB[i]))]
    return [Message("system", ("You act.",)), Message("user", (*parts, "Act." + more))]


def rank(model: Transformer, prompts: Sequence[list[Message]]) -> list[list[float]]:
    async def at_once() -> list[list[float]]:
        found = await asyncio.gather(*(model.rank(one, ACTIONS) for one in prompts))
        return [[score.logprob for score in ranking.scores] for ranking in found]

    return asyncio.run(at_once())


def test_a_picture_that_comes_again_is_not_encoded_again(
    kind: str, seeing: Callable[..., Transformer]
) -> None:
    model = seeing()
    sizes = encoded(model, kind)
    first = rank(model, [prompt([0])])
    one = sum(sizes)
    assert one > 0
    second = rank(model, [prompt([0, 1])])  # the next step, with the last image before it
    assert sum(sizes) == 2 * one
    again = rank(model, [prompt([1, 0])]) + rank(model, [prompt([0])])
    asyncio.run(model.beam(prompt([1]), ACTIONS, width=2))
    assert sum(sizes) == 2 * one
    forgetful = seeing(picture_cache=0, prompt_cache=0)
    sizes = encoded(forgetful, kind)
    want = [rank(forgetful, [prompt(one)])[0] for one in ([0], [0, 1], [1, 0], [0])]
    assert sum(sizes) == 6 * one
    assert np.abs(np.subtract([*first, *second, *again], want)).max() < 1e-4


def test_prompts_of_different_length_are_read_together(
    kind: str, seeing: Callable[..., Transformer]
) -> None:
    asked = [prompt([i], " a" * i) for i in range(4)]
    apart = [rank(seeing(batch=1), [one])[0] for one in asked]
    model = seeing(batch=4)
    rows: list[int] = []
    model.network.get_decoder().register_forward_pre_hook(
        lambda _, given, named: rows.append(len(named["inputs_embeds"])), with_kwargs=True
    )
    together = rank(model, asked)
    assert max(rows) == 4
    assert np.abs(np.subtract(together, apart)).max() < 1e-4


def test_what_is_kept_is_bounded_and_the_oldest_goes_first(
    kind: str, seeing: Callable[..., Transformer]
) -> None:
    model = seeing()
    prompts = [model.encoder.prompt(prompt([i])) for i in range(6)]
    whole = PictureFeatures(model.network, 1 << 20)
    sizes = encoded(model, kind)
    with torch.inference_mode():
        whole.of(prompts[:1])
        each, one = whole.kept_bytes, sum(sizes)
        few = PictureFeatures(model.network, 3 * each)
        for i, total in ((0, 1), (1, 2), (2, 3), (0, 3), (3, 4), (0, 4), (1, 5)):
            few.of(prompts[i : i + 1])
            assert few.kept_bytes <= 3 * each
            assert sum(sizes) == (1 + total) * one


def test_features_are_not_kept_where_a_picture_depends_on_its_neighbours(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The check at load sees that such a model scores otherwise when images are encoded apart."""
    encode = Idefics3Model.get_image_features

    def together(model: Idefics3Model, pixel_values: torch.Tensor, *more: object, **named: object):
        output = encode(model, pixel_values, *more, **named)
        count = pixel_values.shape[1]  # of one prompt
        output.pooler_output = [one * count for one in output.pooler_output]
        return output

    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    folder = save_idefics(tmp_path / "model")

    def scores() -> tuple[bool, list[float]]:
        settings = LocalSettings(device="cpu", dtype="float32")
        model = load(f"local:{folder}", settings)
        assert isinstance(model, Transformer)
        return model.features is not None, rank(model, [prompt([0, 1])])[0]

    kept, plain = scores()
    monkeypatch.setattr(Idefics3Model, "get_image_features", together)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "another cache"))
    not_kept, scaled = scores()
    assert (kept, not_kept) == (True, False)
    assert np.abs(np.subtract(plain, scaled)).max() > 1e-2
