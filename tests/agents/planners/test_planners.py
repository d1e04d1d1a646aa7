"""Every planner on small moments, as the runner makes and asks it."""

from __future__ import annotations

import asyncio
import math
import subprocess
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from pydantic import ValidationError

from inhabit.agents.core import Agent, Decision, Grant, Grants, ModelError, Step, View
from inhabit.agents.dialogue.history import pictures
from inhabit.agents.models.core import Ability, Message, Ranking
from inhabit.agents.models.registry import load
from inhabit.agents.models.scripted import Script, ScriptedModel
from inhabit.agents.registry import find, names
from inhabit.envs.core import Reason, UnavailableError, UnknownNameError
from tests.agents.views import act, view
from tests.waiting import PATIENCE

TEXTS = ("open the drawer", "pick up the {mug}", "go to the sink", "put it in the sink")


def make(name: str, model: ScriptedModel | None = None, **settings: object) -> Agent:
    planner = find(name)
    return planner.make(planner.settings(**settings), model)


def decide(agent: Agent, moment: View) -> Decision:
    return asyncio.run(agent.decide(moment))


def failed(action: str) -> Step:
    return Step(action, Reason.CLOSED, "It is closed.")


def worked(action: str) -> Step:
    return Step(action, None, "Done.")


def test_names_and_unknown_names() -> None:
    assert {"random", "expert", "human", "rank", "scripted"} <= set(names())
    for name in names():
        planner = find(name)
        assert planner.name == name
        planner.settings()
    with pytest.raises(UnknownNameError, match=r"no agent 'expret'\. Did you mean: expert"):
        find("expret")


def test_settings_are_checked() -> None:
    with pytest.raises(ValidationError, match="extra"):
        find("random").settings(speed=3)
    with pytest.raises(ValidationError, match="top"):
        find("rank").settings(top=0)


def test_random_draws_evenly_and_by_seed_and_step_alone() -> None:
    agent = make("random")
    drawn = Counter(decide(agent, view(*TEXTS, seed=seed)).action for seed in range(2000))
    assert set(drawn) == set(map(act, TEXTS))
    assert min(drawn.values()) > 400
    assert decide(agent, view(*TEXTS, seed=5)) == decide(make("random"), view(*TEXTS, seed=5))
    steps = {
        decide(agent, view(*TEXTS, seed=5, history=[worked("x")] * n)).action for n in range(30)
    }
    assert len(steps) == len(TEXTS)
    assert decide(agent, view()).stop


@pytest.mark.slow
def test_random_draws_alike_in_every_process() -> None:
    code = (
        "import asyncio\nfrom tests.agents.planners.test_planners import *\n"
        "print([decide(make('random'), view(*TEXTS, seed=s)).action.text for s in range(20)])"
    )
    seen = {
        subprocess.run(
            [sys.executable, "-c", code],
            env={"PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    here = [decide(make("random"), view(*TEXTS, seed=s)).action.text for s in range(20)]
    assert seen == {f"{here}\n"}


def test_expert_follows_the_plan_it_is_granted() -> None:
    plans = [[act("open the drawer"), act("go to the sink")], []]

    async def plan() -> list:
        return plans.pop(0)

    moment = view(*TEXTS, grants=Grants(plan=plan))
    assert find("expert").needs == {Grant.EXPERT}
    agent = make("expert")
    assert decide(agent, moment).action == act("open the drawer")
    last = decide(agent, moment)
    assert last.stop and last.raw
    with pytest.raises(UnavailableError, match="withheld"):
        decide(agent, view(*TEXTS))


def test_scripted_says_its_lines_and_stops() -> None:
    agent = make("scripted", actions="open the drawer; fly away; stop; go to the sink")
    said = [decide(agent, view(*TEXTS, history=[worked("x")] * n)) for n in range(5)]
    assert said[0].action == act("open the drawer")
    assert said[1].action is None
    assert not said[1].stop
    assert said[1].raw == "fly away"
    assert said[2].stop
    assert said[3].action == act("go to the sink")
    assert said[4].stop
    assert find("scripted").settings(actions=["a;b"]).actions == ("a;b",)


def test_rank_takes_the_likeliest() -> None:
    model = ScriptedModel(
        Script(scores={TEXTS[0]: -3.0, TEXTS[1]: -2.0, TEXTS[2]: -5.0, TEXTS[3]: -2.4})
    )
    decision = decide(make("rank", model, top=3), view(*TEXTS))
    assert decision.action == act(TEXTS[1])
    assert [one.text for one in decision.ranked] == [TEXTS[1], TEXTS[3], TEXTS[0]]
    assert [one.logprob for one in decision.ranked] == [-2.0, -2.4, -3.0]
    assert len(decision.calls) == 1

    by_mean = decide(make("rank", model, score="mean"), view(*TEXTS))
    assert by_mean.action == act(TEXTS[3])  # -2.4 over five words, against -2.0 over four


class Seeing(ScriptedModel):
    """Scores otherwise where it is shown an image."""

    async def rank(self, prompt: Sequence[Message], candidates: Sequence[str]) -> Ranking:
        blind = await super().rank(prompt, candidates)
        if not pictures(prompt):
            return blind
        gains = (0.5, 0.0, 2.0, 1.0)
        scores = zip(blind.scores, gains, strict=True)
        return replace(blind, scores=tuple(replace(r, logprob=r.logprob + g) for r, g in scores))


def test_rank_by_what_the_picture_adds() -> None:
    scores = {TEXTS[0]: -3.5, TEXTS[1]: -2.5, TEXTS[2]: -9.0, TEXTS[3]: -math.inf}
    script = Script(abilities={Ability.RANK, Ability.IMAGES}, scores=scores)
    moment = view(*TEXTS, rgb=np.zeros((4, 4, 3), np.uint8))
    assert decide(make("rank", Seeing(script)), moment).action == act(TEXTS[1])

    decision = decide(make("rank", Seeing(script), score="contrast", top=9), moment)
    assert decision.action == act(TEXTS[2])
    assert [one.text for one in decision.ranked] == [TEXTS[i] for i in (2, 0, 1, 3)]
    assert [(one.logprob, one.blind) for one in decision.ranked[:2]] == [(-7, -9), (-3, -3.5)]
    shown, blind = decision.calls
    texts = [[p for p in m["content"] if "text" in p] for m in shown.messages]
    assert texts == [m["content"] for m in blind.messages]

    contrast = make("rank", Seeing(script), score="contrast")
    with pytest.raises(ModelError, match=r"no image here .* leave --sight none out"):
        decide(contrast, view(*TEXTS))
    with pytest.raises(ModelError, match="for images"):
        make("rank", ScriptedModel(Script()), score="contrast")


def test_rank_draws_by_how_likely() -> None:
    chances = {TEXTS[0]: 0.1, TEXTS[1]: 0.6, TEXTS[2]: 0.3, TEXTS[3]: 0.0}
    scores = {text: math.log(p) if p else -math.inf for text, p in chances.items()}

    def drawn(temperature: float) -> dict[str, float]:
        agent = make("rank", ScriptedModel(Script(scores=scores)), temperature=temperature)
        found = [decide(agent, view(*TEXTS, seed=seed)) for seed in range(200)]
        assert all(one.ranked[0].text == TEXTS[1] for one in found)
        return {text: sum(one.action == act(text) for one in found) / 200 for text in TEXTS}

    once = drawn(1.0)
    assert once == pytest.approx(chances, abs=0.05)
    squares = {text: p**2 / 0.46 for text, p in chances.items()}
    assert drawn(0.5) == pytest.approx(squares, abs=0.05)
    assert drawn(1.0) == once, "By seed and step alone."
    assert drawn(0.0)[TEXTS[1]] == 1.0


def test_rank_takes_the_first_of_equals() -> None:
    assert decide(make("rank", load("scripted:uniform")), view(*TEXTS)).action == act(TEXTS[0])


def test_rank_is_held_from_what_has_failed_until_something_works() -> None:
    agent = make("rank", load("scripted:first"))
    history = [worked(TEXTS[3]), failed(TEXTS[0]), failed(TEXTS[1])]
    assert decide(agent, view(*TEXTS, history=history)).action == act(TEXTS[2])
    history.append(worked(TEXTS[2]))
    assert decide(agent, view(*TEXTS, history=history)).action == act(TEXTS[0])
    assert decide(agent, view(*TEXTS, history=[failed(t) for t in TEXTS])).action == act(TEXTS[0])
    assert decide(agent, view()).stop


def test_rank_shows_the_picture_to_a_model_that_sees() -> None:
    rgb = np.arange(48, dtype=np.uint8).reshape(4, 4, 3)
    seen = decide(make("rank", load("scripted:first")), view(*TEXTS, rgb=rgb))
    (digest,) = seen.images
    assert np.array_equal(seen.images[digest], rgb)
    assert seen.calls[0].messages[-1]["content"][-2] == {"image": digest}

    blind = ScriptedModel(Script(abilities=frozenset({Ability.RANK})))
    assert not decide(make("rank", blind), view(*TEXTS, rgb=rgb)).images


def test_rank_asks_for_a_model_that_can_rank() -> None:
    with pytest.raises(ModelError, match="--model local:smollm2"):
        make("rank", None)
    with pytest.raises(ModelError, match="'rank' asks its model for rank, which mute can't do"):
        make("rank", ScriptedModel(Script(abilities=frozenset()), name="mute"))


HUMAN = """
import asyncio, sys
from rich.console import Console
from inhabit.agents.registry import find
from tests.agents.views import view
human = find("human").make(find("human").settings(page=3), None)
async def play():
    for _ in range(int(sys.argv[1])):
        d = await human.decide(view("open the [bold]drawer", "b", "c", "d {x}", "e"))
        print(d.action.text if d.action else "stop" if d.stop else None, "|", d.raw)
asyncio.run(play())
"""


def human(said: str, steps: int) -> tuple[list[str], str]:
    """What a person decided by `said`, sent through a pipe, and what was shown on stderr."""
    done = subprocess.run(
        [sys.executable, "-c", HUMAN, str(steps)],
        input=said,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=True,
    )
    return done.stdout.splitlines(), done.stderr


def test_human_decides_through_a_pipe() -> None:
    decided, shown = human("2\n\n4\n 0\n9\nfly\nd {x}\nstop\n", 5)
    assert decided == ["b | 2", "d {x} | 4", "d {x} | d {x}", "stop | stop", "stop | "]
    assert "open the [bold]drawer" in shown
    assert "1 to 3 of 5" in shown
    assert "4 to 5 of 5" in shown
    assert shown.count("No candidate matches that") == 3
    assert "Put the {mug} in the sink." in shown
