"""Chat endpoints: what is done when there is no answer, and how many calls there are."""

from __future__ import annotations

import asyncio
import json
import time
from datetime import UTC, datetime
from email.utils import format_datetime
from typing import Any

import pytest
from waiting import PATIENCE

from inhabit.agents.core import BudgetError, ModelError
from inhabit.agents.models.core import Model
from inhabit.agents.models.endpoints.settings import OpenAISettings
from inhabit.agents.models.registry import load
from tests.agents.models.endpoints.asking import ASK, ask, one_after_another, say
from tests.agents.models.endpoints.endpoint import Answer, completion, endpoint, error, good

# What goes wrong.

PASSING = {
    "500": error(500, "oh"),
    "503": error(503, "busy"),
    "429": error(429, "slow down", Retry_After="0"),
    "no JSON": Answer(b"<html>"),
    "half a JSON": Answer(b'{"choices": [{"message"'),
    "another JSON": Answer(b"[1, 2]"),
    "no choices": Answer(b'{"choices": []}'),
    "an error that says 200": Answer(b'{"error": {"message": "overloaded"}}'),
    "no text": Answer(b'{"choices": [{"message": {"content": 5}}]}'),
    "a cut body": Answer(good("long enough").body, cut=20),
    "a cut stream": Answer(good("long enough").body, endless=True),
    "a cut head": Answer(b"", hang_up=True),
    "silence": Answer(b"", delay=12, hang_up=True),
    "no UTF-8": Answer(b'{"choices": "\xff\xfe"}'),
}


SILENCE_IS_SLOW = pytest.mark.parametrize(
    "trouble",
    [pytest.param(t, marks=pytest.mark.slow if t.delay else ()) for t in PASSING.values()],
    ids=PASSING,
)


def _patience(trouble: Answer) -> float:
    """Seconds to wait for an answer: only silence is waited out."""
    return 8 if trouble.delay else PATIENCE


@SILENCE_IS_SLOW
def test_what_may_pass_is_tried_again_until_it_has(trouble: Answer) -> None:
    with endpoint(one_after_another(trouble, trouble, good("At last."))) as serving:
        assert ask(serving, say, timeout=_patience(trouble)).texts == ("At last.",)
    assert len(serving.requests) == 3
    assert serving.requests[0] == serving.requests[2]


@SILENCE_IS_SLOW
def test_and_given_up_when_it_does_not(trouble: Answer) -> None:
    with (
        endpoint(one_after_another(trouble)) as serving,
        pytest.raises(ModelError, match=r"openai:m gave no answer in 2 tries; the last time "),
    ):
        ask(serving, say, attempts=2, timeout=_patience(trouble))
    assert len(serving.requests) == 2


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (b"<!doctype html>\n<title>A login</title>", "<!doctype html> <title>A login.*--base-url"),
        (b'data: {"id": "x"}\n\ndata: [DONE]\n\n', "data: .*is it a stream?"),
    ],
)
def test_what_answers_in_no_json_is_quoted(body: bytes, said: str) -> None:
    with (
        endpoint(one_after_another(Answer(body))) as serving,
        pytest.raises(ModelError, match=f"began with '{said}"),
    ):
        ask(serving, say, attempts=1)


@pytest.mark.parametrize("proxy", ["ftp://here:1", "http://here:port"])
def test_a_proxy_that_is_none_is_told(monkeypatch: pytest.MonkeyPatch, proxy: str) -> None:
    monkeypatch.setenv("ALL_PROXY", proxy)
    with pytest.raises(ModelError, match=r"can't be asked: .* Check the proxies"):
        load("openai:test", OpenAISettings(base_url="http://127.0.0.1:9/v1"))


def test_no_endpoint_at_all() -> None:
    with endpoint(lambda request, number: good("ok")) as serving:
        pass
    with pytest.raises(
        ModelError, match=r"in 2 tries; the last time the connection failed .*Check --base-url"
    ):
        ask(serving, say)


@pytest.mark.parametrize("status", [400, 401, 403, 404, 422])
def test_what_is_for_good_is_not_tried_again(status: int) -> None:
    with (
        endpoint(lambda request, number: error(status, "No {such} thing")) as serving,
        pytest.raises(ModelError, match=rf"refuses with {status}: No {{such}} thing\."),
    ):
        ask(serving, say)
    assert len(serving.requests) == 1


def test_money_that_is_spent_does_not_come_back() -> None:
    body = json.dumps({"error": {"message": "Pay.", "code": "insufficient_quota"}}).encode()
    with (
        endpoint(lambda request, number: Answer(body, 429)) as serving,
        pytest.raises(ModelError, match="refuses with 429: Pay"),
    ):
        ask(serving, say)
    assert len(serving.requests) == 1


def test_retry_after_is_waited_for() -> None:
    later = error(429, "later", Retry_After="1")
    with endpoint(one_after_another(later, good("ok"))) as serving:
        ask(serving, say)
    waited = serving.times[1] - serving.times[0]
    assert 1.0 <= waited < 10, "Neither the 0.01 s of its own nor for ever."


def test_who_says_0_for_ever_is_not_asked_in_a_rush() -> None:
    now = error(429, "now", Retry_After="0")
    with endpoint(one_after_another(now)) as serving, pytest.raises(ModelError):
        ask(serving, say, attempts=5, backoff=0.1)
    assert serving.times[-1] - serving.times[0] > 0.3, "Tries wait longer and longer all the same."


def test_retry_after_may_be_a_date() -> None:
    from inhabit.agents.models.endpoints.transport import retry_after

    now = datetime(2026, 1, 1, 12, 0, 0, tzinfo=UTC)
    date = format_datetime(datetime(2026, 1, 1, 12, 0, 30, tzinfo=UTC), usegmt=True)
    assert retry_after({"retry-after": date}, now=now) == 30.0
    assert retry_after({"retry-after": "2.5"}, now=now) == 2.5
    past = format_datetime(datetime(2025, 1, 1, tzinfo=UTC), usegmt=True)
    assert retry_after({"retry-after": past}, now=now) == 0.0
    never = f"Mon, 01 Jan {'9' * 20} 00:00:00 GMT"
    for nonsense in ("", "soon", "-3", "1e999", "9" * 400, "nan", "1 second", never):
        assert retry_after({"retry-after": nonsense}, now=now) is None
    assert retry_after({}, now=now) is None


def test_an_endpoint_that_wants_to_rest_too_long_is_given_up() -> None:
    with endpoint(lambda request, number: error(429, "later", Retry_After="600")) as serving:
        begin = time.monotonic()
        with pytest.raises(ModelError, match=r"1 try; .* 429: later \(and asks to wait 600 s\)"):
            ask(serving, say, longest_wait=60)
    assert time.monotonic() - begin < PATIENCE


BESIDE = {
    "usage of null": {"usage": {"prompt_tokens": None, "completion_tokens": 5}},
    "usage below nothing": {"usage": {"prompt_tokens": -5, "completion_tokens": 5}},
    "usage in words": {"usage": "little"},
    "strange logprobs": {"logprobs": ["?"]},
    "no index": {"index": None},
}


@pytest.mark.parametrize("beside", BESIDE.values(), ids=BESIDE)
def test_an_answer_is_not_paid_twice_for_what_stands_beside_it(beside: dict[str, Any]) -> None:
    body = completion("Here.")
    whole = body if "usage" in beside else body["choices"][0]
    whole |= beside
    with endpoint(lambda request, number: Answer(json.dumps(body).encode())) as serving:
        reply = ask(serving, say)
        assert (reply.texts, len(serving.requests)) == (("Here.",), 1)
        if "usage" in beside:
            assert (reply.call.tokens_in, reply.call.tokens_out) == (0, 0)
            with pytest.raises(ModelError, match="use budget_calls"):
                ask(serving, say, budget_tokens=100)


# Many calls, and how many.


def test_calls_in_flight_are_limited() -> None:
    async def crowd(model: Model) -> int:
        replies = await asyncio.gather(*(model.generate(ASK) for _ in range(12)))
        return len(replies)

    slow = Answer(good("ok").body, delay=0.05)
    with endpoint(lambda request, number: slow) as serving:
        assert ask(serving, crowd, in_flight=3, timeout=PATIENCE) == 12
    assert serving.most_at_once == 3


def test_who_waits_to_try_again_holds_nobody_up() -> None:
    """One place: while the first call rests for a second, the others are answered."""

    def brain(request: dict[str, Any], number: int) -> Answer:
        return error(429, "later", Retry_After="1") if number == 0 else good(str(number))

    async def crowd(model: Model) -> list[str]:
        replies = await asyncio.gather(*(model.generate(ASK) for _ in range(4)))
        return [reply.texts[0] for reply in replies]

    with endpoint(brain) as serving:
        assert ask(serving, crowd, in_flight=1) == ["4", "1", "2", "3"]


def test_a_budget_of_calls() -> None:
    async def five(model: Model) -> list[str]:
        said = []
        for _ in range(5):
            try:
                model.check_budget()
                said.append((await model.generate(ASK)).texts[0])
            except BudgetError as spent:
                said.append(str(spent))
        return said

    with endpoint(one_after_another(good("1"), error(500, "oh"), good("2"))) as serving:
        said = ask(serving, five, budget_calls=3)
    assert len(serving.requests) == 3, "A call that failed was sent, too."
    assert said[:2] == ["1", "2"]
    assert set(said[2:]) == {"The 3 calls that budget_calls allows have been made."}


def test_a_budget_of_tokens() -> None:
    async def three(model: Model) -> Any:
        await model.generate(ASK)
        await model.generate(ASK)
        await model.generate(ASK)

    with (
        endpoint(lambda request, number: good("ok", tokens=(40, 20))) as serving,
        pytest.raises(
            BudgetError, match="120 tokens have been spent, and budget_tokens allows 100"
        ),
    ):
        ask(serving, three, budget_tokens=100)
    assert len(serving.requests) == 2


def test_a_budget_that_can_not_be_kept() -> None:
    silent = completion("ok")
    del silent["usage"]
    with endpoint(lambda request, number: Answer(json.dumps(silent).encode())) as serving:
        assert ask(serving, say).call.tokens_in == 0
        with pytest.raises(ModelError, match="use budget_calls"):
            ask(serving, say, budget_tokens=100)
