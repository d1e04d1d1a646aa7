"""Endpoints that mean harm: bombs, redirects, impossible numbers, keys repeated."""

from __future__ import annotations

import asyncio
import gzip
import json
import resource
from collections.abc import Callable
from typing import Any

import pytest

from inhabit.agents.core import ModelError
from inhabit.agents.models import registry as models
from inhabit.agents.models.core import Message, Ranking, Reply
from tests.agents.models.endpoints.endpoint import Answer, completion, endpoint, good

KEY = 'sk-test-0123456789-"\\key'
PROMPT = [Message("user", ("Say it.",))]


def ask(base_url: str, **settings: Any) -> Reply:
    kind = models.find("openai:test")[0].settings
    given = {"base_url": base_url, "attempts": 1, **settings}
    model = models.load("openai:test", kind.model_validate(given))

    async def one() -> Reply:
        try:
            return await model.generate(PROMPT)
        finally:
            await model.close()

    return asyncio.run(one())


def choose(base_url: str) -> Ranking:
    kind = models.find("openai:test")[0].settings
    model = models.load("openai:test", kind.model_validate({"base_url": base_url}))

    async def one() -> Ranking:
        try:
            return await model.choose(PROMPT, ["A", "B"])
        finally:
            await model.close()

    return asyncio.run(one())


def always(answer: Answer) -> Callable[[Any, int], Answer]:
    return lambda request, number: answer


@pytest.mark.parametrize("status", [200, pytest.param(400, marks=pytest.mark.slow)])
def test_an_answer_is_bounded_after_unpacking(status: int) -> None:
    # 300 MB of spaces are 1.3 MB of gzip.
    bomb = gzip.compress(b" " * 300_000_000, 1)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with endpoint(always(Answer(bomb, status, {"Content-Encoding": "gzip"}))) as serving:
        with pytest.raises(ModelError, match="larger than 16,777,216 bytes"):
            ask(serving.base_url)
        assert len(serving.requests) == 1, "Another try would bring the same."
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert grown < 150_000, f"{grown} kB"


def test_a_large_answer_is_refused() -> None:
    with (
        endpoint(always(good("x" * 20_000_000))) as serving,
        pytest.raises(ModelError, match="larger than"),
    ):
        ask(serving.base_url)


@pytest.mark.parametrize("status", [200, 400])
def test_a_long_error_is_told_in_short(status: int) -> None:
    long = Answer(json.dumps({"error": {"message": "No.\n" * 10_000}}).encode(), status)
    with endpoint(always(long)) as serving, pytest.raises(ModelError, match=r"No\. No\.") as told:
        ask(serving.base_url)
    assert len(str(told.value)) < 1000


def test_a_packed_answer_is_read() -> None:
    body = gzip.compress(json.dumps(completion("Yes.")).encode())
    with endpoint(always(Answer(body, 200, {"Content-Encoding": "gzip"}))) as serving:
        assert ask(serving.base_url).texts == ("Yes.",)


@pytest.mark.parametrize("packing", ["zstd", "deflate"])
def test_a_packing_that_was_not_asked_for_is_refused(packing: str) -> None:
    with (
        endpoint(always(Answer(b"?", 200, {"Content-Encoding": packing}))) as serving,
        pytest.raises(ModelError, match=f"compressed as '{packing}'"),
    ):
        ask(serving.base_url)


@pytest.mark.parametrize("status", [301, 302, 307, 308])
def test_nothing_follows_a_redirect_to_another_host(status: int) -> None:
    with endpoint(always(good("Yes."))) as other:
        to = {"Location": f"{other.base_url}/chat/completions"}
        with (
            endpoint(always(Answer(b"", status, to))) as serving,
            pytest.raises(ModelError, match="leads to another address"),
        ):
            ask(serving.base_url)
        assert not other.requests


def test_a_redirect_on_the_same_host_is_followed() -> None:
    def brain(request: Any, number: int) -> Answer:
        if number == 0:
            return Answer(b"", 307, {"Location": "/v1/chat/completions"})
        return good("Yes.")

    with endpoint(brain) as serving:
        assert ask(serving.base_url).texts == ("Yes.",)


@pytest.mark.parametrize("status", [301, 302, 303])
def test_a_redirect_that_drops_the_question_is_explained(status: int) -> None:
    to = {"Location": "/v2/chat/completions"}
    with (
        endpoint(always(Answer(b"", status, to))) as serving,
        pytest.raises(ModelError, match="/v2/chat/completions in a way that turns POST into GET"),
    ):
        ask(serving.base_url)


def test_a_passing_status_counts_before_a_body_that_can_not_be_unpacked() -> None:
    def brain(request: Any, number: int) -> Answer:
        if number == 0:
            return Answer(b"no gzip", 502, {"Content-Encoding": "gzip"})
        return good("Yes.")

    with endpoint(brain) as serving:
        assert ask(serving.base_url, attempts=2, backoff=0.01).texts == ("Yes.",)


@pytest.mark.parametrize("logprob", [710, 1e308, float("nan"), float("inf")])
def test_an_impossible_log_probability_can_not_be_read(logprob: float) -> None:
    likely = [{"token": "A", "logprob": logprob, "bytes": None}]
    place = {"content": [{"token": "A", "logprob": logprob, "top_logprobs": likely}]}
    said = completion("A")
    said["choices"][0]["logprobs"] = place
    with (
        endpoint(always(Answer(json.dumps(said).encode()))) as serving,
        pytest.raises(ModelError, match="no log-probabilities that can be read"),
    ):
        choose(serving.base_url)


@pytest.mark.parametrize("escaped", [False, True])
def test_a_key_that_is_repeated_is_left_out(monkeypatch: pytest.MonkeyPatch, escaped: bool) -> None:
    monkeypatch.setenv("INHABIT_API_KEY", KEY)
    body = json.dumps(completion(f"Your key is {KEY}, isn't it?"))
    if escaped:
        body = body.replace("sk-test", "\\u0073\\u006b-test")
    with endpoint(always(Answer(body.encode()))) as serving:
        reply = ask(serving.base_url)
    assert reply.texts == ("Your key is [key], isn't it?",)
    assert KEY not in repr(reply)
