"""Chat endpoints that take other fields than most: learned from what they say, once for a run."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import numpy as np
import pytest
from waiting import PATIENCE

from inhabit.agents.core import ModelError, RequestError
from inhabit.agents.models.core import Ability, Image, Message, Model, UnsupportedError
from tests.agents.models.endpoints.asking import ASK, ask, say
from tests.agents.models.endpoints.endpoint import Answer, completion, endpoint, error, good

SEEN = Message("user", ("What is it?", Image(np.zeros((4, 4, 3), np.uint8))))
TOOL = {"name": "look", "description": "Look.", "parameters": {"type": "object"}}


def twice(model: Model) -> Any:
    async def asked() -> Any:
        return [await model.generate(ASK), await model.generate(ASK)]

    return asked()


def refuses(field: str, message: str, **more: Any) -> Any:
    """Refuses requests with `field`, as OpenAI words it, and answers all others."""

    def brain(request: dict[str, Any], number: int) -> Answer:
        if field not in request:
            return good("ok")
        fault = {"message": message, "type": "invalid_request_error", "code": None, **more}
        return Answer(json.dumps({"error": fault}).encode(), 400)

    return brain


LONG = (
    "Unsupported parameter: 'max_tokens' is not supported with this model. Use "
    "'max_completion_tokens' instead."
)
HOT = (
    "Unsupported value: 'temperature' does not support 0.0 with this model. Only the default (1) "
    "value is supported."
)


def test_the_long_name_of_the_limit_is_learned_once_and_recorded() -> None:
    with (
        endpoint(refuses("max_tokens", LONG, param="max_tokens")) as serving,
        pytest.warns(UserWarning, match="takes max_completion_tokens") as told,
    ):
        first, second = ask(serving, twice, max_tokens=50)
    assert ["max_tokens" in request for request in serving.requests] == [True, False, False]
    assert serving.requests[1]["max_completion_tokens"] == 50
    assert len(told) == 1
    for reply in (first, second):
        assert reply.call.notes == ("the endpoint takes max_completion_tokens, not max_tokens",)


def test_temperature_is_left_out_and_the_model_then_samples() -> None:
    def both(model: Model) -> Any:
        async def asked() -> Any:
            before = model.samples
            await model.generate(ASK, seed=7)
            await model.generate(ASK, seed=8)
            return before, model.samples

        return asked()

    with (
        endpoint(refuses("temperature", HOT, param="temperature")) as serving,
        pytest.warns(UserWarning, match="takes no temperature"),
    ):
        assert ask(serving, both) == (False, True)
    assert ["temperature" in r for r in serving.requests] == [True, False, False]
    assert serving.requests[-1]["seed"] == 8, "What is sampled has a seed."


def test_a_temperature_beyond_the_range_of_the_endpoint_is_an_error() -> None:
    said = "Invalid 'temperature': decimal above maximum value. Expected a value <= 2, got 3."
    with (
        endpoint(refuses("temperature", said, param="temperature")) as serving,
        pytest.raises(ModelError, match="Expected a value <= 2"),
    ):
        ask(serving, twice, temperature=3.0)
    assert len(serving.requests) == 1


@pytest.mark.parametrize("says", ["System role not supported", "Conversation roles must alternate"])
@pytest.mark.parametrize("asked", [Message("user", ("Look?",)), SEEN])
def test_a_system_message_moves_into_the_first_of_the_user(asked: Message, says: str) -> None:
    def gemma(request: dict[str, Any], number: int) -> Answer:
        first = request["messages"][0]["role"]
        return error(400, says) if first == "system" else good("ok")

    with (
        endpoint(gemma) as serving,
        pytest.warns(UserWarning, match="takes no system message"),
    ):
        reply = ask(serving, lambda m: m.generate([Message("system", ("Be brief.",)), asked]))
    assert reply.texts == ("ok",)
    [turn] = serving.requests[-1]["messages"]
    told = json.dumps(turn["content"])
    assert turn["role"] == "user"
    assert -1 < told.find("Be brief.") < told.find(asked.texts[0])
    assert ("image_url" in told) == bool(asked.images)


def test_a_limit_that_is_too_large_is_not_renamed() -> None:
    large = "'max_tokens' or 'max_completion_tokens' is too large: 9. The context length is 8."
    with (
        endpoint(refuses("max_tokens", large)) as serving,
        pytest.raises(ModelError, match="too large"),
    ):
        ask(serving, say)
    assert len(serving.requests) == 1


def test_a_prompt_that_is_too_long_has_its_system_message_where_it_was() -> None:
    long = "The system prompt and the messages exceed the context length of 8 tokens."
    with (
        endpoint(lambda request, number: error(400, long)) as serving,
        pytest.raises(ModelError, match="context length"),
    ):
        ask(serving, lambda m: m.generate([Message("system", ("Be brief.",)), SEEN]))
    assert len(serving.requests) == 1


def test_what_fastapi_says_is_shown() -> None:
    detail = [{"loc": ["body", "messages", 0], "msg": "field required", "type": "missing"}]
    for body, says in (
        ({"detail": detail}, "body.messages.0: field required"),
        ({"detail": "No such {model}"}, "No such {model}"),
        ({"error": "model {x} not found"}, "model {x} not found"),
    ):
        refusal = Answer(json.dumps(body).encode(), 422)
        with (
            endpoint(lambda request, number, refusal=refusal: refusal) as serving,
            pytest.raises(ModelError) as told,
        ):
            ask(serving, say)
        assert f"refuses with 422: {says}." in str(told.value)


def test_reasoning_and_the_reason_of_the_end_are_recorded() -> None:
    body = completion("Yes.")
    body["choices"][0]["message"]["reasoning_content"] = "Let me {think}."
    with endpoint(lambda request, number: Answer(json.dumps(body).encode())) as serving:
        call = ask(serving, say).call
    assert (call.reply, call.thoughts, call.finish) == ("Yes.", "Let me {think}.", "stop")


def test_a_used_up_limit_is_named_once() -> None:
    body = completion("")
    body["choices"][0] |= {"finish_reason": "length"}
    body["choices"][0]["message"]["reasoning"] = "Hm, "
    with (
        endpoint(lambda request, number: Answer(json.dumps(body).encode())) as serving,
        pytest.warns(UserWarning, match="used up its 60 tokens on reasoning") as told,
    ):
        first, second = ask(serving, twice, max_tokens=60)
    assert len(told) == 1
    assert first.call.finish == second.call.finish == "length"


def test_tool_calls_go_back_with_every_field_they_came_with() -> None:
    call = {
        "id": "c1",
        "type": "function",
        "index": 0,
        "extra_content": {"google": {"thought_signature": "Ab{c}="}},
        "function": {"name": "look", "arguments": "{}", "strict": True},
    }
    body = completion("")
    body["choices"][0]["message"] |= {"tool_calls": [call], "reasoning_content": "I look."}

    async def dialogue(model: Model) -> Any:
        first = await model.generate(ASK, tools=[TOOL])
        asked = Message("assistant", (), wants=first.wants, fields=first.fields)
        told = Message("tool", ("blue",), answers=first.wants[0].id)
        return await model.generate([*ASK, asked, told], tools=[TOOL], call_tools=False)

    with endpoint(lambda request, number: Answer(json.dumps(body).encode())) as serving:
        reply = ask(serving, dialogue)
    last = serving.requests[1]
    assert last["messages"][2]["tool_calls"] == [call]
    assert last["messages"][2]["reasoning_content"] == "I look."
    assert (last["tools"][0]["function"], last["tool_choice"]) == (TOOL, "none")
    assert reply.call.messages[2]["wants"][0]["fields"]["extra_content"] == call["extra_content"]


def test_an_endpoint_that_gives_one_answer_is_asked_for_each() -> None:
    def brain(request: dict[str, Any], number: int) -> Answer:
        return good(str(number), tokens=(7, 3))

    def both(model: Model) -> Any:
        async def asked() -> Any:
            return [await model.generate(ASK, n=3, seed=5), await model.generate(ASK, n=3, seed=5)]

        return asked()

    with endpoint(brain) as serving, pytest.warns(UserWarning, match="one answer to a request"):
        first, second = ask(serving, both, temperature=1.0)
    assert len(first.texts) == len(second.texts) == len({*first.texts, *second.texts}) / 2 == 3
    assert (first.call.tokens_in, first.call.tokens_out, first.call.requests) == (21, 9, 3)
    assert [("n" in r, r["seed"]) for r in serving.requests[:1]] == [(True, 5)]
    assert sorted(r["seed"] for r in serving.requests[3:]) == [5, 6, 7]
    assert not any("n" in r for r in serving.requests[1:]), "It is not asked for several again."


def test_answers_that_were_paid_for_are_recorded_when_another_one_fails() -> None:
    def brain(request: dict[str, Any], number: int) -> Answer:
        return error(400, "No.") if number == 1 else good("1", tokens=(7, 3))

    with (
        endpoint(brain) as serving,
        pytest.warns(UserWarning),
        pytest.raises(ModelError, match="No") as told,
    ):
        ask(serving, lambda m: m.generate(ASK, n=3))
    assert told.value.decision is not None
    (call,) = told.value.decision.calls
    assert (call.tokens_in, call.requests) == (14, 2)


NO_EYES = {
    "vLLM": (400, "smollm2 is not a multimodal model"),
    "llama.cpp": (500, "image input is not supported - hint: you may need to provide the mmproj"),
    "DeepSeek": (422, "unknown variant `image_url`, expected `text`"),
    "OpenAI": (400, "Invalid content type. image_url is only supported by certain models."),
}


@pytest.mark.parametrize(("status", "says"), NO_EYES.values(), ids=NO_EYES)
def test_an_endpoint_without_eyes_ends_the_command_with_the_fix(status: int, says: str) -> None:
    with (
        endpoint(lambda request, number: error(status, says)) as serving,
        pytest.raises(RequestError, match=r"takes no images.*--set image=false") as told,
    ):
        ask(serving, lambda m: m.generate([SEEN]))
    assert says in str(told.value)
    assert len(serving.requests) == 1


def test_tools_that_are_refused_are_no_ability_any_more() -> None:
    says = '"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set'

    async def asked(model: Model) -> None:
        with pytest.raises(UnsupportedError, match="described in the prompt instead") as told:
            await model.generate(ASK, tools=[TOOL])
        assert told.value.ability is Ability.TOOLS
        assert Ability.TOOLS not in model.abilities
        assert "refuses tools" in (await model.generate(ASK)).call.notes[0]

    with (
        endpoint(refuses("tools", says)) as serving,
        pytest.warns(UserWarning, match="refuses tools"),
    ):
        ask(serving, asked)


def test_changes_are_learned_side_by_side_and_end() -> None:
    """A server that refuses three fields, one at a time, while eight ask at once."""

    def brain(request: dict[str, Any], number: int) -> Answer:
        for field in ("max_tokens", "temperature", "response_format"):
            if field in request:
                words = LONG if field == "max_tokens" else f"'{field}' is no field of mine"
                return error(400, words)
        return good("ok")

    def eight(model: Model) -> Any:
        return asyncio.gather(*(model.generate(ASK, schema={"type": "object"}) for _ in range(8)))

    with endpoint(brain) as serving, pytest.warns(UserWarning) as told:
        replies = ask(serving, eight, timeout=PATIENCE)
    assert [r.texts for r in replies] == [("ok",)] * 8
    assert len(told) == 3
    assert len(serving.requests) <= 4 * 8
