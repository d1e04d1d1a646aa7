"""Candidates are scored in few requests; a server that answers wrongly is not believed."""

from __future__ import annotations

import asyncio
import copy
import math
import re
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
from sampling import every

from inhabit.agents.core import ModelError, Ranked
from inhabit.agents.models.core import Image, Message, Model, Ranking
from inhabit.agents.models.endpoints.node_requests import grouped
from inhabit.agents.models.endpoints.settings import OpenAISettings
from inhabit.agents.models.registry import load
from tests.agents.models.endpoints.asking import QUICK
from tests.agents.models.endpoints.endpoint import Answer, error
from tests.agents.models.endpoints.toy_vllm import BATCH, CHAT, TEXT, Json, Lie, ToyVLLM

TEXTS = ("open the drawer", "open the drawer_2", "open the drawer_10", "go to the sink", "stop")
UN = ("undo it", "under it", *TEXTS)
"""Candidates that share the token "un", which no text alone is tokenized as."""
ASK = [Message("system", ("You act.",)), Message("user", ("What now?",))]
SEES = [Message("user", ("What now?", *(Image(np.full((4, 4, 3), i, np.uint8)) for i in (1, 2))))]


def ask(
    server: ToyVLLM, *what: Callable[[Model], Any], meanwhile: Callable[[], None] = lambda: None
) -> list[Any]:
    """What comes of asking one model several things, after `meanwhile`, which follows its load."""

    async def asked(model: Model) -> list[Any]:
        try:
            return [await one(model) for one in what]
        finally:
            await model.close()

    with server.serving() as serving:
        settings = {**QUICK, "attempts": 9, "timeout": 60, "prompt_logprobs": True}
        model = load("openai:m", OpenAISettings(base_url=serving.base_url, **settings))
        meanwhile()
        return asyncio.run(asked(model))


def values(scores: Sequence[Ranked]) -> list[float]:
    return [one.logprob for one in scores]


@pytest.mark.parametrize("prompt", [ASK, SEES], ids=["text", "images"])
def test_one_request_scores_all_candidates(prompt: list[Message]) -> None:
    server = ToyVLLM()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        first, again = ask(
            server, *[lambda m: m.rank(prompt, TEXTS)] * 2, meanwhile=server.computed.clear
        )
    assert values(first.scores) == pytest.approx(server.truth(prompt, TEXTS), abs=1e-9)
    assert [one.text for one in first.scores] == list(TEXTS)
    assert [one.tokens for one in first.scores] == [3, 4, 4, 4, 1]
    assert [path for path, _ in server.computed] == [TEXT if prompt is ASK else BATCH] * 2
    assert (first.call.requests, first.call.notes) == (1, ())
    assert again.scores == first.scores


def test_each_image_is_sent_once_and_again_where_the_server_has_lost_it() -> None:
    server = ToyVLLM()

    def forgets() -> None:
        server.held.clear()

    async def rank(model: Model) -> Ranking:
        return await model.rank(SEES, TEXTS)

    async def lost(model: Model) -> int:
        before = server.pixels
        forgets()
        await model.rank(SEES, TEXTS)
        return server.pixels - before

    async def sent(model: Model) -> int:
        return server.pixels

    async def one_more(model: Model) -> Ranking:
        seen = Message("user", (Image(np.full((4, 4, 3), 9, np.uint8)),))
        return await model.rank([*SEES, seen], TEXTS)

    before, _, after, _, same, resent = ask(server, sent, rank, sent, rank, sent, lost)
    assert (after - before, same - after, resent) == (2, 0, 2)
    _, before, _, after = ask(server, rank, sent, one_more, sent)
    assert after - before == 1


def test_episodes_that_begin_together_ask_for_the_tokens_of_a_candidate_once() -> None:
    asked: list[str] = []

    def heard(request: Json, answer: Json) -> Json:
        asked.append(request["messages"][-1]["content"])
        return answer

    async def many(model: Model) -> Any:
        return await asyncio.gather(*(model.rank(SEES, UN) for _ in range(8)))

    server = ToyVLLM({"/tokenize": heard})
    (rankings,) = ask(server, many, meanwhile=asked.clear)
    assert len({ranking.scores for ranking in rankings}) == 1
    assert [asked.count(text) for text in UN] == [1] * len(UN)


@pytest.mark.parametrize("prompt", every(2, [SEES, ASK]), ids=["images", "text"])
def test_a_busy_server_computes_and_is_paid_for_nothing_twice(prompt: list[Message]) -> None:
    """Every third request of any kind is refused with 429, and only that one is sent again."""

    prompts = [[*prompt, Message("user", (f"Step {i}",))] for i in range(12)]

    async def many(model: Model) -> Any:
        return await asyncio.gather(*(model.rank(one, TEXTS) for one in prompts))

    found = []
    for server in (ToyVLLM(), ToyVLLM(busy=3)):
        (rankings,) = ask(server, many, meanwhile=server.computed.clear)
        for one, ranking in zip(prompts, rankings, strict=True):
            assert values(ranking.scores) == pytest.approx(server.truth(one, TEXTS), abs=1e-9)
        costs = [(ranking.call.requests, ranking.call.tokens_in) for ranking in rankings]
        found.append((sorted(server.computed), costs))
    assert found[0] == found[1]
    assert len(found[1][0]) == 12
    assert server.refused >= 6


@pytest.mark.parametrize("prompt", [ASK, SEES], ids=["text", "images"])
def test_nodes_whose_text_is_tokenized_otherwise(prompt: list[Message]) -> None:
    """Without images tokens are sent; with them two whole candidates are asked about beside."""
    server = ToyVLLM()
    (ranking,) = ask(server, lambda m: m.rank(prompt, UN), meanwhile=server.computed.clear)
    assert values(ranking.scores) == pytest.approx(server.truth(prompt, UN), abs=1e-9)
    whole = [path for path, _ in server.computed].count(CHAT)
    assert whole == (0 if prompt is ASK else 2)


@pytest.mark.parametrize("prompt", [ASK, SEES], ids=["text", "images"])
def test_a_beam_asks_once_a_level(prompt: list[Message]) -> None:
    server = ToyVLLM()
    wide, narrow, ranking = ask(
        server,
        lambda m: m.beam(prompt, TEXTS, width=9),
        lambda m: m.beam(prompt, TEXTS, width=1),
        lambda m: m.rank(prompt, TEXTS),
    )
    best = sorted(ranking.scores, key=lambda one: -one.logprob)
    assert [one.text for one in wide.scores] == [one.text for one in best]
    assert values(wide.scores) == pytest.approx(values(best), abs=1e-9)
    assert wide.call.requests == 4, "Depths 0 to 3."
    assert narrow.call.requests <= 4
    exact = {one.text: one.logprob for one in ranking.scores}
    assert exact[narrow.scores[0].text] == pytest.approx(narrow.scores[0].logprob)


def test_the_end_of_an_answer_is_scored_too() -> None:
    server = ToyVLLM()
    (found,) = ask(server, lambda m: m.beam(ASK, ["stop", "go"], width=2, end=True))
    end = server.ids("</turn>")[0]
    before = server.ids(
        "".join(f"<turn>{m.role}\n{m.parts[0]}</turn>\n" for m in ASK) + "<turn>assistant\n"
    )
    for one in found.scores:
        (word,) = server.ids(one.text)
        want = server.logprobs(before)[word] + server.logprobs([*before, word])[end]
        assert one.logprob == pytest.approx(want)


def test_a_request_asks_about_no_more_tokens_than_a_server_takes() -> None:
    server = ToyVLLM()
    many = [f"take w{i}" for i in range(300)]
    (ranking,) = ask(server, lambda m: m.rank(ASK, many), meanwhile=server.computed.clear)
    assert values(ranking.scores) == pytest.approx(server.truth(ASK, many), abs=1e-9)
    assert ranking.call.requests == 3
    groups = grouped({node: range(node * 40, node * 40 + 40) for node in range(9)}, chats=True)
    assert sorted(node for group in groups for node in group.nodes) == list(range(9))
    assert max(len(group.tokens) for group in groups) <= 128
    assert len(groups) == 3


def test_a_request_holds_no_more_prompts_than_a_server_takes() -> None:
    groups = grouped({node: (node % 50,) for node in range(3000)}, chats=False)
    assert sorted(node for group in groups for node in group.nodes) == list(range(3000))
    assert [len(group.nodes) for group in groups] == [1024, 1024, 952]


def test_a_template_that_joins_the_candidate_to_what_stands_before_it() -> None:
    """All are asked about as wholes, and a sentence says so."""
    server = ToyVLLM()
    server.ids("</turn>")

    def joins(request: Json, answer: Json) -> Json:
        return answer if request["messages"][-1]["content"] == "" else {"tokens": [5, 6, 7]}

    server.lies["/tokenize"] = joins
    with pytest.warns(UserWarning, match="joins a candidate to what stands before it"):
        (ranking,) = ask(server, lambda m: m.rank(ASK, TEXTS))
    assert values(ranking.scores) == pytest.approx(server.truth(ASK, TEXTS), abs=1e-9)
    assert ranking.call.requests == len(TEXTS)


def each_choice(change: Callable[[Any], None]) -> Lie:
    """Changes the answer about each prompt, whichever form it has."""

    def lie(request: Json, answer: Json) -> Json:
        answer = copy.deepcopy(answer)
        for choice in answer["choices"]:
            change(choice)
        return answer

    return lie


def pairs(change: Callable[[list[tuple[str, float]]], list[tuple[str, float]]]) -> Lie:
    """Changes the pairs of token and log-probability."""

    def of_choice(choice: Any) -> None:
        logprobs = choice["logprobs"]
        if content := logprobs.get("content"):
            old = [(one["token"], one["logprob"]) for one in content[0]["top_logprobs"]]
            content[0]["top_logprobs"] = [{"token": t, "logprob": p} for t, p in change(old)]
        else:
            logprobs["top_logprobs"] = [dict(change(list(logprobs["top_logprobs"][0].items())))]

    return each_choice(of_choice)


def masked(old: list[tuple[str, float]]) -> list[tuple[str, float]]:
    total = math.log(math.fsum(math.exp(p) for _, p in old))
    return [(t, p - total) for t, p in old]


def turned_around(request: Json, answer: Json) -> Json:
    said = [choice["logprobs"] for choice in answer["choices"]][::-1]
    return answer | {
        "choices": [c | {"logprobs": s} for c, s in zip(answer["choices"], said, strict=True)]
    }


def set_index(number: int | None) -> Lie:
    return each_choice(lambda choice: choice.update(index=number))


FORMS: dict[str, tuple[Lie, str]] = {
    "half a batch": (
        lambda _, answer: answer | {"choices": answer["choices"][: len(answer["choices"]) // 2]},
        "scores [0-9]+ of [0-9]+ prompts|could not be read: choices",
    ),
    "more than was asked": (
        lambda _, answer: answer | {"choices": answer["choices"] * 2},
        "scores [0-9]+ of [0-9]+ prompts",
    ),
    "no numbers of prompts": (set_index(None), "which prompt each score belongs to"),
    "one number for all": (set_index(0), "which prompt each score belongs to"),
    "half of the tokens": (pairs(lambda old: old[::2]), "leaves out"),
    "other tokens": (
        pairs(lambda old: [(f"token_id:{900 + i}", -3.0) for i in range(5)]),
        "leaves out",
    ),
    "tokens by their text": (
        pairs(lambda old: [(f"w{i}", p) for i, (_, p) in enumerate(old)]),
        "names tokens by their text",
    ),
    "no number": (pairs(lambda old: [(t, math.nan) for t, _ in old]), "log-probability nan"),
    "more than certain": (pairs(lambda old: [(t, 3.0) for t, _ in old]), "log-probability 3"),
    "a sum above one": (pairs(lambda old: [(t, -0.05) for t, _ in old]), "sum to"),
    "no log-probabilities": (
        each_choice(lambda choice: choice.update(logprobs=None)),
        "gives no log-probabilities",
    ),
    "log-probabilities of nothing": (
        each_choice(lambda choice: choice.update(logprobs={"content": [], "top_logprobs": []})),
        "gives no log-probabilities",
    ),
    "log-probabilities in words": (
        each_choice(lambda choice: choice.update(logprobs={"content": "high"})),
        "gives no log-probabilities",
    ),
    "an error with status 200": (
        lambda *_: {"error": {"message": "out of memory"}},
        "its answer is an error: out of memory",
    ),
    "nothing": (lambda *_: {}, "could not be read: choices"),
    "no JSON": (lambda *_: Answer(b"<html>"), "could not be read"),
    "no such address": (lambda *_: error(404, "Not Found"), "404: Not Found"),
    "a refusal": (lambda *_: error(400, "logprob_token_ids: unknown"), "unknown"),
    "a server that fails": (lambda *_: error(500, "is not supported"), "is not supported"),
    "other prompts by its own count": (
        lambda _, answer: answer | {"usage": {"prompt_tokens": 7, "completion_tokens": 1}},
        "read 7 tokens, which are not those",
    ),
}
"""Lies that show in the form of an answer -> (how, what is said of it)."""
CONTENT: dict[str, tuple[Lie, str]] = {
    "another order": (turned_around, "scores of the two ways differ"),
    "shares of the asked tokens alone": (pairs(masked), "scores of the two ways differ|sum to"),
    "fields that are ignored": (
        pairs(lambda old: [(t, -7.0 - i) for i, (t, _) in enumerate(old)]),
        "scores of the two ways differ",
    ),
}
"""Lies that show in the scores."""


TEXT_IS_SLOW = [
    pytest.param(TEXT, id="text", marks=pytest.mark.slow),
    pytest.param(BATCH, id="images"),
]
IMAGES_ARE_SLOW = [
    pytest.param(TEXT, id="text"),
    pytest.param(BATCH, id="images", marks=pytest.mark.slow),
]


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("path", TEXT_IS_SLOW)
@pytest.mark.parametrize("name", [*every(2, FORMS), *CONTENT])
def test_a_server_that_lies_from_the_start_is_asked_candidate_by_candidate(
    name: str, path: str
) -> None:
    lie, said = {**FORMS, **CONTENT}[name]
    server = ToyVLLM({path: lie})
    prompt = ASK if path == TEXT else SEES
    (ranking,) = ask(server, lambda m: m.rank(prompt, TEXTS))
    assert values(ranking.scores) == pytest.approx(server.truth(prompt, TEXTS), abs=1e-9)
    assert ranking.call.requests == len(TEXTS)
    (note,) = ranking.call.notes
    assert note.startswith(f"prompts with {'text' if path == TEXT else 'images'} are scored in one")
    assert re.search(said, note), note


@pytest.mark.parametrize("path", IMAGES_ARE_SLOW)
@pytest.mark.parametrize("name", every(2, reversed(FORMS)))
def test_a_server_that_begins_to_lie_is_named(name: str, path: str) -> None:
    lie, said = FORMS[name]
    server = ToyVLLM()
    prompt = ASK if path == TEXT else SEES
    with pytest.raises(ModelError, match=said):
        ask(
            server,
            lambda m: m.rank(prompt, TEXTS),
            meanwhile=lambda: server.lies.update({path: lie}),
        )


def test_an_answer_about_other_prompts_is_paid_for_all_the_same() -> None:
    server = ToyVLLM()
    lie, said = FORMS["other prompts by its own count"]
    with pytest.raises(ModelError, match=said) as told:
        ask(
            server,
            lambda m: m.rank(ASK, TEXTS),
            meanwhile=lambda: server.lies.update({TEXT: lie}),
        )
    assert told.value.decision is not None
    (call,) = told.value.decision.calls
    assert (call.requests, call.tokens_in, call.tokens_out) == (1, 7, 1)


def is_image(part: Json) -> bool:
    return part["type"] == "image_url"


def test_scores_that_move_with_what_else_is_computed_are_told_with_every_call() -> None:
    """As in bfloat16, where a request for all nodes rounds otherwise than one for a candidate."""

    def rounds(request: Json, answer: Json) -> Json:
        for choice in answer["choices"]:
            (scores,) = choice["logprobs"]["top_logprobs"]
            choice["logprobs"]["top_logprobs"] = [{t: p - 0.02 for t, p in scores.items()}]
        return answer

    with pytest.warns(UserWarning, match="move by up to .* with --dtype float32"):
        (ranking,) = ask(ToyVLLM({TEXT: rounds}), lambda m: m.rank(ASK, TEXTS))
    assert "as in bfloat16" in ranking.call.notes[0]
    assert ranking.call.requests == 1


def test_a_server_whose_logits_are_rounded_is_told_with_every_call() -> None:
    """As in bfloat16 on a CPU whose scores do not move with the batch: they look exact."""

    class Rounded(ToyVLLM):
        def logprobs(self, ids: Sequence[int]) -> np.ndarray[Any, Any]:
            bits = super().logprobs(ids).astype(np.float32).view(np.uint32)
            logits = ((bits + 0x8000) & 0xFFFF0000).view(np.float32).astype(float)
            return np.asarray((logits - np.logaddexp.reduce(logits)).astype(np.float32))

    def checked(model: Model) -> Any:
        assert model.checked.startswith("in 16 bits at most")
        return model.rank(ASK, TEXTS)

    with pytest.warns(UserWarning, match="of logits in 16 bits, as in bfloat16"):
        (ranking,) = ask(Rounded(), checked)
    assert ranking.call.notes[0].startswith("scores are of logits in 16 bits, as in bfloat16")


def no_images(parts: list[Json], last: str) -> list[Json]:
    return [part for part in parts if not is_image(part)]


def no_named_images(parts: list[Json], last: str) -> list[Json]:
    return [part for part in parts if not is_image(part) or part["image_url"]]


def the_last_image(parts: list[Json], last: str) -> list[Json]:
    return [part | {"uuid": last} if is_image(part) else part for part in parts]


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("seen", [no_images, no_named_images, the_last_image])
def test_a_server_that_sees_other_images_than_those_that_are_named(
    seen: Callable[[list[Json], str], list[Json]],
) -> None:
    server = ToyVLLM()
    last: list[str] = []

    def sees(request: Json, answer: Json) -> Json | Answer:
        for chat in request["messages"]:
            parts = next(t["content"] for t in chat if isinstance(t["content"], list))
            last.extend(p["uuid"] for p in parts if is_image(p) and p["image_url"])
            parts[:] = seen(parts, last[-1])
        return server.batch(request)

    server.lies[BATCH] = sees
    (ranking,) = ask(server, lambda m: m.rank(SEES, TEXTS))
    assert values(ranking.scores) == pytest.approx(server.truth(SEES, TEXTS), abs=1e-9)
    assert ranking.call.requests == len(TEXTS)
    assert re.search("do not follow|not those that it was sent|differ by", ranking.call.notes[0])
