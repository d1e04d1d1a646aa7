"""Models that see, of three architectures: exact with images, alone and several at once."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from math import log1p
from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image as Picture
from sampling import every
from transformers import (
    AutoImageProcessor,
    AutoModelForImageTextToText,
    AutoProcessor,
    AutoTokenizer,
)

from inhabit.agents.models.core import Image, Message, Model
from inhabit.agents.models.local.settings import LocalSettings
from inhabit.agents.models.registry import load
from inhabit.agents.models.transformers_names import image_token
from inhabit.agents.models.trie import Trie
from tests.agents.models.local.tiny import CHAT, save_idefics, save_llava, save_qwen

KINDS = {"llava": save_llava, "qwen": save_qwen, "idefics": save_idefics}
ACTIONS = ["open it", "open it_2", "open it_21", "go to the {sink}", "put it down", "x"]
SYSTEM = "You act."
RGB = np.random.default_rng(0).integers(0, 256, (8, 16, 16, 3), dtype=np.uint8)


@pytest.fixture(scope="module", params=every(3, ["llava", "qwen", "idefics"]))
def kind(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.fixture(scope="module")
def folder(kind: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return KINDS[kind](tmp_path_factory.mktemp(kind))


def model(folder: Path, batch: int = 8) -> Model:
    return load(f"local:{folder}", LocalSettings(device="cpu", dtype="float32", batch=batch))


def prompt(*pictures: int, said: str = "Now:") -> list[Message]:
    parts = [part for n in pictures for part in (f"{said} {n}", Image(RGB[n]))]
    return [Message("system", (SYSTEM,)), Message("user", tuple(parts) or (said,))]


def rank(model: Model, prompts: Sequence[list[Message]]) -> list[list[float]]:
    """What is asked at once."""

    async def at_once() -> list[list[float]]:
        rankings = await asyncio.gather(*(model.rank(p, ACTIONS) for p in prompts))
        return [[one.logprob for one in ranking.scores] for ranking in rankings]

    return asyncio.run(at_once())


def read(kind: str, folder: Path, pictures: Sequence[int]) -> dict[str, torch.Tensor]:
    """What transformers itself makes of a prompt, with none of our code."""
    images = [Picture.fromarray(RGB[n]) for n in pictures]
    mark = {"llava": "<image>", "idefics": "<image>"}.get(kind)
    body = "".join(f"Now: {n}{mark or '@'}" for n in pictures)
    text = f"<s>system\n{SYSTEM}</s>\n<s>user\n{body}</s>\n<s>assistant\n"
    if kind != "qwen":
        processor = AutoProcessor.from_pretrained(folder)
        return dict(
            processor(text=text, images=images, add_special_tokens=False, return_tensors="pt")
        )
    found = AutoImageProcessor.from_pretrained(folder)(images=images, return_tensors="pt")
    # 16x16 pixels are 4x4 patches, and each four of them one token.
    assert found["image_grid_thw"].tolist() == [[1, 4, 4]] * len(images)
    text = text.replace("@", f"<|vision_start|>{4 * '<|image_pad|>'}<|vision_end|>")
    words = AutoTokenizer.from_pretrained(folder)
    ids = words(text, add_special_tokens=False, return_tensors="pt")["input_ids"]
    kinds = (ids == words.convert_tokens_to_ids("<|image_pad|>")).long()
    return {"input_ids": ids, "mm_token_type_ids": kinds, **found}


@torch.inference_mode()
def forward_each(kind: str, folder: Path, pictures: Sequence[int]) -> list[float]:
    """The definition of a score, with one forward for each action."""
    network = AutoModelForImageTextToText.from_pretrained(folder, dtype=torch.float32).eval()
    words = AutoTokenizer.from_pretrained(folder)
    answers = [words(text, add_special_tokens=False)["input_ids"] for text in ACTIONS]
    asked = read(kind, folder, pictures)
    asked.pop("attention_mask", None)
    ids = asked.pop("input_ids")
    scores = []
    for answer in answers:
        more = dict(asked)
        if "mm_token_type_ids" in more:
            kinds = more["mm_token_type_ids"]
            more["mm_token_type_ids"] = torch.cat([kinds, kinds.new_zeros(1, len(answer))], 1)
        whole = torch.cat([ids, torch.tensor([answer])], 1)
        said = network(input_ids=whole, **more).logits[0].double().log_softmax(-1)
        said = said[ids.shape[1] - 1 :]
        n = len(answer)
        longer = {other[n] for other in answers if len(other) > n and other[:n] == answer}
        log_prob_ends = log1p(-sum(float(said[n, token].exp()) for token in longer))
        scores.append(sum(float(said[i, token]) for i, token in enumerate(answer)) + log_prob_ends)
    return scores


@pytest.mark.parametrize("pictures", [(0,), (1, 2)], ids=["one", "two"])
def test_ranking_with_pictures_is_a_forward_for_each_action(
    kind: str, folder: Path, pictures: tuple[int, ...]
) -> None:
    (got,) = rank(model(folder), [prompt(*pictures)])
    assert got == pytest.approx(forward_each(kind, folder, pictures), abs=1e-3)


def test_a_chat_template_for_text_alone_is_given_text(tmp_path: Path) -> None:
    want = rank(model(save_llava(tmp_path)), [prompt(0)])
    (tmp_path / "chat_template.jinja").write_text(CHAT)
    assert rank(model(tmp_path), [prompt(0)]) == want


def test_pictures_matter(folder: Path) -> None:
    one, two = rank(model(folder), [prompt(0, 1), prompt(1, 0)])
    assert np.abs(np.subtract(one, two)).max() > 0.01


def test_a_beam_with_pictures_ranks(folder: Path) -> None:
    seeing = model(folder)
    (scores,) = rank(seeing, [prompt(3)])
    found = asyncio.run(seeing.beam(prompt(3), ACTIONS, width=len(ACTIONS))).scores
    want = sorted(zip(ACTIONS, scores, strict=True), key=lambda one: -one[1])
    assert [one.text for one in found] == [text for text, _ in want]
    assert [one.logprob for one in found] == pytest.approx([s for _, s in want], abs=1e-3)


def test_an_image_is_read_once_and_what_is_new_with_the_candidates(folder: Path) -> None:
    seeing = model(folder)
    lengths: list[int] = []
    network = seeing.network.get_decoder()
    network.register_forward_pre_hook(
        lambda _, given, named: lengths.append(named["inputs_embeds"].shape[1]), with_kwargs=True
    )
    nodes = len(Trie.pack([seeing.encoder.candidate(text) for text in ACTIONS])) - 1
    known = 0
    for shown in ((0,), (0, 1), (0, 1)):
        lengths.clear()
        call = asyncio.run(seeing.rank(prompt(*shown), ACTIONS)).call
        ids = seeing.encoder.prompt(prompt(*shown)).ids
        assert sum(lengths) == call.tokens_in - call.tokens_kept
        assert call.tokens_in == len(ids) + nodes
        assert known <= call.tokens_kept < known + 4, "The template's end of a line, perhaps."
        known = max(i for i, token in enumerate(ids) if token == image_token(seeing.network)) + 1


def of_all_kinds() -> list[list[Message]]:
    """Eight episodes: images, none, several, prompts of different lengths and no system."""
    longer = "After a good many steps in this house you are back and see:"
    some = [prompt(n, said="Now:" if n % 2 else longer) for n in range(4)]
    bare = [Message("user", ("Without a system message, and blind.",))]
    return [*some, prompt(), prompt(5, 6), prompt(said=longer), bare]


def test_batches_change_no_ranking(folder: Path) -> None:
    want = rank(model(folder, batch=1), of_all_kinds())
    for batch in (4, 8):
        got = rank(model(folder, batch=batch), of_all_kinds())
        assert np.abs(np.subtract(got, want)).max() < 1e-3
        assert np.array_equal(np.argsort(got), np.argsort(want))


def test_batches_change_no_beam(folder: Path) -> None:
    def found(batch: int) -> list[list[tuple[str, float]]]:
        seeing = model(folder, batch=batch)

        async def at_once() -> list[list[tuple[str, float]]]:
            asked = [seeing.beam(p, ACTIONS, width=1 + n % 4) for n, p in enumerate(of_all_kinds())]
            return [
                [(one.text, one.logprob) for one in ranking.scores]
                for ranking in await asyncio.gather(*asked)
            ]

        return asyncio.run(at_once())

    want = found(1)
    assert [len(some) for some in want] == [1, 2, 3, 4] * 2
    for batch in (4, 8):
        for some, others in zip(found(batch), want, strict=True):
            assert [text for text, _ in some] == [text for text, _ in others]
            assert [s for _, s in some] == pytest.approx([s for _, s in others], abs=1e-3)


@pytest.mark.parametrize("n", [pytest.param(1, marks=pytest.mark.slow), 3])
def test_batches_change_no_answer(folder: Path, n: int) -> None:
    def said(batch: int) -> list[tuple[str, ...]]:
        seeing = model(folder, batch=batch)

        async def at_once() -> list[tuple[str, ...]]:
            asked = [seeing.generate(p, n=n, max_tokens=6) for p in of_all_kinds()]
            return [reply.texts for reply in await asyncio.gather(*asked)]

        return asyncio.run(at_once())

    assert said(1) == said(4) == said(8)


def test_of_several_questions_one_that_is_refused_spoils_no_other(folder: Path) -> None:
    seeing = model(folder)
    (want,) = rank(seeing, [prompt(2)])

    async def at_once() -> list[object]:
        asked = [seeing.rank(prompt(2), ACTIONS), seeing.rank(prompt(2), ["", "x"])]
        return await asyncio.gather(*asked, return_exceptions=True)

    good, refused = asyncio.run(at_once())
    assert [one.logprob for one in good.scores] == pytest.approx(want, abs=1e-3)
    assert "empty text" in str(refused)
