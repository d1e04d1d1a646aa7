"""Tuning tiny models of many architectures: learns, resumes, and its result loads elsewhere."""

from __future__ import annotations

import asyncio
import importlib.util
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import peft
import pytest
import torch
import transformers

import inhabit
from inhabit.agents.models.local.settings import LocalSettings
from inhabit.agents.models.registry import load
from inhabit.eie.tuning.base import merge
from inhabit.eie.tuning.log import LogLine
from inhabit.eie.tuning.samples import Wording, read
from inhabit.eie.tuning.settings import TuneSettings
from inhabit.eie.tuning.tune import tune
from tests.agents.models.local.zoo.build import Architecture, save
from tests.agents.models.local.zoo.table import ARCHITECTURES
from tests.eie.tuning.made_set import write
from tests.eie.tuning.training import QUICK, train, weights

SEE = [one for one in ARCHITECTURES if one.sees]
ROWS = {"qwen3_5", "lfm2_vl", "llama4"}
"""Those whose layers take no tree masks."""


class KilledError(Exception):
    pass


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write(tmp_path_factory.mktemp("set") / "s", train=12, val=2)


@pytest.mark.slow
@pytest.mark.parametrize("architecture", SEE, ids=lambda one: one.model_type)
def test_a_tuned_architecture(architecture: Architecture, made: Path, tmp_path: Path) -> None:
    if architecture.needs_torchvision and importlib.util.find_spec("torchvision") is None:
        pytest.skip("its processor needs torchvision")
    base, warned = save(architecture, tmp_path / "base"), []
    result, heard = train(made, base, tmp_path / "whole", warned, epochs=2, save_every=2)
    losses = [line.loss for line in heard if line.kind == "step"]
    half = len(losses) // 2
    assert sum(losses[-half:]) < sum(losses[:half])
    assert bool(warned) is (architecture.model_type in ROWS), warned

    resumed = killed_and_resumed(made, base, tmp_path / "cut")
    undisturbed = weights(tmp_path / "whole")
    assert all(torch.equal(undisturbed[name], resumed[name]) for name in undisturbed)

    merge(result.model, tmp_path / "merged")
    kind = transformers.AutoModelForImageTextToText
    plain = kind.from_pretrained(base, dtype=torch.float32).eval()
    before = logits(plain, base, made)
    by_peft = peft.PeftModel.from_pretrained(plain, str(tmp_path / "whole" / "model")).eval()
    unmerged = logits(by_peft, base, made)
    by_hand = logits(
        kind.from_pretrained(tmp_path / "merged", dtype=torch.float32).eval(),
        tmp_path / "merged",
        made,
    )
    ours = load(result.model, LocalSettings(device="cpu", dtype="float32"))
    assert not torch.allclose(before, unmerged, atol=0.1)
    torch.testing.assert_close(by_hand, unmerged, atol=2e-3, rtol=0)
    torch.testing.assert_close(
        logits(ours.network, base, made),  # type: ignore[attr-defined]
        unmerged,
        atol=2e-3,
        rtol=0,
    )

    told = [play(model, tmp_path) for model in (result.model, f"local:{tmp_path / 'merged'}")]
    assert told[0] == pytest.approx(told[1], abs=2e-3)
    assert told[0] != pytest.approx(play(f"local:{base}", tmp_path), abs=0.01)


def killed_and_resumed(made: Path, base: Path, out: Path) -> dict[str, torch.Tensor]:
    """The weights of a training that was killed in step 4 of 6."""

    def kill(line: LogLine, steps: int) -> None:
        if line.step == 3:
            raise KilledError

    said = {"epochs": 2, "save_every": 2}
    with pytest.raises(KilledError):
        tune(
            read(made, "train"),
            read(made, "val"),
            base=f"local:{base}",
            out=out,
            settings=TuneSettings.model_validate(QUICK | said),
            seed=0,
            tell=kill,
            warn=lambda sentence: None,
        )
    train(made, base, out, **said)
    return weights(out)


@torch.no_grad()
def logits(model: Any, folder: Path, made: Path) -> torch.Tensor:
    """Logits after the first example's prompt, by the model's own processor."""
    loaded = load(f"local:{folder}", LocalSettings(device="cpu", dtype="float32"))
    sample = next(read(made, "train"))
    encoder = loaded.encoder  # type: ignore[attr-defined]
    prompt = encoder.prompt(Wording(TuneSettings(), sees=True).messages(sample))
    asyncio.run(loaded.close())
    found: torch.Tensor = model(input_ids=torch.tensor([prompt.ids]), **prompt.extra(model)).logits
    return found[0, -1]


def play(model: str, folder: Path) -> Mapping[str, float]:
    """The scores of the candidates in the first step of an episode by `--agent rank`."""
    out = folder / f"run{len(list(folder.glob('run*')))}"
    settings = {"dtype": "float32", "device": "cpu"}
    run = inhabit.run("toy", "rank", out, n=1, model=model, max_steps=2, settings=settings)
    assert [row["ending"] for row in run.episodes()] == ["step_limit"]
    attempt = next(iter(run.run.episodes())).last()
    assert attempt is not None and attempt.steps[0].decide is not None
    return {one.text: one.logprob for one in attempt.steps[0].decide.ranked}
