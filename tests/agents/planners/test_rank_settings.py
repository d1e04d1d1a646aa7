"""Ranking with reasons first, listed candidates, past frames, and shares that can be recovered."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pydantic import ValidationError

from inhabit.agents.core import ModelError, Step, View
from inhabit.agents.models.core import Ability, Image
from inhabit.agents.models.local.settings import LocalSettings
from inhabit.agents.models.registry import load
from inhabit.agents.models.scripted import Script, ScriptedModel
from inhabit.agents.planners.rank import RankSettings
from inhabit.envs.core import Clip, Observation
from tests.agents.models.local.tiny import save_llama
from tests.agents.planners.test_chat import RGB, TEXTS, decide, make
from tests.agents.views import act, view

SEES = frozenset({Ability.RANK, Ability.BEAM, Ability.IMAGES})


def watched() -> View:
    """Two past steps with images, a clip of nine frames, and an image now."""
    history = [
        Step("go", None, "Done.", np.full((320, 320, 3), 1, np.uint8)),
        Step("look", None, "Done.", np.full((320, 320, 3), 2, np.uint8)),
    ]
    frames = np.stack([np.full((8, 8, 3), i, np.uint8) for i in range(9)])
    moment = view(*TEXTS, history=history)
    return replace(moment, observation=Observation("", RGB, (Clip(frames, "peel"),)))


def model(*replies: str, **script: Any) -> ScriptedModel:
    abilities = script.pop("abilities", SEES)
    return ScriptedModel(Script(abilities=abilities, replies=replies, **script))


def test_shares_can_be_recovered_from_few_candidates() -> None:
    scores = dict(zip(TEXTS, (-1.0, -0.5, -2.0, -math.inf), strict=True))
    decision = decide(make("rank", model(scores=scores), top=2), view(*TEXTS))
    assert len(decision.ranked) == 2
    assert decision.normaliser == pytest.approx(
        math.log(math.exp(-1) + math.exp(-0.5) + math.exp(-2))
    )
    nothing = model(default=-math.inf, by_order=0.0)
    assert decide(make("rank", nothing), view(*TEXTS)).normaliser == -math.inf


@pytest.mark.parametrize("end", [False, True])
def test_stopping_early_takes_the_same(end: bool, tmp_path: Path) -> None:
    local = load(f"local:{save_llama(tmp_path)}", LocalSettings(device="cpu", dtype="float32"))
    moment = view(*(f"{verb} the {n} mug" for verb in ("take", "fill") for n in range(40)))
    every, early = (
        decide(make("rank", local, end=end, top=3, early_stopping=stops), moment)
        for stops in (False, True)
    )
    assert early.action == every.action
    assert [(one.text, one.tokens) for one in early.ranked] == [
        (one.text, one.tokens) for one in every.ranked
    ]
    assert [one.logprob for one in early.ranked] == pytest.approx(
        [one.logprob for one in every.ranked], abs=1e-4
    )
    assert early.normaliser is None and every.normaliser is not None


@pytest.mark.parametrize("asked", [{"score": "mean"}, {"temperature": 1.0}])
def test_stopping_early_is_refused_where_all_scores_are_needed(asked: dict[str, Any]) -> None:
    with pytest.raises(ValidationError, match="early_stopping needs score=sum"):
        RankSettings.model_validate(asked | {"early_stopping": True})


@pytest.mark.parametrize("agent", ["rank", "beam"])
def test_past_frames_and_films_are_in_the_prompt(agent: str) -> None:
    settings = {"pictures": 1, "keyframes": 3}
    decision = decide(make(agent, model(), **settings), watched())
    parts = decision.calls[0].messages[-1]["content"]
    assert isinstance(parts, list)
    shown = [decision.images[p["image"]] for p in parts if isinstance(p, dict) and "image" in p]
    assert [one.shape for one in shown] == [(320, 320, 3)] + [(8, 8, 3)] * 3 + [(40, 40, 3)]
    assert [int(one[0, 0, 0]) for one in shown[:4]] == [2, 0, 4, 8]
    told = [p["text"] for p in parts if isinstance(p, dict) and "text" in p]
    assert [text.splitlines()[1][:2] for text in told[1:]] == ["2.", "No"]


def test_past_frames_are_refused_where_the_model_is_blind() -> None:
    blind = model(abilities=frozenset({Ability.RANK, Ability.BEAM}))
    for agent in ("rank", "beam"):
        with pytest.raises(ModelError, match=r"asks its model for images.*say --sight none"):
            make(agent, blind, pictures=1)


@pytest.mark.parametrize("dropped", [{"pictures": 1}, {"choices": True}])
def test_a_bare_prompt_drops_nothing_silently(dropped: dict[str, Any]) -> None:
    make("rank", model(), bare=True)
    with pytest.raises(ValueError, match="a bare prompt has neither past images nor candidates"):
        make("rank", model(), bare=True, **dropped)


@pytest.mark.parametrize("bare", [False, True])
def test_a_film_that_a_model_can_not_see_is_told_once(bare: bool) -> None:
    blind = model(abilities=frozenset({Ability.RANK}))
    agent = make("rank", blind, bare=bare)
    with pytest.warns(UserWarning, match="video clips of observations are left out") as told:
        decide(agent, watched())
        decide(agent, watched())
    assert len(told) == 1


def test_candidates_are_listed_by_a_switch() -> None:
    listed = "What you can do now:\n- open the drawer\n- pick up the {mug}\n"
    for agent in ("rank", "beam"):
        for choices in (False, True):
            decision = decide(make(agent, model(), choices=choices), view(*TEXTS))
            assert (listed in str(decision.calls[0].messages[-1]["content"][-1]["text"])) == choices


def test_reasons_come_first_and_scores_after_them() -> None:
    asked = []

    class Heard(ScriptedModel):
        async def rank(self, prompt: Any, candidates: Any) -> Any:
            asked.append(prompt)
            return await super().rank(prompt, candidates)

    script = Script(abilities=SEES, replies=[" The sink is {near}. "], by_order=1.0, default=-9.0)
    decision = decide(make("rank", Heard(script), reason=True), view(*TEXTS, rgb=RGB))
    assert decision.action == act("put it in the sink")
    assert decision.reasoning == "The sink is {near}."
    (prompt,) = asked
    assert [m.role for m in prompt] == ["system", "user", "assistant", "user"]
    assert isinstance(prompt[1].parts[1], Image)
    assert "Do not name the action yet" in str(prompt[1].parts[-1])
    assert prompt[2].parts == ("The sink is {near}.",)
    said, scored = decision.calls
    assert (said.reply, scored.reply) == (" The sink is {near}. ", "")
    assert len(decision.images) == 1
    with pytest.raises(ModelError, match="words"):
        make("rank", model(), reason=True)


@pytest.mark.parametrize("agent", ["rank", "beam"])
def test_repeats_may_be_left_out(agent: str) -> None:
    scores = dict(zip(TEXTS, (-1.0, -2.0, -3.0, -4.0), strict=True))
    again = view(*TEXTS, history=[Step(TEXTS[0], None, "Done.")] * 4)
    assert decide(make(agent, model(scores=scores)), again).action == act(TEXTS[0])
    left_out = make(agent, model(scores=scores), repeats=False)
    assert decide(left_out, again).action == act(TEXTS[1])
