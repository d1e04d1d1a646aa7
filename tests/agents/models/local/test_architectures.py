"""Tiny models of many architectures: exact against plain forward passes, or refused."""

from __future__ import annotations

import asyncio
import functools
import importlib.util
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch
from sampling import every
from transformers import AutoModelForCausalLM

from inhabit.agents.core import ModelError
from inhabit.agents.models.core import Message
from inhabit.agents.models.local.settings import LocalSettings
from inhabit.agents.models.local.transformer import Transformer
from inhabit.agents.models.registry import load
from tests.agents.models.local.zoo.build import Architecture, save
from tests.agents.models.local.zoo.check import ACTIONS, measure, prompt
from tests.agents.models.local.zoo.table import ARCHITECTURES

KNOWN = {one.model_type: one for one in ARCHITECTURES}
ROOT = Path(__file__).resolve().parents[4]
REFUSED = {"llama4"}
"""Those that transformers 5.24 itself can't run with images."""
QUICK = {"lfm2": "batch", "mllama": "tree"}


@pytest.fixture(autouse=True)
def fresh_checks(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


def network(name: str, folder: Path, **settings: object) -> Transformer:
    asked = {"device": "cpu", "dtype": "float32", **settings}
    found = load(f"local:{save(KNOWN[name], folder)}", LocalSettings.model_validate(asked))
    assert isinstance(found, Transformer)
    return found


@pytest.mark.parametrize(("name", "way"), every(2, QUICK.items()))
def test_scores_are_those_of_plain_forward_passes(name: str, way: str, tmp_path: Path) -> None:
    row = measure(KNOWN[name], save(KNOWN[name], tmp_path))
    assert (row.way, row.exact, row.refused) == (way, True, False), row


@pytest.mark.slow
@pytest.mark.parametrize("architecture", ARCHITECTURES, ids=lambda one: one.model_type)
def test_every_architecture_is_exact_or_refused(architecture: Architecture, tmp_path: Path) -> None:
    if architecture.needs_torchvision and importlib.util.find_spec("torchvision") is None:
        # It fetches torchvision, which has to be there before transformers is imported.
        said = subprocess.run(
            [sys.executable, ROOT / "scripts" / "architectures", architecture.model_type],
            stdout=subprocess.PIPE,
            text=True,
        )
        if "needs torchvision" in said.stdout:
            pytest.skip("its processor needs torchvision, which can't be fetched")
        _, _, way, none, one, two, *_ = said.stdout.splitlines()[-1].split("|")
        assert (way.strip() == "refused") is (architecture.model_type in REFUSED), said.stdout
        if architecture.model_type not in REFUSED:
            assert max(float(none), float(one), float(two)) <= 1e-3
        return
    row = measure(architecture, save(architecture, tmp_path))
    assert row.exact, row
    assert not row.refused, row


def test_several_pictures_are_those_of_one_prompt(tmp_path: Path) -> None:
    pytest.importorskip("torchvision")
    row = measure(KNOWN["llava_onevision"], save(KNOWN["llava_onevision"], tmp_path))
    assert row.exact and not row.refused, row


def test_a_way_that_is_wrong_for_a_model_is_refused_with_the_figure(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=r"tree: off by [\d.]+ nat from a plain forward pass"):
        network("paligemma", tmp_path, scoring="tree")


@pytest.mark.parametrize("way", every(2, ["tree", "tree_alone", "batch", "single"]))
def test_all_ways_give_the_same_scores_and_beams(way: str, tmp_path: Path) -> None:
    want, got = (network("llama", tmp_path / one, scoring=one) for one in ("single", way))

    async def ask(model: Transformer) -> list[float]:
        ranked = (await model.rank(prompt((), 1), ACTIONS)).scores
        beam = (await model.beam(prompt((), 1), ACTIONS, width=2)).scores
        return [one.logprob for one in (*ranked, *beam)]

    assert asyncio.run(ask(got)) == pytest.approx(asyncio.run(ask(want)), abs=1e-3)
    assert got.details["scoring"] == way


@pytest.mark.slow
def test_a_sliding_window_is_no_limit_of_the_prompt(tmp_path: Path) -> None:
    model = network("gemma2", tmp_path)
    long = [Message("user", ("Walk on. " * 150,))]
    encoded = model.encoder.prompt(long)
    assert len(encoded.ids) > 512  # its window
    (got,) = [one.logprob for one in asyncio.run(model.rank(long, ["open it"])).scores]
    answer = model.encoder.candidate("open it")
    plain = AutoModelForCausalLM.from_pretrained(tmp_path, dtype=torch.float32).eval()
    with torch.inference_mode():
        said = plain(torch.tensor([[*encoded.ids, *answer]])).logits[0].log_softmax(-1)
    begin = len(encoded.ids) - 1
    want = sum(float(said[begin + i, token]) for i, token in enumerate(answer))
    assert got == pytest.approx(want, abs=1e-3)


def test_rotary_frequencies_are_not_rounded(tmp_path: Path) -> None:
    model = network("llama", tmp_path, dtype="bfloat16")
    plain = AutoModelForCausalLM.from_pretrained(tmp_path, dtype=torch.float32)
    got = model.network.model.rotary_emb.inv_freq
    assert torch.equal(got, plain.model.rotary_emb.inv_freq)
    assert model.network.dtype == torch.bfloat16


def test_an_exception_of_a_model_is_told_whole_and_spoils_no_other(tmp_path: Path) -> None:
    model = network("llama", tmp_path)
    real, tilde = model.network.forward, model.encoder.candidate("~")[-1]

    @functools.wraps(real)
    def fails(*given: object, **named: torch.Tensor) -> object:
        if (named["input_ids"] == tilde).any():
            raise IndexError("first line\nsecond line")
        return real(*given, **named)

    model.network.forward = fails

    async def ask() -> list[object]:
        asked = [model.rank([Message("user", (text,))], ["x", "y"]) for text in ("fine", "~")]
        return await asyncio.gather(*asked, return_exceptions=True)

    good, bad = asyncio.run(ask())
    assert np.isfinite([one.logprob for one in good.scores]).all()
    assert isinstance(bad, ModelError)
    assert "IndexError: first line\nsecond line" in str(bad)


def test_limits_of_pixels_shrink_pictures(tmp_path: Path) -> None:
    model = network("idefics3", tmp_path, max_pixels=64)
    assert model.encoder._picture(np.zeros((16, 16, 3), np.uint8)).size == (8, 8)


def test_sampling_depends_on_the_seed_alone(tmp_path: Path) -> None:
    model = network("llama", tmp_path, temperature=1.0, max_tokens=7)

    def said(seed: int) -> str:
        return asyncio.run(model.generate(prompt((), 0), seed=seed)).texts[0]

    assert model.samples
    assert said(1) == said(1) != said(2)
