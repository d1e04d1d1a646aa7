"""Sets of examples train models by TRL's own trainers."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import pytest

datasets = pytest.importorskip("datasets", reason="needs the package datasets")
pytest.importorskip("torch", reason="needs the extra `local`")

from inhabit.eie.tuning.samples import read  # noqa: E402
from inhabit.eie.tuning.settings import TuneError  # noqa: E402
from inhabit.frameworks.trl_data import preference_dataset, sft_dataset  # noqa: E402
from tests.eie.tuning.made_set import write  # noqa: E402

needs_trl = pytest.mark.skipif(
    importlib.util.find_spec("trl") is None, reason="needs the package trl"
)


@pytest.fixture
def made(tmp_path: Path) -> Path:
    return write(tmp_path / "set", train=8, val=2)


def test_a_row_is_the_planners_prompt_and_the_answer(made: Path) -> None:
    rows = sft_dataset(made, limit=3)
    assert len(rows) == 3
    answers = {sample.answer for sample in read(made, "train")}
    for row in rows:
        (turn,) = row["completion"]
        assert turn["role"] == "assistant" and turn["content"][0]["text"] in answers
        assert [turn["role"] for turn in row["prompt"]] == ["system", "user"]
        kinds = [block["type"] for turn in row["prompt"] for block in turn["content"]]
        assert kinds.count("image") == len(row["images"]) == 1
        assert row["images"][0].size == (16, 16)
    text = sft_dataset(made, pictures=False, reasons=True)[0]
    assert "images" not in text and "So: take" in text["completion"][0]["content"]


def test_pairs_of_answers(made: Path) -> None:
    rows = preference_dataset(made, pairs=2)
    assert len(rows) == 16
    assert all(row["chosen"] != row["rejected"] for row in rows)
    assert rows[0]["rejected"] != rows[1]["rejected"]


def test_a_picture_outside_of_the_set(made: Path, tmp_path: Path) -> None:
    (made / "images" / "0.png").unlink()
    (made / "images" / "0.png").symlink_to(tmp_path / "elsewhere.png")
    with pytest.raises(TuneError, match="outside of the set"):
        sft_dataset(made)


def test_what_has_no_examples_is_named(made: Path) -> None:
    for make in (sft_dataset, preference_dataset):
        with pytest.raises(TuneError, match="no such examples: choose another split"):
            make(made, "test")


@needs_trl
@pytest.mark.parametrize("trainer", ["SFT", "DPO"])
def test_a_tiny_multimodal_model_learns(trainer: str, made: Path, tmp_path: Path) -> None:
    import peft
    import trl
    from tiny_vlm import tiny_vlm

    model, processor = tiny_vlm()
    kind: Any = getattr(trl, f"{trainer}Trainer")
    config: Any = getattr(trl, f"{trainer}Config")
    rows = sft_dataset(made) if trainer == "SFT" else preference_dataset(made)
    adapters = peft.LoraConfig(r=8, lora_alpha=32, target_modules=["q_proj", "v_proj", "up_proj"])
    taught = kind(
        model=model,
        peft_config=adapters,  # its base is what DPO compares with
        processing_class=processor,
        train_dataset=rows,
        args=config(
            output_dir=str(tmp_path / "out"),
            max_steps=8,
            per_device_train_batch_size=4,
            learning_rate=1e-2,
            max_length=None,
            logging_steps=1,
            report_to=[],
            use_cpu=True,
            bf16=False,
            save_strategy="no",
        ),
    )
    taught.train()
    losses = [line["loss"] for line in taught.state.log_history if "loss" in line]
    assert len(losses) == 8 and losses[-1] < losses[0]
