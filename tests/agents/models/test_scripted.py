"""Models whose answers are written down."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from inhabit.agents.core import Call, ModelError
from inhabit.agents.models.core import Ability, GenerateOptions, Message, Model, Reply
from inhabit.agents.models.registry import load

PROMPT = [Message("system", ("Be brief.",)), Message("user", ("What now, {you}?",))]


def rank(model: Model, *texts: str) -> list[float]:
    return [one.logprob for one in asyncio.run(model.rank(PROMPT, texts)).scores]


def say(model: Model, prompt: list[Message] = PROMPT) -> str:
    return asyncio.run(model.generate(prompt)).texts[0]


def write(folder: Path, **script: object) -> str:
    path = folder / "script.json"
    path.write_text(json.dumps(script))
    return f"scripted:{path}"


def test_built_ins_are_the_same_every_time() -> None:
    first, uniform, noise = (load(f"scripted:{name}") for name in ("first", "uniform", "noise"))
    assert rank(first, "a", "b", "c") == [-1.0, -2.0, -3.0]
    assert len(set(rank(uniform, "a", "b", "c"))) == 1
    assert rank(noise, "a", "{b}") == rank(load("scripted:noise"), "{b}", "a")[::-1]
    assert rank(noise, "a") == pytest.approx([-7.331], abs=1e-3)
    assert noise.abilities == {Ability.RANK, Ability.BEAM, Ability.IMAGES}


def test_scores_then_rules_then_the_default(tmp_path: Path) -> None:
    model = load(
        write(
            tmp_path,
            scores={"open it": -0.5},
            rules=[{"contains": "open", "logprob": -2.0}, {"contains": "o", "logprob": -3.0}],
            default=-8.0,
            by_order=0.0,
        )
    )
    assert rank(model, "open it", "open that", "go", "sit") == [-0.5, -2.0, -3.0, -8.0]


def test_answers_that_fit_and_then_replies_in_turn(tmp_path: Path) -> None:
    spec = write(tmp_path, replies=["one", "two"], answers=[{"when": "{me}", "say": "you"}])
    model = load(spec)
    assert say(model) == "one"
    assert say(model, [Message("user", ("And {me}?",))]) == "you"
    assert say(model) == "two"
    with pytest.raises(ModelError, match="0 of its 2 replies left"):
        say(model)


def test_it_can_do_what_it_is_told_it_can(tmp_path: Path) -> None:
    model = load(write(tmp_path, abilities=["tools"], replies=["x"]))
    assert model.abilities == {Ability.TOOLS, Ability.WORDS}
    with pytest.raises(ModelError, match="can't rank"):
        rank(model, "a")


def test_a_call_is_recorded_as_it_was_sent(tmp_path: Path) -> None:
    call = asyncio.run(load(write(tmp_path, replies=["go on"])).generate(PROMPT)).call
    assert [m["role"] for m in call.messages] == ["system", "user"]
    assert call.messages[1]["content"] == [{"text": "What now, {you}?"}]
    assert (call.reply, call.tokens_in, call.tokens_out) == ("go on", 5, 2)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("{", "can't be read: Invalid JSON"),
        ('{"scores": {"a": "b"}}', r"scores\.a"),
        ('{"colour": 1}', "colour"),
        ('{"abilities": ["fly"]}', "abilities"),
    ],
)
def test_a_bad_script_is_told(tmp_path: Path, text: str, says: str) -> None:
    path = tmp_path / "bad.json"
    path.write_text(text)
    with pytest.raises(ModelError, match=says):
        load(f"scripted:{path}")


def test_a_missing_script_is_told() -> None:
    with pytest.raises(ModelError, match=r"no script 'nowhere'.*first, uniform, noise"):
        load("scripted:nowhere")


def test_a_model_that_only_talks_needs_one_method() -> None:
    class Talker(Model):
        name = "mine:talker"
        abilities = frozenset({Ability.WORDS})

        async def _generate(self, prompt: Sequence[Message], options: GenerateOptions) -> Reply:
            return Reply(("go on",), Call((), "go on"))

    assert say(Talker()) == "go on"
    with pytest.raises(ModelError, match="mine:talker can't rank texts"):
        rank(Talker(), "a")
