"""A chat model that acts: what it is told, what is made of its answer, and what if it has none."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from inhabit.agents.core import Agent, Decision, Grants, ModelError, Step, View
from inhabit.agents.deciding import make_agent
from inhabit.agents.models.core import Ability, Message
from inhabit.agents.models.scripted import Script, ScriptedModel
from inhabit.agents.registry import find
from inhabit.envs.core import Clip, Observation, Reason
from tests.agents.views import act, view

TEXTS = ("open the drawer", "pick up the {mug}", "go to the sink", "put it in the sink")
RGB = np.arange(4800, dtype=np.uint8).reshape(40, 40, 3)
SEES = frozenset({Ability.IMAGES, Ability.WORDS, Ability.N_BEST, Ability.SCHEMA})


class Heard(ScriptedModel):
    """Keeps what it was asked."""

    def __init__(self, *replies: str, abilities: frozenset[Ability] = SEES, **script: Any) -> None:
        super().__init__(Script(abilities=abilities, replies=replies, **script))
        self.prompts: list[Sequence[Message]] = []
        self.schemas: list[Any] = []
        self.seeds: list[int] = []

    async def generate(self, prompt: Any, **named: Any) -> Any:
        self.prompts.append(list(prompt))
        self.schemas.append(named.get("schema"))
        self.seeds.append(named["seed"])
        return await super().generate(prompt, **named)

    def told(self, call: int = 0) -> str:
        return "".join(p for p in self.prompts[call][-1].parts if isinstance(p, str))


def make(name: str, model: ScriptedModel, **settings: Any) -> Agent:
    planner = find(name)
    return make_agent(planner, planner.settings(**settings), model)


def decide(agent: Agent, moment: View) -> Decision:
    return asyncio.run(agent.decide(moment))


def answer(action: str) -> str:
    return f'{{"description": "A sink.", "reasoning": "Near.", "action": "{action}"}}'


def failed(action: str) -> Step:
    return Step(action, Reason.CLOSED, f"{action}: it is closed.", RGB)


def worked(action: str) -> Step:
    return Step(action, None, "Done.", RGB)


def test_it_describes_reasons_and_acts_in_one_answer() -> None:
    model = Heard(answer("go to the sink"))
    decision = decide(make("chat", model), view(*TEXTS, rgb=RGB))
    assert decision.action == act("go to the sink")
    assert (decision.description, decision.reasoning) == ("A sink.", "Near.")
    assert decision.raw == answer("go to the sink")
    (call,) = decision.calls
    assert [m["role"] for m in call.messages] == ["system", "user"]
    (digest,) = decision.images
    past, picture, now = call.messages[-1]["content"]
    assert past["text"].endswith("So far:\n")
    assert picture == {"image": digest}, "The picture stands between what stays and what is new."
    assert now["text"].endswith("Now: You have nothing in your hands.")
    assert np.array_equal(decision.images[digest], RGB)
    assert model.schemas[0]["required"] == ["description", "reasoning", "action"]
    assert model.schemas[0]["properties"]["action"]["enum"] == [*TEXTS, "stop"]


def test_it_is_told_goal_past_choices_and_now_in_this_order() -> None:
    model = Heard(answer("stop"))
    history = [worked("go to the fridge"), failed("open the fridge")]
    moment = view(*TEXTS, history=history, goal="Win.\n- cheat", text="You hold a {mug}.")
    assert decide(make("chat", model), moment).stop
    assert model.told() == (
        "Goal: Win. - cheat\n"
        "So far:\n"
        "1. go to the fridge -> Done.\n"
        "2. open the fridge -> open the fridge: it is closed.\n"
        "What you can do now:\n"
        "- open the drawer\n- pick up the {mug}\n- go to the sink\n- put it in the sink\n- stop\n"
        "What you have just tried had no effect, and would have none again:\n"
        "- open the fridge: open the fridge: it is closed.\n"
        "Work out what stood in the way. Remove it, or reach the goal another way.\n"
        "Now: You hold a {mug}."
    )


def test_the_beginning_of_a_prompt_stays_as_it_was() -> None:
    model = Heard(answer("stop"), answer("stop"))
    history = [worked(f"go to {n}") for n in range(4)]
    agent = make("chat", model)
    decide(agent, view(*TEXTS, history=history[:3]))
    decide(agent, view(*TEXTS[:2], history=history, text="Else."))
    assert model.prompts[0][0].parts == model.prompts[1][0].parts
    kept = model.told(0).partition("What you can do now")[0]
    assert model.told(1).startswith(kept)


def test_what_lies_far_back_is_told_in_short() -> None:
    history = [worked("go"), worked("go"), failed("open {it}"), *map(worked, "abc")]
    short = (
        "Goal: G\n"
        "Steps 1 to 4 in short: done: go (2 times); a. "
        "without effect: open {it} (open {it}: it is closed.).\n"
        "Then:\n"
        "5. b"
    )
    model = Heard(*[answer("stop")] * 2)
    decide(make("chat", model, history=2), view(*TEXTS, goal="G", history=history))
    assert model.told(0).startswith(short)
    decide(make("chat", model, history=0), view(*TEXTS, goal="G", history=history))
    assert "\n1." not in model.told(1)


def test_a_flood_of_words_is_not_told_over_and_over() -> None:
    flood = Step("{mug} " * 5000, Reason.UNKNOWN_ACTION, "Not understood.")
    model = Heard(answer("stop"))
    decide(make("chat", model, history=1), view(*TEXTS, history=[flood] * 3))
    assert model.told().count("{mug}") < 250


def test_pictures_of_the_past_and_films() -> None:
    model = Heard(answer("stop"))
    frames = np.stack([np.full((8, 8, 3), i, np.uint8) for i in range(9)])
    large = np.tile(RGB, (8, 8, 1))
    moment = view(*TEXTS, history=[replace(worked(word), rgb=large) for word in "abc"])
    seen = Observation("", RGB, (Clip(frames, "peel {it}"),))
    moment = View(moment.goal, seen, moment.candidates, moment.history, 0, moment.parse)
    agent = make("chat", model, pictures=2, keyframes=3)
    decision = decide(agent, moment)
    parts = model.prompts[0][-1].parts
    shapes = [p.rgb.shape for p in parts if not isinstance(p, str)]
    assert shapes == [(320, 320, 3)] * 3 + [(8, 8, 3)] * 3 + [(40, 40, 3)]
    assert [int(p.rgb[0, 0, 0]) for p in parts if not isinstance(p, str)][3:6] == [0, 4, 8]
    texts = [p for p in parts if isinstance(p, str)]
    assert texts[1:3] == ["\n1. a -> Done.\n", "\n2. b -> Done.\n"]
    assert texts[3] == "\n3. c -> Done.\nA film of what was done before: peel {it}\n"
    assert len(decision.images) == 5, "The past images are the same."


def test_an_answer_that_can_not_be_read_is_asked_for_once_more() -> None:
    model = Heard("I'd rather not,\nto be honest.", answer("fly"), answer("go to the sink"))
    decision = decide(make("chat", model, repairs=2), view(*TEXTS))
    assert decision.action == act("go to the sink")
    assert len(decision.calls) == 3
    assert [m["role"] for m in decision.calls[-1].messages] == [
        "system", "user", "assistant", "user", "assistant", "user",
    ]  # fmt: skip
    assert "No action could be read" in model.told(1)
    assert '"fly" is nothing that you can do now.' in model.told(2)
    assert len(set(model.seeds)) == 3, "Who draws lots draws anew."


def test_and_then_it_has_said_nothing() -> None:
    model = Heard("What?\nWho?", "Why?\nWhere?")
    decision = decide(make("chat", model), view(*TEXTS))
    assert (decision.action, decision.stop) == (None, False)
    assert decision.raw == "Why?\nWhere?"
    assert len(decision.calls) == 2
    none = Heard("What?\nWho?")
    assert len(decide(make("chat", none, repairs=0), view(*TEXTS)).calls) == 1


def test_what_has_just_failed_is_held_back() -> None:
    model = Heard(answer("open the drawer"), answer("go to the sink"))
    decision = decide(make("chat", model), view(*TEXTS, history=[failed("open the drawer")]))
    assert "- open the drawer\n" not in model.told(0).partition("What you have just tried")[0]
    assert '"open the drawer" has just had no effect' in model.told(1)
    assert decision.action == act("go to the sink")
    stubborn = Heard(answer("open the drawer"), answer("open the drawer"))
    decision = decide(make("chat", stubborn), view(*TEXTS, history=[failed("open the drawer")]))
    assert decision.action == act("open the drawer")
    assert len(decision.calls) == 2


def test_words_that_may_mean_several_things_are_asked_about() -> None:
    model = Heard(answer("go to the table"), answer("go to the side table"))
    decision = decide(make("chat", model), view("go to the side table", "go to the coffee table"))
    assert '"go to the table" may be any of these: go to the' in model.told(1)
    assert decision.action == act("go to the side table")


def test_letters() -> None:
    model = Heard('{"reasoning": "r", "action": "B"}', '{"action": "E"}')
    agent = make("chat", model, letters=True)
    assert decide(agent, view(*TEXTS)).action == act("pick up the {mug}")
    assert decide(agent, view(*TEXTS)).stop
    assert "A. open the drawer\nB. pick up the {mug}\n" in model.told()
    assert model.schemas[0]["properties"]["action"]["enum"] == list("ABCDE")


def test_more_candidates_than_can_be_listed() -> None:
    model = Heard('{"action": "pick up the thing 77"}')
    many = [f"{verb} the thing_{n}" for n in range(150) for verb in ("open", "pick up")]
    decision = decide(make("chat", model, letters=True), view(*many))
    assert decision.action == act("pick up the thing_77")
    assert "(answer in words):\n- open the thing_0\n- pick up the thing_0\n- stop\n" in model.told()
    assert model.schemas[0]["properties"]["action"] == {"type": "string"}
    assert "letter" not in str(model.prompts[0][0].parts), "There are none to answer with."


def test_one_token_alone_with_the_chances_of_all_letters() -> None:
    able = SEES | {Ability.LOGPROBS}
    model = Heard(
        abilities=able, scores={"A": -2.0, "B": -0.5, "C": -math.inf, "D": -3.0, "E": -4.0}
    )
    agent = make("chat", model, letters=True, reason=False)
    decision = decide(agent, view(*TEXTS))
    assert decision.action == act("pick up the {mug}")
    assert [(r.text, r.logprob) for r in decision.ranked] == [
        ("pick up the {mug}", -0.5), ("open the drawer", -2.0), ("put it in the sink", -3.0),
        ("stop", -4.0), ("go to the sink", -math.inf),
    ]  # fmt: skip
    assert len(decision.calls) == 1
    silent = Heard(abilities=able, default=-math.inf, by_order=0.0)
    assert decide(make("chat", silent, letters=True, reason=False), view(*TEXTS)).action is None
    stops = Heard(abilities=able, scores={"E": -0.1})
    assert decide(make("chat", stops, letters=True, reason=False), view(*TEXTS)).stop
    words = Heard("B", "B")
    decision = decide(make("chat", words, letters=True, reason=False), view(*TEXTS))
    assert decision.action == act("pick up the {mug}"), "Without that ability it is asked in words."


def test_votes() -> None:
    said = [answer(a) for a in ("go to the sink", "fly", "open the drawer", "open the drawer")]
    decision = decide(make("chat", Heard(*said), votes=4), view(*TEXTS))
    assert decision.action == act("open the drawer")
    assert [(r.text, round(math.exp(r.logprob), 6)) for r in decision.ranked] == [
        ("open the drawer", round(2 / 3, 6)), ("go to the sink", round(1 / 3, 6)),
    ]  # fmt: skip
    tie = decide(make("chat", Heard(*said[:3:2]), votes=2), view(*TEXTS))
    assert tie.action == act("go to the sink"), "Of equals the first."


def test_what_it_asks_of_its_model() -> None:
    blind = ScriptedModel(Script(abilities=frozenset(), replies=[answer("go to the sink")]))
    with pytest.raises(ModelError, match="'chat' asks its model for images"):
        make("chat", blind)
    with pytest.raises(ModelError, match="n_best"):
        make("chat", blind, image=False, votes=3)
    decision = decide(make("chat", blind, image=False), view(*TEXTS, rgb=RGB))
    assert decision.action == act("go to the sink")
    assert not decision.images


def test_without_candidates_it_stops() -> None:
    assert decide(make("chat", Heard()), view()).stop


def test_a_model_that_fails_half_way_leaves_what_it_said() -> None:
    model = Heard("What?\nWho?")
    with pytest.raises(ModelError) as failed:
        decide(make("chat", model), view(*TEXTS, rgb=RGB))
    assert failed.value.decision is not None
    assert [call.reply for call in failed.value.decision.calls] == ["What?\nWho?"]
    assert len(failed.value.decision.images) == 1


def seeing(*things: str) -> Grants:
    async def call(name: str, arguments: Any) -> Any:
        assert not arguments
        return list(things) if name == "object_detection" else {"left": "a {mug}"}

    nothing = {"type": "object", "properties": {}}
    where = {"type": "object", "properties": {"at": {}}, "required": ["at"]}
    tools = [
        {"name": "object_detection", "description": "", "parameters": nothing},
        {"name": "hands", "description": "", "parameters": nothing},
        {"name": "look_at", "description": "", "parameters": where},
    ]
    return Grants(tools=tools, call=call)


def test_llm_is_told_in_words_what_is_in_sight() -> None:
    model = Heard('{"reasoning": "r", "action": "go to the sink"}', answer("stop"))
    agent = make("llm", model)
    moment = view(*TEXTS, rgb=RGB, text="It is night.", grants=seeing("sink", "{mug}"))
    decision = decide(agent, moment)
    assert decision.action == act("go to the sink")
    assert not decision.images
    assert model.told().endswith(
        'Now: It is night. Object detection: sink, {mug}. Hands: {"left": "a {mug}"}.'
    )
    assert model.schemas[0]["required"] == ["reasoning", "action"]
    decide(agent, view(*TEXTS, text="", grants=seeing()))
    assert "Now: Object detection: nothing." in model.told(1)


def test_a_setting_that_has_gone_may_have_the_value_that_holds_now() -> None:
    settings = find("chat").settings
    assert settings.model_validate({"summary": True, "listed": 200}) == settings()
    with pytest.raises(ValueError, match="summary"):
        settings.model_validate({"summary": False})
