"""From recorded episodes to a model that acts: the stages of `scripts/make_vlm` in small."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch

import inhabit
from inhabit.agents.models.local.recommended import FILE
from inhabit.eie.tuning.batches import episode_steps
from inhabit.eie.tuning.demonstrations import (
    RecordedEpisode,
    append,
    episodes_in,
    kinds_in_view,
    noisy_expert,
    record,
)
from inhabit.eie.tuning.samples import read
from inhabit.eie.tuning.settings import TuneError
from inhabit.eie.tuning.vlm.sets import write_set
from inhabit.envs.toy.env import Toy
from inhabit.envs.toy.tasks import sample
from tests.agents.models.local.tiny import save_llava, save_qwen
from tests.eie.tuning.training import train, weights

TRAINED = {
    "objective": "sft",
    "end": True,
    "targets": "none",
    "whole": "language,projector",
    "episodes": True,
    "epochs": 1,
    "batch": 6,
    "rate": 5e-3,
    "judge": 0,
}


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("recorded")
    with Toy() as env:
        for seed, task in enumerate(sample(4, 0)):
            played = record(
                env,
                task,
                act=noisy_expert(0.2, seed),
                seed=seed,
                max_steps=8,
                folder=folder,
                in_words=False,
            )
            append(played, folder)
    return folder


@pytest.fixture(scope="module")
def made(recorded: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("made") / "set"
    write_set([recorded], folder, split="train", tells=lambda t, _: t.goal, copies=2, seed=0)
    return folder


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = save_llava(tmp_path_factory.mktemp("base"))
    ours = Path(inhabit.__file__).parent / "eie" / "tuning" / "vlm"
    for name in (FILE, "prompt.jinja"):
        shutil.copy(ours / name, folder / name)
    return folder


def episodes(folder: Path) -> Iterator[RecordedEpisode]:
    return episodes_in(folder)


def test_recorded_steps_become_examples_with_their_images(recorded: Path, made: Path) -> None:
    samples = list(read(made, "train"))
    steps = [step for one in episodes(recorded) for step in one.steps]
    assert len(samples) == 2 * len(steps)
    assert {s.answer for s in samples} == {step.best for step in steps}
    assert all((made / s.example.image).is_file() for s in samples if s.example.image)
    longest = max(samples, key=lambda s: len(s.example.history))
    alike = [s for s in samples if s.episode == longest.episode]
    assert len(alike) == len(longest.example.history) + 1


def test_a_model_from_nothing_learns_from_episodes_and_acts(
    made: Path, base: Path, tmp_path: Path
) -> None:
    result, heard = train(made, base, tmp_path / "tuned", **TRAINED | {"epochs": 6})
    losses = [line.loss for line in heard if line.kind == "step"]
    assert losses[-1] < 0.7 * losses[0]
    tuned = Path(result.model.removeprefix("local:"))
    assert (tuned / FILE).read_bytes() == (base / FILE).read_bytes()
    run = inhabit.run("toy", "rank", tmp_path / "run", model=result.model, n=1, max_steps=2)
    line = run.episodes()[0]
    assert line["ending"] in ("success", "step_limit")
    told = json.loads((tmp_path / "run" / "run.json").read_text())["settings"]["agent"]
    assert told["history"] == 60
    assert told["prompt"] == str(tuned / "prompt.jinja")


def test_an_interrupted_training_gives_the_same_weights(
    made: Path, base: Path, tmp_path: Path
) -> None:
    settings = TRAINED | {"save_every": 2}
    train(made, base, tmp_path / "whole", **settings)
    train(made, base, tmp_path / "cut", **settings)
    newest = sorted((tmp_path / "cut" / "checkpoints").iterdir())[-1]
    shutil.rmtree(newest)
    train(made, base, tmp_path / "cut", **settings)
    whole, resumed = weights(tmp_path / "whole"), weights(tmp_path / "cut")
    assert all(torch.equal(whole[name], resumed[name]) for name in whole)


def test_a_model_with_other_positions_is_refused(made: Path, tmp_path: Path) -> None:
    qwen = tmp_path / "qwen"
    qwen.mkdir()
    save_qwen(qwen)
    with pytest.raises(TuneError, match="episodes=true"):
        train(made, qwen, tmp_path / "tuned", **TRAINED)


def test_steps_take_whole_episodes() -> None:
    names = tuple("aaabbbbcc" * 3)
    names = tuple(f"{name}{i // 9}" for i, name in enumerate(names))
    steps = episode_steps(names, 5, 2.0, 0)
    assert all(len(step) >= 5 for step in steps[:-1])
    for step in steps:
        for name in {names[i] for i in step}:
            assert sum(names[i] == name for i in step) % names.count(name) == 0
    assert sum(map(len, steps)) == 2 * len(names)
    assert steps != episode_steps(names, 5, 2.0, 1)


def test_kinds_in_view_are_named_once() -> None:
    text = (
        "You have a cup in your hands. You see: mug_1, mug_2. You have just seen besides: sink_1."
    )
    assert kinds_in_view(text) == "You have a cup in your hands. You see: mug sink."
