"""`vllm:` in an interpreter of its own, against `local:` in this one."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from safetensors.torch import load_file, save_file

from inhabit.agents.core import Ranked
from inhabit.agents.models.local.settings import LocalSettings
from inhabit.agents.models.registry import load
from inhabit.envs.core import UnavailableError
from tests.agents.models.local.tiny import save_llava
from tests.agents.models.servers import serving, vllm_here

SLOW = [pytest.mark.slow, pytest.mark.timeout(1800)]
_NEAR = 3e-4


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A LLaVA, with heads of 32 numbers, and weights by the names that hubs and vLLM know."""
    saved = save_llava(tmp_path_factory.mktemp("llava"), heads=1)
    file = saved / "model.safetensors"
    old, new = "vision_tower.", "vision_tower.vision_model."
    renamed = {key.replace(old, new): value for key, value in load_file(file).items()}
    save_file(renamed, file, metadata={"format": "pt"})
    return saved


@pytest.fixture(scope="module")
def said(folder: Path) -> dict[str, Any]:
    sites = [path for path in sys.path if path.endswith("site-packages")]
    command = [serving.vllm_python(), vllm_here.__file__, folder, *sites]
    more = {"VLLM_CPU_KVCACHE_SPACE": "1", "HF_HUB_OFFLINE": "1"}
    done = subprocess.run(
        list(map(str, command)), env={**os.environ, **more}, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr[-3000:]
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


@pytest.fixture(scope="module")
def here(folder: Path) -> dict[str, Any]:
    async def ask() -> dict[str, Any]:
        model = load(f"local:{folder}", LocalSettings(device="cpu", dtype="float32"))
        prompts = [vllm_here.prompt(i) for i in range(3)]
        ranked = [await model.rank(prompt, vllm_here.TEXTS) for prompt in prompts]
        beam = await model.beam(prompts[1], vllm_here.TEXTS, width=3, end=True)
        reply = await model.generate(prompts[1], max_tokens=4, n=2)
        await model.close()
        return {
            "ranked": [[one.logprob for one in ranking.scores] for ranking in ranked],
            "beam": list(beam.scores),
            "replies": list(reply.scores),
        }

    return asyncio.run(ask())


class TestAgainstLocal:
    pytestmark = SLOW

    def test_scores(self, said: dict[str, Any], here: dict[str, Any]) -> None:
        for way in ("ranked", "together"):
            for got, want in zip(said[way], here["ranked"], strict=True):
                assert got == pytest.approx(want, abs=_NEAR)
        assert said["details"]["dtype"] == "float32"
        assert said["checked"].startswith("in float32 at most")

    def test_what_a_longer_prompt_has_in_common_is_not_read_again(
        self, said: dict[str, Any]
    ) -> None:
        for read, kept in said["read"]:
            assert kept > 0.5 * read

    def test_beams(self, said: dict[str, Any], here: dict[str, Any]) -> None:
        for name in ("beam", "replies"):
            want: list[Ranked] = here[name]
            assert [text for text, _ in said[name]] == [one.text for one in want]
            got = [score for _, score in said[name]]
            assert got == pytest.approx([one.logprob for one in want], abs=_NEAR)

    def test_a_reply_is_held_to_a_schema(self, said: dict[str, Any]) -> None:
        assert json.loads(said["held"])["action"] in ("wait", "go on")


def test_without_vllm_its_extra_is_named(folder: Path) -> None:
    with pytest.raises(UnavailableError, match=r"pip install 'inhabit\[vllm\]'"):
        load(f"vllm:{folder}")
