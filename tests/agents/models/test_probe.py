"""What a model can do is found out by asking, with its price."""

from __future__ import annotations

import json
from typing import Any

import pytest

from inhabit.cli import main
from tests.agents.models.endpoints.endpoint import Answer, endpoint, error, good
from tests.agents.models.endpoints.toy_vllm import BATCH, ToyVLLM


def doctor(capsys: pytest.CaptureFixture[str], *words: str, code: int = 0) -> Any:
    with pytest.raises(SystemExit) as left:
        main(["doctor", "--json", *words])
    said = capsys.readouterr()
    assert left.value.code == code, said.err
    return json.loads(said.out.splitlines()[-1]) if code < 2 else said.err


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_each_ability_is_asked_for_once(capsys: pytest.CaptureFixture[str]) -> None:
    def brain(request: dict[str, Any], number: int) -> Answer:
        if "tools" in request:
            return error(400, "m does not support tools")
        if "image_url" in json.dumps(request):
            return error(400, "m is not a multimodal model")
        return good("yes {!}", tokens=(20, 2))

    with endpoint(brain) as serving:
        found = doctor(capsys, "--model", "openai:m", "--base-url", serving.base_url)
        told = {row["ability"]: (row["works"], row["found"]) for row in found["abilities"]}
    assert told["words"] == (True, "answered 'yes {!}'")
    assert "is not a multimodal model" in told["images"][1]
    assert told["schema"] == (False, "ignored: it answered freely")
    assert "m does not support tools" in told["tools"][1]
    assert told["n_best"][0]
    assert "2 answers in 2 requests" in told["n_best"][1]
    assert "no log-probabilities" in told["logprobs"][1]
    assert "gives no prompt_logprobs" in told["rank"][1]
    assert "--model local:NAME" in told["rank"][1]
    assert [told[name][0] for name in ("images", "tools", "logprobs", "rank")] == [False] * 4
    assert len(serving.requests) == 3 + 7 + 1, "Three to find out whether it scores texts."
    assert (found["decision"]["agent"], found["decision"]["images"]) == ("chat", 0)
    assert (found["requests"], found["tokens_in"], found["tokens_out"]) == (6, 120, 12)


@pytest.mark.slow
def test_the_price_of_a_decision(capsys: pytest.CaptureFixture[str]) -> None:
    """One request where the server scores all candidates together, and else one for each."""
    toy = ToyVLLM()
    with toy.serving() as serving:
        found = doctor(capsys, "--model", "openai:m", "--base-url", serving.base_url)
    told = {row["ability"]: (row["works"], row["found"]) for row in found["abilities"]}
    assert told["rank"][0]
    assert told["beam"][0]
    assert "at most" in told["rank"][1]
    price = found["decision"]
    assert (price["agent"], price["candidates"], price["images"]) == ("rank", 200, 2)
    assert price["requests"] == 1
    with ToyVLLM({BATCH: lambda *_: error(404, "Not Found")}).serving() as serving:
        found = doctor(capsys, "--model", "openai:m", "--base-url", serving.base_url)
    assert found["decision"]["requests"] == 200


def test_without_scores_the_price_is_that_of_a_reply(capsys: pytest.CaptureFixture[str]) -> None:
    with endpoint(lambda request, number: good("yes", tokens=(700, 2))) as serving:
        found = doctor(capsys, "--model", "openai:m", "--base-url", serving.base_url)
    price = found["decision"]
    assert (price["agent"], price["requests"], price["tokens"]) == ("chat", 1, 700)


def test_a_model_that_answers_nothing_is_an_exit_code(capsys: pytest.CaptureFixture[str]) -> None:
    with endpoint(lambda request, number: error(401, "who?")) as serving:
        found = doctor(capsys, "--model", "openai:m", "--base-url", serving.base_url, code=1)
    assert not found["works"]
    assert "refuses with 401: who?" in found["abilities"][0]["found"]


def test_any_kind_of_model_is_asked(capsys: pytest.CaptureFixture[str]) -> None:
    found = doctor(capsys, "--model", "scripted:first")
    assert [row["ability"] for row in found["abilities"]] == ["images", "rank", "beam"]
    assert found["works"]
    assert "--model" in doctor(capsys, "--base-url", "http://x", code=2)
