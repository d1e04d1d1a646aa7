"""A model that can't see: it asks, is answered, and acts; natively or in Python."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from inhabit.agents.core import Agent, Decision, Grant, Grants, ModelError, View
from inhabit.agents.models.core import Ability, GenerateOptions, Reply, ToolCall
from inhabit.agents.models.scripted import Script, ScriptedModel, ScriptedReply, Want
from inhabit.agents.registry import find
from inhabit.envs.toy.env import Toy
from tests.agents.views import act, view

TEXTS = ("open the fridge", "pick up the cup")
ACT = '{"reasoning": "It is closed.", "action": "open the fridge"}'


class Asked:
    """The toy house's tools, and what was asked of them."""

    def __init__(self) -> None:
        self.calls: list[str] = []

    def view(self) -> View:
        async def call(name: str, arguments: Any) -> Any:
            self.calls.append(name)
            return ["fridge", "{cup}"] if name == "object_detection" else []

        rgb = np.zeros((4, 4, 3), np.uint8)
        return view(*TEXTS, rgb=rgb, grants=Grants(tools=Toy().tools(), call=call))


def make(model: ScriptedModel, **settings: Any) -> Agent:
    planner = find("holmes")
    return planner.make(planner.settings(**settings), model)


def decide(model: ScriptedModel, asked: Asked, **settings: Any) -> Decision:
    return asyncio.run(make(model, **settings).decide(asked.view()))


def texts(*replies: str) -> ScriptedModel:
    return ScriptedModel(Script(abilities=frozenset(), replies=replies))


def last(decision: Decision) -> list[tuple[str, str]]:
    """The dialogue as the last call was sent it."""
    return [
        (str(m["role"]), "".join(p.get("text", "") for p in m["content"]))
        for m in decision.calls[-1].messages
    ]


def test_it_asks_in_python_and_then_acts() -> None:
    asked = Asked()
    decision = decide(texts("Let me see.\nobject_detection()", ACT), asked)
    assert decision.action == act("open the fridge")
    assert decision.reasoning == "It is closed."
    assert decision.description == 'object_detection() -> ["fridge", "{cup}"]'
    assert asked.calls == ["object_detection"]
    roles = last(decision)
    assert [role for role, _ in roles] == ["system", "user", "assistant", "user"]
    assert 'def object_detection():\n    """Names of the objects in sight."""' in roles[0][1]
    assert roles[-1][1] == 'object_detection() -> ["fridge", "{cup}"]'
    assert not decision.images, "It can't see."


def test_it_asks_with_native_calls() -> None:
    asked = Asked()
    wants = [Want(name="object_detection"), Want(name="list_items_in_hands")]
    script = Script(
        abilities={Ability.TOOLS},
        answers=[ScriptedReply(when="Goal", wants=wants), ScriptedReply(when="->", say=ACT)],
    )
    decision = decide(ScriptedModel(script), asked)
    assert decision.action == act("open the fridge")
    assert asked.calls == ["object_detection", "list_items_in_hands"]
    messages = decision.calls[-1].messages
    assert [m["role"] for m in messages] == ["system", "user", "assistant", "tool", "tool"]
    assert [m["answers"] for m in messages[3:]] == [w["id"] for w in messages[2]["wants"]]
    assert "def " not in last(decision)[0][1], "The endpoint tells it of the functions."


def test_native_calls_that_were_not_offered_get_no_answer() -> None:
    class Unasked(ScriptedModel):
        async def _generate(self, prompt: Any, options: GenerateOptions) -> Reply:
            reply = await super()._generate(prompt, options)
            return replace(reply, wants=(ToolCall("1", "object_detection", "{}"),))

    asked = Asked()
    model = Unasked(Script(abilities=frozenset(), replies=("object_detection()", ACT)))
    decision = decide(model, asked, protocol="text")
    assert decision.action == act("open the fridge")
    assert [role for role, _ in last(decision)] == ["system", "user", "assistant", "user"]


def test_a_mention_is_no_call() -> None:
    asked = Asked()
    said = '{"reasoning": "No need for object_detection() now.", "action": "pick up the cup"}'
    assert decide(texts(said), asked).action == act("pick up the cup")
    assert not asked.calls


def test_what_was_asked_already_is_answered_from_memory() -> None:
    asked = Asked()
    calls = ("object_detection()", "object_detection()\nlist_items_in_hands()", ACT)
    decision = decide(texts(*calls), asked)
    assert asked.calls == ["object_detection", "list_items_in_hands"]
    told = [text for role, text in last(decision) if role == "user"]
    assert told[2] == told[1] + "\nlist_items_in_hands() -> []"


def test_what_is_asked_over_and_over_is_answered_once() -> None:
    asked = Asked()
    decision = decide(texts("object_detection()\n" * 10_000, ACT), asked)
    assert asked.calls == ["object_detection"]
    assert last(decision)[-1][1] == 'object_detection() -> ["fridge", "{cup}"]'


def test_there_is_an_end_to_asking() -> None:
    asked = Asked()
    decision = decide(texts(*["object_detection()"] * 3, ACT), asked, turns=3)
    assert decision.action == act("open the fridge")
    assert "You can't ask any more" in last(decision)[-1][1]
    assert [role for role, _ in last(decision)[1:]] == ["user", "assistant"] * 3 + ["user"]
    at_once = last(decide(texts(ACT), Asked(), turns=0))
    assert [role for role, _ in at_once] == ["system", "user"], "Templates want turns to alternate."
    hopeless = decide(texts(*["object_detection()"] * 5), Asked(), turns=3)
    assert hopeless.action is None
    assert hopeless.raw == "object_detection()"
    assert len(hopeless.calls) == 5, "Three questions, the answer that was due, and its repair."


def test_calls_that_are_not_legal_are_answered_with_why() -> None:
    asked = Asked()
    wants = [
        Want(name="os.system", arguments='{"command": "true"}'),
        Want(name="object_detection", arguments='{"where": "up"}'),
        Want(name="object_detection", arguments="{"),
    ]
    script = Script(
        abilities={Ability.TOOLS},
        answers=[ScriptedReply(when="Goal", wants=wants), ScriptedReply(when="", say=ACT)],
    )
    decision = decide(ScriptedModel(script), asked)
    assert not asked.calls, "None of them reached the environment."
    told = [text for role, text in last(decision) if role == "tool"]
    assert "no such function" in told[0]
    assert "no argument where" in told[1]
    assert "no JSON" in told[2]
    sent = decision.calls[-1].messages[2]["wants"]
    assert sent[1]["arguments"] == '{"where": "up"}'
    assert sent[2]["arguments"] == "{}", "Endpoints refuse what is no JSON, though it was said so."


def test_an_action_that_is_none_is_asked_for_again() -> None:
    decision = decide(texts("object_detection()", '{"action": "fly"}', ACT), Asked())
    assert decision.action == act("open the fridge")
    assert '"fly" is nothing that you can do now' in last(decision)[-1][1]
    empty = decide(texts("", ACT), Asked())
    assert empty.action == act("open the fridge")
    assert "No action could be read" in last(empty)[-1][1]


def test_the_protocol_may_be_chosen() -> None:
    with pytest.raises(ModelError, match="asks its model for tools"):
        make(texts(), protocol="native")
    able = ScriptedModel(Script(abilities={Ability.TOOLS}, replies=["list_items_in_hands()", ACT]))
    asked = Asked()
    assert decide(able, asked, protocol="text").action == act("open the fridge")
    assert asked.calls == ["list_items_in_hands"]
    assert find("holmes").needs == {Grant.TOOLS}


def test_a_model_that_fails_half_way_leaves_what_it_said() -> None:
    with pytest.raises(ModelError) as failed:
        decide(texts("object_detection()"), Asked())
    assert failed.value.decision is not None
    assert [call.reply for call in failed.value.decision.calls] == ["object_detection()"]
