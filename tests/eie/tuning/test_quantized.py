"""QLoRA on a CPU: adapters on quantized weights."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.agents.models.local.wide import opened, save_wide, scores
from tests.eie.tuning.made_set import write
from tests.eie.tuning.training import train

pytest.importorskip("bitsandbytes")


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_wide(tmp_path_factory.mktemp("base"))


@pytest.mark.parametrize(
    ("kind", "checkpointing"), [("bnb-8bit", False), ("bnb-4bit", False), ("bnb-4bit", True)]
)
def test_adapters_on_quantized_weights(
    kind: str, checkpointing: bool, base: Path, tmp_path: Path
) -> None:
    made, warned = write(tmp_path / "set", train=12, val=2), []
    said = {"quantization": kind, "checkpointing": checkpointing, "dtype": "bfloat16"}
    result, heard = train(made, base, tmp_path / "out", warned, epochs=3, **said)
    losses = [line.loss for line in heard if line.kind == "step"]
    assert losses[-1] < losses[0] and not warned
    # Merged into full precision, and as layers beside the quantized weights.
    tuned = Path(result.model.removeprefix("local:"))
    merged = scores(opened(tuned, dtype="bfloat16"))
    beside = scores(opened(tuned, dtype="bfloat16", quantization=kind))
    assert merged == pytest.approx(beside, rel=0.1)
    assert beside != pytest.approx(scores(opened(base, quantization=kind)), rel=0.1)


def test_gradients_are_those_of_the_rounded_weights(base: Path, tmp_path: Path) -> None:
    """bitsandbytes has a kernel for CPUs that returns no gradients, without an error."""
    made = write(tmp_path / "set", train=4, val=0)
    rounded = opened(base, quantization="bnb-4bit")
    rounded.network.dequantize()
    rounded.network.save_pretrained(tmp_path / "rounded")
    rounded.encoder.save(tmp_path / "rounded")
    _, plain = train(made, tmp_path / "rounded", tmp_path / "a", epochs=1)
    _, quantized = train(made, base, tmp_path / "b", epochs=1, quantization="bnb-4bit")
    assert quantized[0].loss == pytest.approx(plain[0].loss, rel=1e-3)
    assert quantized[0].norm == pytest.approx(plain[0].norm or 0, rel=1e-2)
