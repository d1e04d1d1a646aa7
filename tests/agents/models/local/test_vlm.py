"""The package's multimodal model: objects in images become tokens between words."""

from __future__ import annotations

import asyncio
from pathlib import Path

import numpy as np
import pytest
from PIL import Image as Picture

import inhabit
from inhabit.agents.core import Step
from inhabit.agents.models.core import Ability, Image, Message, Model
from inhabit.agents.models.local.settings import LocalSettings
from inhabit.agents.models.registry import load
from inhabit.agents.models.vlm.processor import IMAGE, InhabitVlmProcessor
from inhabit.envs.alfred.env import Alfred
from inhabit.envs.alfred.tasks.sampling import sample
from inhabit.envs.alfred.world.settings import AlfredSettings
from tests.agents.models.local.tiny_vlm import save_decoder, save_vlm

ANSWERS = ["go to the mug", "open the drawer_1"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    decoder = save_decoder(tmp_path_factory.mktemp("decoder"))
    return save_vlm(decoder, tmp_path_factory.mktemp("vlm"), {})


@pytest.fixture(scope="module")
def frames() -> list[np.ndarray]:
    """Three pictures of a room."""
    with Alfred(settings=AlfredSettings(wire="none")) as env:
        env.reset(next(sample(1, 0)), seed=0)
        shown = [env.observe().rgb]
        for _ in range(2):
            env.act(env.parse("turn right"))
            shown.append(env.observe().rgb)
    return shown


@pytest.fixture(scope="module")
def model(folder: Path) -> Model:
    return load(f"local:{folder}", LocalSettings(dtype="float32"))


def episode(*frames: np.ndarray) -> tuple[Message, ...]:
    """A prompt of a whole episode: each frame, and what was answered to all but the last."""
    said = []
    for frame in frames:
        said += [Message("user", ("ok", Image(frame), "\ndo")), Message("assistant", ("turn",))]
    return (Message("system", ("",)), *said[:-1])


def scores(model: Model, prompt: tuple[Message, ...]) -> list[float]:
    return [one.logprob for one in asyncio.run(model.rank(prompt, ANSWERS)).scores]


def test_it_loads_as_any_model_and_sees(model: Model, frames: list[np.ndarray]) -> None:
    assert Ability.IMAGES in model.abilities
    one, other = (scores(model, episode(frame)) for frame in frames[:2])
    assert one != pytest.approx(other, abs=1e-3)


def test_earlier_pictures_count(model: Model, frames: list[np.ndarray]) -> None:
    first, second, third = frames
    assert scores(model, episode(first, third)) != pytest.approx(
        scores(model, episode(second, third)), abs=1e-3
    )


def test_a_black_picture_has_no_token(model: Model, frames: list[np.ndarray]) -> None:
    image = model.encoder.tokenizer.convert_tokens_to_ids(IMAGE)
    count = [
        model.encoder.prompt(episode(frame)).ids.count(image)
        for frame in (frames[0], np.zeros_like(frames[0]))
    ]
    assert count[0] > 0
    assert count[1] == 0


def test_what_is_seen_again_at_once_has_no_token(model: Model, frames: list[np.ndarray]) -> None:
    image = model.encoder.tokenizer.convert_tokens_to_ids(IMAGE)
    once, twice = (
        model.encoder.prompt(episode(*some)).ids.count(image)
        for some in (frames[:1], [frames[0], frames[0]])
    )
    assert once == twice


def test_the_same_bytes_in_another_shape_are_another_picture(folder: Path) -> None:
    processor = InhabitVlmProcessor.from_pretrained(folder)
    wide = np.random.default_rng(0).integers(0, 256, (20, 80, 3), dtype=np.uint8)
    shown = [Picture.fromarray(one) for one in (wide, wide.reshape(80, 20, 3))]
    first, second = (processor._frame(one) for one in shown)
    assert not np.array_equal(first, second)


def test_text_can_not_show_objects(model: Model, frames: list[np.ndarray]) -> None:
    image = model.encoder.tokenizer.convert_tokens_to_ids(IMAGE)
    said = (Message("user", (f"ok {IMAGE}{IMAGE}", Image(np.zeros_like(frames[0])), "\ndo")),)
    assert image not in model.encoder.prompt(said).ids


def test_scores_do_not_depend_on_what_was_read_before(
    folder: Path, model: Model, frames: list[np.ndarray]
) -> None:
    for count in (1, 2, 3):
        grown = scores(model, episode(*frames[:count]))
    scores(model, episode(frames[1]))
    fresh = load(f"local:{folder}", LocalSettings(dtype="float32"))
    assert scores(fresh, episode(*frames)) == grown == scores(model, episode(*frames))


def test_each_turn_is_read_once_however_long_the_episode(
    folder: Path, frames: list[np.ndarray]
) -> None:
    model, read = load(f"local:{folder}", LocalSettings(dtype="float32")), []
    shown = [frames[i % 3] for i in range(40)]
    scores(model, episode(*shown[:-1]))
    model.network.register_forward_pre_hook(
        lambda _, args, given: read.append(given["input_ids"].numel()), with_kwargs=True
    )
    scores(model, episode(*shown))
    assert sum(read) < len(model.encoder.prompt(episode(*shown)).ids) / 4


@pytest.mark.slow  # the bundled one plays in test_bundled_vlm.py
@pytest.mark.parametrize("agent", ["rank", "beam"])
def test_it_plays_with_the_settings_that_it_recommends(
    folder: Path, tmp_path: Path, agent: str
) -> None:
    run = inhabit.run(
        "alfred",
        agent,
        tmp_path / "run",
        model=f"local:{folder}",
        n=1,
        max_steps=3,
        candidates="vocabulary",
        settings={"in_process": True, "wire": "none"},
    )
    assert run.episodes()[0]["ending"] in ("step_limit", "success")


def test_steps_are_told_in_a_few_words(folder: Path) -> None:
    from inhabit.agents.dialogue.prompt import Prompt, PromptSettings

    prompt = Prompt("rank", settings=PromptSettings(prompt=folder / "prompt.jinja"))
    assert prompt.turn("Put a mug away.", None, "") == "Task: Put a mug away."
    went = Step("go to the sink", None, "You are at the sink_1.")
    held = "You have a mug in your hands."
    assert prompt.turn("", went, held) == "at sink_1; hold mug"
