"""`--set whole=` and `--set targets=none`: parts that are trained without LoRA."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
import torch
import transformers
from safetensors.torch import load_file

from inhabit.agents.models.local.settings import LocalSettings
from inhabit.agents.models.registry import load
from inhabit.eie.tuning.parts import module_names
from inhabit.eie.tuning.samples import Wording, read
from inhabit.eie.tuning.settings import TuneError, TuneSettings
from tests.agents.models.local.tiny import save_idefics, save_llama, save_llava, save_qwen
from tests.eie.tuning.made_set import write
from tests.eie.tuning.training import train


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write(tmp_path_factory.mktemp("set") / "s", train=16, val=4)


@pytest.fixture(scope="module")
def llava(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_llava(tmp_path_factory.mktemp("llava"))


def test_words_for_parts(tmp_path: Path) -> None:
    def names(folder: Path, *words: str) -> tuple[str, ...]:
        kind = transformers.AutoModelForImageTextToText
        return module_names(kind.from_pretrained(folder), words)

    llava, qwen = save_llava(tmp_path / "llava"), save_qwen(tmp_path / "qwen")
    idefics = save_idefics(tmp_path / "idefics")
    assert names(llava, "projector") == ("model.multi_modal_projector",)
    assert names(llava, "multi_modal_projector") == ("model.multi_modal_projector",)
    assert names(llava, "language", "vision") == (
        "model.language_model",
        "lm_head",
        "model.vision_tower",
    )
    assert names(qwen, "projector", "vision") == ("model.visual.merger", "model.visual")
    assert names(idefics, "projector") == ("model.connector",)
    with pytest.raises(TuneError, match=r"no module 'projecter'.*Near it: projector"):
        names(llava, "projecter")


@pytest.mark.slow
@pytest.mark.parametrize("objective", ["sft", pytest.param("ranking", marks=pytest.mark.slow)])
def test_the_projector_alone(llava: Path, made: Path, tmp_path: Path, objective: str) -> None:
    """The result is a whole model, of which nothing else has changed."""
    result, heard = train(
        made, llava, tmp_path, targets="none", whole="projector", objective=objective, epochs=2
    )
    steps = [line.loss for line in heard if line.kind == "step"]
    assert steps[-1] < steps[0]
    before, after = (load_file(f / "model.safetensors") for f in (llava, tmp_path / "model"))
    changed = {name for name in before if not torch.equal(before[name], after[name])}
    assert changed and all("projector" in name for name in changed)
    assert scores(result.model, made) != pytest.approx(scores(f"local:{llava}", made), abs=0.01)


@pytest.mark.slow
def test_everything_in_a_text_model(made: Path, tmp_path: Path) -> None:
    base = save_llama(tmp_path / "base")
    result, heard = train(made, base, tmp_path / "a", targets="none", whole="all", epochs=2)
    steps = [line.loss for line in heard if line.kind == "step"]
    assert steps[-1] < steps[0]
    # The result is a base for the next stage.
    next_stage, _ = train(made, tmp_path / "a" / "model", tmp_path / "b", epochs=1)
    assert load(next_stage.model).name == next_stage.model
    assert result.model == f"local:{tmp_path / 'a' / 'model'}"


@pytest.mark.slow
def test_adapters_with_a_whole_projector(llava: Path, made: Path, tmp_path: Path) -> None:
    result, _ = train(made, llava, tmp_path, whole="projector", epochs=1)
    kept = load_file(tmp_path / "model" / "adapter_model.safetensors")
    assert any("multi_modal_projector" in name for name in kept)
    assert any("lora_A" in name for name in kept)
    assert scores(result.model, made) != pytest.approx(scores(f"local:{llava}", made), abs=0.01)


def test_a_part_that_is_not_there(made: Path, tmp_path: Path) -> None:
    base = save_llama(tmp_path / "base")
    with pytest.raises(TuneError, match="The model has no part 'vision' to train"):
        train(made, base, tmp_path / "out", targets="none", whole="vision")


def scores(model: str, made: Path) -> list[float]:
    found = load(model, LocalSettings(device="cpu", dtype="float32"))
    sample = next(read(made, "train"))
    messages = Wording(TuneSettings(), sees=True).messages(sample)
    try:
        ranking = asyncio.run(found.rank(messages, sample.example.candidates))
        return [one.logprob for one in ranking.scores]
    finally:
        asyncio.run(found.close())


@pytest.mark.slow
def test_adapters_on_the_last_layers_alone(llava: Path, made: Path, tmp_path: Path) -> None:
    result, _ = train(made, llava, tmp_path, last_layers=1, epochs=2)
    adapters = load_file(Path(result.model.removeprefix("local:")) / "adapter_model.safetensors")
    assert {name.split(".layers.")[1].split(".")[0] for name in adapters} == {"1"}
    assert any(value.any() for name, value in adapters.items() if "lora_B" in name)
