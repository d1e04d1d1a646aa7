"""With the end-of-answer token and a length penalty, beams equal those of `generate`."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path

import pytest
import torch
from PIL import Image as Picture
from sampling import every
from transformers import (
    AutoModelForCausalLM,
    AutoModelForImageTextToText,
    AutoProcessor,
    AutoTokenizer,
)

from inhabit.agents.core import Ranked
from inhabit.agents.models.core import Model
from inhabit.agents.models.local.settings import LocalSettings
from inhabit.agents.models.registry import load
from inhabit.agents.planners.beam import BeamSettings
from tests.agents.models.local.zoo.build import save
from tests.agents.models.local.zoo.check import RGB, SYSTEM, prompt
from tests.agents.models.local.zoo.table import ARCHITECTURES

KNOWN = {one.model_type: one for one in ARCHITECTURES}
WIDTH, PROMPTS = 5, 20
ACTIONS = [
    *(f"{verb} the {name}" for verb in ("open", "go to", "x") for name in ("pan", "open pen", "t")),
    *("open", "open the pan_2", "stop", "pen", "go to the pan and then stop", "the", "put it"),
]
SEES = {"llama": (), "lfm2": (), "idefics3": (0,)}
"""Architecture -> the images in its prompts. lfm2 takes no tree masks."""


@pytest.fixture(autouse=True)
def fresh_checks(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


class Generate:
    """`generate` of transformers, held to the actions, with none of our code."""

    def __init__(self, folder: Path, pictures: Sequence[int]) -> None:
        self._pictures = pictures
        self._folder = folder
        kind = AutoModelForImageTextToText if pictures else AutoModelForCausalLM
        self._network = kind.from_pretrained(folder, dtype=torch.float32).eval()
        self._words = AutoTokenizer.from_pretrained(folder)
        end = self._words.eos_token_id
        read = (self._words(text, add_special_tokens=False)["input_ids"] for text in ACTIONS)
        self._said = {(*ids, end): text for ids, text in zip(read, ACTIONS, strict=True)}

    @torch.inference_mode()
    def best(self, n: int, length_penalty: float) -> list[tuple[str, float]]:
        """The best five actions after the n-th prompt, with their scores."""
        asked = self._asked(n)
        before = asked["input_ids"].shape[1]
        found = self._network.generate(
            **asked,
            do_sample=False,
            num_beams=WIDTH,
            num_return_sequences=WIDTH,
            length_penalty=length_penalty,
            max_new_tokens=64,
            prefix_allowed_tokens_fn=lambda _, ids: self._allowed(tuple(ids[before:].tolist())),
            return_dict_in_generate=True,
            output_scores=True,
        )
        end = self._words.eos_token_id
        rows = [row[: row.index(end) + 1] for row in found.sequences[:, before:].tolist()]
        scores = found.sequences_scores.tolist()
        return [(self._said[tuple(row)], score) for row, score in zip(rows, scores, strict=True)]

    def _allowed(self, said: tuple[int, ...]) -> list[int]:
        size = len(said)
        following = {ids[size] for ids in self._said if len(ids) > size and ids[:size] == said}
        return sorted(following) or [self._words.eos_token_id]

    def _asked(self, n: int) -> dict[str, torch.Tensor]:
        marks = "".join(f"Now: {i}<image>" for i in self._pictures)
        text = f"<s>system\n{SYSTEM}</s>\n<s>user\n{marks}Act.{' Well.' * n}</s>\n<s>assistant\n"
        options = {"add_special_tokens": False, "return_tensors": "pt"}
        if not self._pictures:
            asked = dict(self._words(text, **options))
        else:
            images = [[Picture.fromarray(RGB[i]) for i in self._pictures]]
            processor = AutoProcessor.from_pretrained(self._folder)
            asked = dict(processor(text=[text], images=images, **options))
        return {name: value for name, value in asked.items() if name != "token_type_ids"}


def ours(model: Model, pictures: Sequence[int], n: int, **rules: object) -> Sequence[Ranked]:
    found = model.beam(prompt(pictures, n), ACTIONS, width=WIDTH, **rules)
    return asyncio.run(found).scores


def compare(name: str, folder: Path, prompts: Sequence[int]) -> None:
    save(KNOWN[name], folder)
    model = load(f"local:{folder}", LocalSettings(device="cpu", dtype="float32"))
    theirs = Generate(folder, SEES[name])
    for n in prompts:
        for penalty in (1.0, 0.0, 2.0):
            want = theirs.best(n, penalty)
            got = ours(model, SEES[name], n, end=True, length_penalty=penalty)
            assert [one.text for one in got] == [text for text, _ in want]
            values = [one.logprob / one.tokens**penalty for one in got]
            assert values == pytest.approx([score for _, score in want], abs=1e-4)


@pytest.mark.parametrize("name", every(2, SEES))
def test_the_best_five_are_those_of_generate(name: str, tmp_path: Path) -> None:
    compare(name, tmp_path, range(2))


@pytest.mark.slow
@pytest.mark.parametrize("name", SEES)
def test_the_best_five_after_twenty_prompts_are_those_of_generate(
    name: str, tmp_path: Path
) -> None:
    compare(name, tmp_path, range(PROMPTS))


def test_without_the_switches_they_differ(tmp_path: Path) -> None:
    save(KNOWN["llama"], tmp_path)
    model = load(f"local:{tmp_path}", LocalSettings(device="cpu", dtype="float32"))
    want = [text for text, _ in Generate(tmp_path, ()).best(0, 1.0)]
    for rules in ({}, {"end": True}, {"length_penalty": 1.0}):
        assert [one.text for one in ours(model, (), 0, **rules)] != want


def test_a_wide_beam_orders_all_candidates_by_the_penalty(tmp_path: Path) -> None:
    save(KNOWN["llama"], tmp_path)
    model = load(f"local:{tmp_path}", LocalSettings(device="cpu", dtype="float32"))
    for end in (False, True):
        for penalty in (-1.0, 0.5, 3.0):
            rules = {"width": len(ACTIONS), "end": end, "length_penalty": penalty}
            found = asyncio.run(model.beam(prompt((), 0), ACTIONS, **rules)).scores
            assert {one.text for one in found} == set(ACTIONS)
            values = [one.logprob / one.tokens**penalty for one in found]
            assert values == sorted(values, reverse=True)


def test_the_switches_are_for_the_beam_over_candidates() -> None:
    with pytest.raises(ValueError, match="leave them out"):
        BeamSettings(end=True, plan=True)
