import numpy as np
import pytest
import torch
from transformers import AutoProcessor, LlavaForConditionalGeneration

from inhabit.agents.models.core import Image, Message
from inhabit.agents.models.local.encoder import Encoder
from inhabit.agents.models.trie import Trie
from inhabit.eie.tuning.agreement import can_share, read_shared
from inhabit.eie.tuning.parts import remember_images
from inhabit.eie.tuning.passes import read
from inhabit.eie.tuning.questions import Question, score
from tests.agents.models.local.tiny import save_llava

ANSWERS = (("go to the mug", "go to the mug now", "open it"), ("pick up the mug", "stop"))


@pytest.fixture(scope="module")
def vlm(tmp_path_factory: pytest.TempPathFactory):
    folder = save_llava(tmp_path_factory.mktemp("llava"))
    processor = AutoProcessor.from_pretrained(folder)
    model = LlavaForConditionalGeneration.from_pretrained(folder).eval()
    return model, Encoder(processor.tokenizer, processor)


def image(seed: int) -> Image:
    rgb = np.random.default_rng(seed).integers(0, 255, (160, 160, 3), dtype=np.uint8)
    return Image(rgb)


def question(
    encoder: Encoder, text: str, images: list[Image], answers: tuple[str, ...]
) -> Question:
    messages = (Message("system", ("Act.",)), Message("user", (text, *images)))
    trie = Trie.pack([encoder.candidate(answer) for answer in answers])
    return Question(text, encoder.prompt(messages), trie, 0)


def episode(encoder: Encoder) -> list[Question]:
    first, second = image(1), image(2)
    return [
        question(encoder, "Goal: a mug", [first], ANSWERS[0]),
        question(encoder, "Goal: a mug Done: open;", [second, first], ANSWERS[1]),
        question(encoder, "Goal: a mug Done: open;", [second], ANSWERS[0]),
        question(encoder, "Goal: a mug Done: open; stop;", [], ANSWERS[1]),
    ]


def scores(model: torch.nn.Module, asked: list[Question]) -> list[torch.Tensor]:
    found = read_shared(model, asked)
    return [score(one, q.trie).sums for one, q in zip(found, asked, strict=True)]


def test_prompts_that_are_read_together_score_as_those_read_alone(vlm):
    model, encoder = vlm
    asked = episode(encoder)
    assert can_share(model, [q.prompt for q in asked])

    with torch.no_grad():
        together = scores(model, asked)
        alone = [score(read(model, [q], "rows", pad=encoder.end)[0], q.trie).sums for q in asked]

    for one, other in zip(together, alone, strict=True):
        torch.testing.assert_close(one, other, atol=1e-4, rtol=0)


def test_common_beginnings_are_read_once(vlm):
    model, encoder = vlm
    asked = episode(encoder)
    tokens = []
    hook = model.model.language_model.register_forward_hook(
        lambda module, given, options, out: tokens.append(out[0].shape[1]), with_kwargs=True
    )

    with torch.no_grad():
        read_shared(model, asked)
    hook.remove()

    begun = {tuple(q.prompt.ids[: i + 1]) for q in asked for i in range(len(q.prompt.ids))}
    assert tokens == [len(begun) + sum(len(q.trie) - 1 for q in asked)]


def test_a_frozen_encoder_reads_each_image_once_with_the_same_scores(vlm):
    model, encoder = vlm
    model.model.vision_tower.requires_grad_(False)
    asked = episode(encoder)
    with torch.no_grad():
        before = scores(model, asked)
    seen = []
    plain = model.model.vision_tower.forward
    model.model.vision_tower.forward = lambda pixels, **rest: (
        seen.append(len(pixels)),
        plain(pixels, **rest),
    )[1]

    assert remember_images(model, gigabytes=1.0)
    with torch.no_grad():
        for _ in range(2):
            for one, other in zip(scores(model, asked), before, strict=True):
                torch.testing.assert_close(one, other, atol=1e-4, rtol=0)

    assert seen == [1, 1]
