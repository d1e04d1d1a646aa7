"""Quantized weights, checkpoints that come quantized, half precision and device maps, on a CPU."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch
import transformers

from inhabit.agents.core import ModelError
from tests.agents.models.local.wide import opened, save_wide, scores


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_wide(tmp_path_factory.mktemp("base"))


@pytest.mark.parametrize("kind", ["bnb-8bit", "bnb-4bit"])
@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_weights_are_quantized(base: Path, kind: str, dtype: str) -> None:
    pytest.importorskip("bitsandbytes")
    exact = scores(opened(base))
    rounded = scores(opened(base, quantization=kind, dtype=dtype))
    assert rounded != pytest.approx(exact, abs=1e-4)
    assert rounded == pytest.approx(exact, abs=3)


@pytest.mark.parametrize("kind", ["bnb-8bit", "bnb-4bit"])
def test_a_checkpoint_that_comes_quantized(base: Path, kind: str, tmp_path: Path) -> None:
    pytest.importorskip("bitsandbytes")
    made = opened(base, quantization=kind)
    made.network.save_pretrained(tmp_path)
    made.encoder.save(tmp_path)
    found = opened(tmp_path)
    kinds = {type(module).__name__ for module in found.network.modules()}
    assert kinds & {"Linear8bitLt", "Linear4bit"}
    assert scores(found) == pytest.approx(scores(opened(base, quantization=kind)), abs=0.2)


@pytest.mark.parametrize(("method", "package"), [("gptq", "gptq"), ("awq", "gptq|awq")])
def test_formats_whose_package_is_missing(
    base: Path, method: str, package: str, tmp_path: Path
) -> None:
    for file in base.iterdir():
        (tmp_path / file.name).write_bytes(file.read_bytes())
    config = json.loads((base / "config.json").read_text())
    config["quantization_config"] = {"quant_method": method, "bits": 4, "group_size": 64}
    (tmp_path / "config.json").write_text(json.dumps(config))
    with pytest.raises(ModelError, match=rf"(?i)can't be loaded: .*({package})"):
        opened(tmp_path)


def test_half_precision(base: Path) -> None:
    found = opened(base, dtype="float16")
    assert found.network.dtype == torch.float16
    assert scores(found) == pytest.approx(scores(opened(base)), abs=0.2)


def test_the_dtype_of_the_checkpoint(base: Path, tmp_path: Path) -> None:
    made = transformers.AutoModelForCausalLM.from_pretrained(base, dtype=torch.bfloat16)
    made.save_pretrained(tmp_path)
    for file in base.glob("*tok*"):
        (tmp_path / file.name).write_bytes(file.read_bytes())
    assert opened(tmp_path, dtype="checkpoint").network.dtype == torch.bfloat16
    assert opened(base, dtype="checkpoint").network.dtype == torch.float32


def test_a_device_map(base: Path) -> None:
    pytest.importorskip("accelerate")
    found = opened(base, device_map="auto")
    assert scores(found) == pytest.approx(scores(opened(base)), abs=1e-4)
