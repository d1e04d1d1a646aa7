"""Each token of an episode is read once, within a bound of memory; and no score shows it."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import torch

from inhabit.agents.core import Step
from inhabit.agents.dialogue.prompt import Prompt, PromptSettings
from inhabit.agents.models.core import Message, Ranking
from inhabit.agents.models.local.segments import PromptCache
from inhabit.agents.models.local.settings import LocalSettings
from inhabit.agents.models.local.transformer import Transformer
from inhabit.agents.models.registry import load
from tests.agents.models.local.tiny import save_llava
from tests.agents.views import view

ACTIONS = ["open the door", "open the door_2", "go to the sink", "look around"]
STEPS = 20
RGB = np.random.default_rng(0).integers(0, 256, (2, STEPS, 16, 16, 3), dtype=np.uint8)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_llava(tmp_path_factory.mktemp("llava"))


def model(folder: Path, mebibytes: int) -> Transformer:
    settings = LocalSettings(device="cpu", dtype="float32", prompt_cache=mebibytes)
    found = load(f"local:{folder}", settings)
    assert isinstance(found, Transformer)
    return found


def prompts(episode: int, **settings: object) -> list[Sequence[Message]]:
    """What is asked at each step of an episode, whose images are all shown."""
    prompt = Prompt("rank", PromptSettings.model_validate({"pictures": STEPS, **settings}))
    past = [
        Step(ACTIONS[i % 4], None, f"You did {i}.", RGB[episode, i], f"{episode} sinks.")
        for i in range(STEPS)
    ]
    return [
        prompt.messages(
            view(history=past[:i], rgb=past[i].rgb, text=f"{episode} sinks."), images=True
        )
        for i in range(STEPS)
    ]


def rank(seeing: Transformer, *asked: Sequence[Message]) -> list[Ranking]:
    async def at_once() -> list[Ranking]:
        return list(await asyncio.gather(*(seeing.rank(one, ACTIONS) for one in asked)))

    return asyncio.run(at_once())


def scores(found: Sequence[Ranking]) -> list[list[float]]:
    return [[one.logprob for one in ranking.scores] for ranking in found]


@pytest.mark.parametrize("history", [STEPS, pytest.param("whole", marks=pytest.mark.slow)])
def test_each_token_of_an_episode_is_read_once(folder: Path, history: object) -> None:
    seeing, read = model(folder, 64), []
    seeing.network.get_decoder().register_forward_pre_hook(
        lambda _, given, named: read.append(named["inputs_embeds"].shape[1]), with_kwargs=True
    )
    asked = prompts(0, history=history)
    calls = [rank(seeing, one)[0].call for one in asked]
    new = len(seeing.encoder.prompt(asked[-1]).ids)
    after = calls[0].tokens_in - len(seeing.encoder.prompt(asked[0]).ids)
    assert sum(read) == sum(call.tokens_in - call.tokens_kept for call in calls)
    assert sum(read) - STEPS * after < 1.25 * new + STEPS * 60, "60 of the last text and template."
    assert sum(read) < 0.35 * sum(call.tokens_in for call in calls)


def test_no_score_depends_on_what_was_read_before(folder: Path) -> None:
    kept, fresh = model(folder, 64), model(folder, 0)
    for step in (0, 2, 3, 8):  # at the last one, the oldest steps have been dropped
        for one in (prompts(0, history=4)[step], prompts(1, history=4)[step]):
            assert scores(rank(kept, one)) == scores(rank(fresh, one))
    assert fresh.kept.kept_bytes == 0


def test_what_is_kept_stays_within_its_bound(folder: Path) -> None:
    seeing = model(folder, 1)
    asked = [[Message("user", ("doors " * 300 + f"{n}\n", "Now:"))] for n in (0, 1, 2, 0)]
    calls = []
    for one in asked:
        calls.append(rank(seeing, one)[0].call)
        assert 0 < seeing.kept.kept_bytes <= 1 << 20
    assert calls[-1].tokens_kept == 0, "It was dropped for what was read later."
    assert rank(seeing, asked[0])[0].call.tokens_kept > 1000


def test_a_segment_that_is_kept_twice_counts_once() -> None:
    """Reading failed after it, what comes before it was dropped, and both are read again."""
    layer = SimpleNamespace(keys=torch.zeros(1, 1, 4, 2), values=torch.zeros(1, 1, 4, 2))
    cache = SimpleNamespace(layers=[layer], get_seq_length=lambda: 4)
    kept = PromptCache(100)
    for _ in range(2):
        kept.keep(b"key", cache, 4)
    kept.use([b"key"])
    assert kept.kept_bytes == 64
    assert kept.beginning([b"key"])[0] == 1
