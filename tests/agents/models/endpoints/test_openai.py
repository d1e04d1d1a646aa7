"""Chat endpoints: what is sent, and what is made of the answers."""

from __future__ import annotations

import base64
import io
import json
import math
from typing import Any

import numpy as np
import pytest
from PIL import Image as Picture
from pydantic import ValidationError
from waiting import PATIENCE

from inhabit.agents.core import ModelError
from inhabit.agents.models.core import Ability, Image, Message, Model, ToolCall
from inhabit.agents.models.endpoints.settings import OpenAISettings
from inhabit.agents.models.registry import load
from tests.agents.models.endpoints.asking import ASK, ask, say
from tests.agents.models.endpoints.endpoint import Answer, completion, endpoint, error, good
from tests.agents.models.endpoints.toy_vllm import CHAT, TEXT, ToyVLLM

# What is sent.


def test_a_question_and_its_answer() -> None:
    with endpoint(lambda request, number: good("I am {m}.", tokens=(7, 3))) as serving:
        reply = ask(serving, say, max_tokens=50)
    assert reply.texts == ("I am {m}.",)
    call = reply.call
    assert (call.tokens_in, call.tokens_out, call.reply) == (7, 3, "I am {m}.")
    assert call.seconds > 0
    assert [m["role"] for m in call.messages] == ["system", "user"]
    assert serving.requests == [
        {
            "model": "m",
            "messages": [
                {"role": "system", "content": "Be brief."},
                {"role": "user", "content": "Who {are} you?"},
            ],
            "max_tokens": 50,
            "temperature": 0.0,
        }
    ]


def test_pictures_go_as_they_are_and_are_on_record_by_their_digest() -> None:
    rgb = np.random.default_rng(0).integers(0, 256, (5, 7, 3), np.uint8)
    turn = Message("user", ("Before:", Image(rgb), "Now:", Image(255 - rgb)))
    with endpoint(lambda request, number: good("ok")) as serving:
        reply = ask(serving, lambda model: model.generate([turn]))
    (content,) = (m["content"] for m in serving.requests[0]["messages"])
    assert [part["type"] for part in content] == ["text", "image_url", "text", "image_url"]
    url = content[1]["image_url"]["url"]
    sent = Picture.open(io.BytesIO(base64.b64decode(url.removeprefix("data:image/png;base64,"))))
    assert np.array_equal(np.asarray(sent), rgb), "Pixel for pixel what the record names."
    assert reply.call.messages[0]["content"][1] == {"image": Image(rgb).digest}


def test_tools_go_out_and_calls_come_back() -> None:
    tool = {"name": "look", "description": "Look.", "parameters": {"type": "object"}}
    calls = [("look", '{"where": "up"}'), ("look", "")]

    def brain(request: dict[str, Any], number: int) -> Answer:
        return good("", calls=calls) if number == 0 else good("I see.")

    async def dialogue(model: Model) -> Any:
        first = await model.generate(ASK, tools=[tool])
        asked = Message("assistant", first.texts[:1], wants=first.wants)
        told = [Message("tool", ("blue",), answers=want.id) for want in first.wants]
        return first, await model.generate([*ASK, asked, *told], tools=[tool])

    with endpoint(brain) as serving:
        first, second = ask(serving, dialogue)
    assert serving.requests[0]["tools"] == [{"type": "function", "function": tool}]
    assert [(w.name, w.arguments) for w in first.wants] == calls
    assert first.call.reply == 'look({"where": "up"})\nlook()'
    assert second.texts == ("I see.",)
    _, _, said, answer, _ = serving.requests[1]["messages"]
    assert said["tool_calls"][0]["function"] == {"name": "look", "arguments": '{"where": "up"}'}
    assert answer == {
        "role": "tool",
        "content": "blue",
        "tool_call_id": said["tool_calls"][0]["id"],
    }
    assert second.call.messages[2]["wants"][0]["name"] == "look"


def test_a_server_that_takes_arguments_apart_is_understood() -> None:
    body = completion("", calls=[("look", "")])
    body["choices"][0]["message"]["tool_calls"][0] = {
        "function": {"name": "look", "arguments": {"a": 1}}
    }
    with endpoint(lambda request, number: Answer(json.dumps(body).encode())) as serving:
        reply = ask(serving, lambda model: model.generate(ASK, tools=[{"name": "look"}]))
        body["choices"][0]["message"]["tool_calls"][0]["function"]["arguments"] = None
        nothing = ask(serving, lambda model: model.generate(ASK, tools=[{"name": "look"}]))
    assert reply.wants == (ToolCall("call-0", "look", '{"a": 1}'),)
    assert nothing.wants == (ToolCall("call-0", "look", ""),)


def test_an_answer_in_parts_is_understood() -> None:
    """As Mistral's models that think, and some proxies, answer."""
    body = completion("")
    thought = {"type": "thinking", "thinking": [{"type": "text", "text": "Hm."}]}
    said = [{"type": "text", "text": part} for part in ("Ye", "s.")]
    body["choices"][0]["message"]["content"] = [thought, *said]
    with endpoint(lambda request, number: Answer(json.dumps(body).encode())) as serving:
        reply = ask(serving, say)
        body["choices"][0]["message"] = {"content": said, "reasoning_content": "Well."}
        other = ask(serving, say)
    assert (reply.texts, reply.call.thoughts) == (("Yes.",), "Hm.")
    assert (other.texts, other.call.thoughts) == (("Yes.",), "Well.")


@pytest.mark.parametrize("key", ["x", "token", "none"])
def test_what_stands_for_no_key_changes_no_answer(
    monkeypatch: pytest.MonkeyPatch, key: str
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", key)
    monkeypatch.delenv("INHABIT_API_KEY", raising=False)
    with endpoint(lambda request, number: good("x, a token or none")) as serving:
        reply = ask(serving, say)
    assert reply.texts == ("x, a token or none",)
    assert (reply.call.tokens_in, reply.call.tokens_out) == (10, 5)


def test_schemas_and_several_answers() -> None:
    schema = {"type": "object", "properties": {"action": {"enum": ["a", "b"]}}}
    with endpoint(lambda request, number: good("1", "2", "3")) as serving:
        reply = ask(serving, lambda m: m.generate(ASK, n=3, seed=5, schema=schema), temperature=1)
        assert ask(serving, lambda m: m.generate(ASK, seed=5)).texts[0] == "1"
    assert reply.texts == ("1", "2", "3")
    assert (reply.call.reply, reply.call.others) == ("1", ("2", "3")), "All of them are on record."
    form = serving.requests[0]["response_format"]
    assert form["type"] == "json_schema"
    assert form["json_schema"]["schema"] == schema
    assert (serving.requests[0]["n"], serving.requests[0]["seed"]) == (3, 5)
    assert "seed" not in serving.requests[1], "Nothing is drawn, so no seed counts."


def test_what_a_model_lacks_is_not_asked_of_it() -> None:
    with endpoint(lambda request, number: good("ok")) as serving:
        for lacks, asked in ((("schema",), {"schema": {}}), (("n_best", "tools"), {"n": 2})):
            with pytest.raises(ModelError, match="can't do"):
                ask(serving, lambda m, a=asked: m.generate(ASK, **a), lacks=lacks)
    assert not serving.requests
    assert OpenAISettings(lacks="images, tools").lacks == {Ability.IMAGES, Ability.TOOLS}


def test_what_only_some_endpoints_know() -> None:
    with endpoint(lambda request, number: good("ok")) as serving:
        ask(serving, say, temperature="none", extra='{"top_k": 20}')
    assert serving.requests[0]["top_k"] == 20
    assert "temperature" not in serving.requests[0]


def test_half_a_surrogate_pair_neither_sends_nor_costs_an_answer() -> None:
    with endpoint(lambda request, number: good("\ud83d{y}")) as serving:
        reply = ask(serving, lambda m: m.generate([Message("user", ("\ud83d{x}",))]))
    assert serving.requests[0]["messages"][0]["content"] == "?{x}"
    assert reply.texts == ("?{y}",)
    assert len(serving.requests) == 1


# Keys.


def test_a_key_comes_from_the_environment_and_is_never_said(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with pytest.raises(ModelError, match="put it in OPENAI_API_KEY"):
        load("openai:m")
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-openai")
    monkeypatch.setenv("INHABIT_API_KEY", "sk-of-inhabit")
    refuses = error(401, "The key sk-of-inhabit is not known.")
    with (
        endpoint(lambda request, number: refuses) as serving,
        pytest.raises(ModelError) as refused,
    ):
        ask(serving, say)
    assert serving.headers[0]["authorization"] == "Bearer sk-of-inhabit"
    assert "refuses with 401: The key [key] is not known." in str(refused.value)
    assert "INHABIT_API_KEY" in str(refused.value)
    assert len(serving.requests) == 1, "A refusal is for good."


def test_a_key_that_can_not_be_sent_is_not_quoted(monkeypatch: pytest.MonkeyPatch) -> None:
    with endpoint(lambda request, number: good("ok")) as serving:
        monkeypatch.setenv("INHABIT_API_KEY", "sk-from-a-file\n")
        ask(serving, say)
        assert serving.headers[0]["authorization"] == "Bearer sk-from-a-file"
        for key in ("sk-two\nlines", "sk-with spaces", "sk-\u00e9"):
            monkeypatch.setenv("INHABIT_API_KEY", key)
            with pytest.raises(ModelError, match="INHABIT_API_KEY holds a space") as refused:
                ask(serving, say)
            assert "sk-" not in str(refused.value)


@pytest.mark.parametrize(
    "url", ["ftp://here/v1", "here:80", "http://me:secret@here/v1", "http://here/v1?key=secret"]
)
def test_a_base_url_holds_no_key(url: str) -> None:
    with pytest.raises(ValidationError, match="base_url"):
        OpenAISettings(base_url=url)


# Scores.


def test_letters_are_chosen_by_the_first_token() -> None:
    likely = [("A", 0.5), ("\u0120A", 0.125), ("\u2581A", 0.0625), ("B", 0.125)]
    likely += [(" A", 0.03125), ("A", 0.03125), ("C.", 0.1), ("b", 0.01)]
    top = [{"token": t, "logprob": math.log(p), "bytes": None} for t, p in likely]
    body = completion("A", tokens=(30, 1))
    body["choices"][0]["logprobs"] = {"content": [{**top[0], "top_logprobs": top}]}
    with endpoint(lambda request, number: Answer(json.dumps(body).encode())) as serving:
        ranking = ask(serving, lambda m: m.choose(ASK, ["A", "B", "C"]))
        with pytest.raises(ModelError, match="returns no log-probabilities of letters"):
            ask(serving, lambda m: m.choose(ASK, ["A"]), lacks=["logprobs"])
    request = serving.requests[0]
    assert (request["logprobs"], request["top_logprobs"], request["max_tokens"]) == (True, 20, 1)
    scores = [r.logprob for r in ranking.scores]
    assert scores == pytest.approx([math.log(0.75), math.log(0.125), -math.inf])
    assert ranking.call.tokens_in == 30


def test_letters_from_an_endpoint_that_tells_nothing() -> None:
    with (
        endpoint(lambda request, number: good("A")) as serving,
        pytest.raises(ModelError, match="--set lacks=logprobs"),
    ):
        ask(serving, lambda m: m.choose(ASK, ["A", "B"]))


def test_scores_that_were_paid_for_are_on_record_whatever_came_of_them() -> None:
    toy = ToyVLLM({TEXT: lambda *_: error(404, "Not Found")})
    texts = ("open it", "go on", "stop")

    def refuses_one(request: dict[str, Any], answer: dict[str, Any]) -> Answer | dict[str, Any]:
        if request["messages"][-1]["content"] == texts[1]:
            return error(400, "Not this.")
        return Answer(json.dumps(answer).encode(), delay=0.2)

    async def rank(model: Model) -> Any:
        toy.lies[CHAT] = refuses_one
        return await model.rank(ASK, texts)

    with (
        toy.serving() as serving,
        pytest.warns(UserWarning, match="404: Not Found"),
        pytest.raises(ModelError, match="Not this") as failed,
    ):
        ask(serving, rank, prompt_logprobs=True, timeout=PATIENCE)
    assert failed.value.decision is not None
    (call,) = failed.value.decision.calls
    paid = [json.loads(answer.body)["usage"] for answer in serving.answers.values() if answer.pays]
    assert call.tokens_in == sum(usage["prompt_tokens"] for usage in paid[-2:])


def test_ranking_is_declared_only_where_the_endpoint_can() -> None:
    with (
        endpoint(lambda request, number: good("ok")) as serving,
        pytest.raises(ModelError, match="gives no prompt_logprobs"),
    ):
        ask(serving, say, prompt_logprobs=True)
    with endpoint(lambda request, number: good("ok")) as serving:
        with pytest.raises(ModelError, match="can't rank texts"):
            ask(serving, lambda m: m.rank(ASK, ["yes"]))
        with pytest.raises(ModelError, match="can't search with a beam"):
            ask(serving, lambda m: m.beam(ASK, ["yes"], width=1))


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_scores_of_another_text_are_no_scores() -> None:
    toy = ToyVLLM({TEXT: lambda *_: error(404, "Not Found")})

    def cut(request: dict[str, Any], answer: dict[str, Any]) -> dict[str, Any]:
        end = {"6": {"logprob": -1.0, "decoded_token": "<|end|>"}}
        return answer | {"prompt_logprobs": [*answer["prompt_logprobs"], end]}

    async def rank(model: Model) -> Any:
        toy.lies[CHAT] = cut
        return await model.rank(ASK, ["no"])

    with (
        toy.serving() as serving,
        pytest.raises(ModelError, match=r"ends in '<\|end\|>' where 'no' was to be scored"),
    ):
        ask(serving, rank, prompt_logprobs=True)
