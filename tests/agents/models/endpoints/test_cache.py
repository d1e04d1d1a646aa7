"""Answers kept in a file: who asks the same is answered from it, and who asks otherwise is not."""

from __future__ import annotations

import asyncio
import math
import sqlite3
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from inhabit.agents.core import BudgetError, ModelError
from inhabit.agents.models.core import Ability, Image, Message, Model, Reply
from inhabit.agents.models.endpoints.cache import Cached
from inhabit.agents.models.scripted import Script, ScriptedModel, ScriptedReply, Want
from tests.agents.models.endpoints.asking import ask, say
from tests.agents.models.endpoints.endpoint import endpoint, good

RGB = np.zeros((4, 4, 3), np.uint8)
ASK = [Message("user", ("What {now}?", Image(RGB)))]
TOOL = {"name": "look", "description": "", "parameters": {}}
EVERYTHING = frozenset(Ability)


class Counting(ScriptedModel):
    """Counts what it is really asked."""

    asked = 0

    async def rank(self, *arguments: Any) -> Any:
        self.asked += 1
        return await super().rank(*arguments)

    async def choose(self, *arguments: Any) -> Any:
        self.asked += 1
        return await super().choose(*arguments)

    async def _generate(self, *arguments: Any, **named: Any) -> Reply:
        self.asked += 1
        return await super()._generate(*arguments, **named)


def counting(**script: Any) -> Counting:
    return Counting(
        Script(abilities=EVERYTHING, answers=[ScriptedReply(when="", say="ok")], **script)
    )


def both(model: Counting, path: Path, *asks: Callable[[Model], Awaitable[Any]], **how: Any) -> list:
    """What comes of asking one after the other, each through a cache opened anew."""

    async def asked() -> list:
        answers = []
        for one in asks:
            cached = Cached(model, path, **how)
            answers.append(await one(cached))
            await cached.close()
        return answers

    return asyncio.run(asked())


def test_the_same_again_is_answered_from_the_file(tmp_path: Path) -> None:
    for kind in (
        lambda m: m.generate(ASK),
        lambda m: m.generate(ASK, n=3),
        lambda m: m.rank(ASK, ["open {it}", "go"]),
        lambda m: m.choose(ASK, ["A", "B"]),
    ):
        model = counting(scores={"A": -1.0, "B": -math.inf}, noise=True)
        first, again = both(model, tmp_path / "cache", kind, kind)
        assert model.asked == 1
        assert (first.call.cached, again.call.cached) == (False, True)
        assert (again.call.tokens_in, again.call.tokens_out) == (0, 0), "It cost nothing."
        assert again.call.messages == first.call.messages
        assert again.call.reply == first.call.reply
        assert again.call.others == first.call.others
        if isinstance(first, Reply):
            assert again.texts == first.texts == (first.call.reply, *first.call.others)
        else:
            assert again.scores == first.scores


def test_calls_that_a_model_wants_are_kept(tmp_path: Path) -> None:
    script = Script(
        abilities=EVERYTHING,
        answers=[
            ScriptedReply(when="", wants=[Want(name="look", arguments='{"where": "\u00fcp"}')])
        ],
    )
    kind = lambda m: m.generate(ASK, tools=[TOOL])  # noqa: E731
    first, again = both(Counting(script), tmp_path / "cache", kind, kind)
    assert first.wants == again.wants
    assert again.wants[0].arguments == '{"where": "\u00fcp"}'


def test_whatever_shapes_an_answer_is_part_of_the_question(tmp_path: Path) -> None:
    other = RGB.copy()
    other[3, 3, 2] = 1
    asks = [
        lambda m: m.generate(ASK),
        lambda m: m.generate(ASK, max_tokens=5),
        lambda m: m.generate(ASK, n=2),
        lambda m: m.generate(ASK, tools=[TOOL]),
        lambda m: m.generate(ASK, schema={"type": "object"}),
        lambda m: m.generate([Message("system", ASK[0].parts)]),
        lambda m: m.generate([Message("user", ("What {now}? ", Image(RGB)))]),
        lambda m: m.generate([Message("user", ("What {now}?", Image(other)))]),
        lambda m: m.generate([Message("user", (Image(RGB), "What {now}?"))]),
        lambda m: m.rank(ASK, ["a", "b"]),
        lambda m: m.rank(ASK, ["b", "a"]),
        lambda m: m.rank(ASK, ["a, b"]),
        lambda m: m.choose(ASK, ["a", "b"]),
    ]
    model = counting()
    both(model, tmp_path / "cache", *asks)
    assert model.asked == len(asks)
    both(model, tmp_path / "cache", *asks)
    assert model.asked == len(asks)
    for name, details in (("scripted:other", {}), ("scripted", {"temperature": 0.5})):
        model.name, model.details = name, details
        before = model.asked
        both(model, tmp_path / "cache", asks[0])
        assert model.asked == before + 1, "Another model is asked."


def test_the_seed_counts_only_where_lots_are_drawn(tmp_path: Path) -> None:
    asks = [lambda m: m.generate(ASK, seed=1), lambda m: m.generate(ASK, seed=2)] * 2
    model = counting()
    both(model, tmp_path / "greedy", *asks)
    assert model.asked == 1
    model = counting()
    model.samples = True
    both(model, tmp_path / "sampling", *asks)
    assert model.asked == 4, "What is drawn by lot is not kept unless somebody says so."
    model.asked = 0
    both(model, tmp_path / "sampling", *asks, samples=True)
    assert model.asked == 2
    both(model, tmp_path / "sampling", lambda m: m.rank(ASK, ["a"]), lambda m: m.rank(ASK, ["a"]))
    assert model.asked == 3, "Scores are never drawn."


def test_a_file_that_is_no_cache(tmp_path: Path) -> None:
    file = tmp_path / "{cache}"
    file.write_text("This is no database, and is long enough that nobody takes it for one.")
    for path in (file, tmp_path / "nowhere" / "cache"):
        with pytest.raises(ModelError, match=r"can't be used: .*leave --set cache out"):
            Cached(counting(), path)


def test_an_answer_that_can_not_be_read(tmp_path: Path) -> None:
    kind = lambda m: m.generate(ASK)  # noqa: E731
    both(counting(), tmp_path / "cache", kind)
    with sqlite3.connect(tmp_path / "cache") as file:
        file.execute("UPDATE answers SET answer = '{\"texts\": 5}'")
    file.close()
    with pytest.raises(ModelError, match=r"an answer that can't be read\. Name another file"):
        both(counting(), tmp_path / "cache", kind)


def test_what_is_kept_is_to_be_had_when_the_budget_is_spent(tmp_path: Path) -> None:
    async def again_and_more(model: Model) -> list[bool]:
        replies = []
        for _ in range(2):
            model.check_budget()
            replies.append(await model.generate(ASK))
        with pytest.raises(BudgetError):
            await model.generate(ASK, max_tokens=3)
        return [reply.call.cached for reply in replies]

    with endpoint(lambda request, number: good("ok")) as serving:
        got = ask(serving, again_and_more, cache=tmp_path / "cache", budget_calls=1)
    assert got == [False, True]
    assert len(serving.requests) == 1


def test_an_endpoint_is_not_paid_twice(tmp_path: Path) -> None:
    with endpoint(lambda request, number: good(f"answer {number}")) as serving:
        kept = {"cache": tmp_path / "cache", "budget_calls": 1}
        assert ask(serving, say, **kept).texts == ("answer 0",)
        again = ask(serving, say, **kept)
        assert (again.texts, again.call.cached) == (("answer 0",), True)
        assert ask(serving, say, cache=tmp_path / "cache", temperature=0.5).texts == ("answer 1",)
    assert len(serving.requests) == 2
