"""Replies held to a JSON schema while they are decoded, by a model that knows nothing."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest

from inhabit.agents.core import ModelError
from inhabit.agents.models.core import Ability, Message
from inhabit.agents.models.local.settings import LocalSettings
from inhabit.agents.models.local.transformer import Transformer
from inhabit.agents.models.registry import load
from tests.agents.models.local.tiny import save_llama

pytest.importorskip("llguidance")

PROMPT = [Message("system", ("You act.",)), Message("user", ("What now?",))]
SCHEMA = {
    "type": "object",
    "properties": {
        "action": {"enum": ["open the pan", "go on"]},
        "tries": {"type": "integer", "minimum": 1, "maximum": 3},
    },
    "required": ["action", "tries"],
    "additionalProperties": False,
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_llama(tmp_path_factory.mktemp("llama"))


def model(folder: Path, **settings: object) -> Transformer:
    asked = {"device": "cpu", "dtype": "float32", "json_schema": True, **settings}
    found = load(f"local:{folder}", LocalSettings.model_validate(asked))
    assert isinstance(found, Transformer)
    return found


def said(model: Transformer, **asked: object) -> tuple[str, ...]:
    return asyncio.run(model.generate(PROMPT, max_tokens=64, **asked)).texts


def check(text: str) -> None:
    found = json.loads(text)
    assert set(found) == {"action", "tries"}
    assert found["action"] in ("open the pan", "go on")
    assert found["tries"] in (1, 2, 3)


@pytest.mark.slow
def test_a_reply_is_an_object_of_the_schema(folder: Path) -> None:
    (text,) = said(model(folder), schema=SCHEMA)
    check(text)


def test_without_the_schema_the_same_model_writes_no_json(folder: Path) -> None:
    with pytest.raises(json.JSONDecodeError):
        json.loads(said(model(folder))[0])


def test_each_hypothesis_of_a_beam_is_held(folder: Path) -> None:
    texts = said(model(folder), schema=SCHEMA, n=3)
    assert len(set(texts)) == 3
    for text in texts:
        check(text)


@pytest.mark.slow
def test_sampled_replies_are_held(folder: Path) -> None:
    sampling = model(folder, temperature=2.0)
    texts = [said(sampling, schema=SCHEMA, seed=seed)[0] for seed in range(6)]
    for text in texts:
        check(text)
    assert len(set(texts)) > 1


def test_a_model_that_is_not_asked_to_hold_says_so(folder: Path) -> None:
    free = model(folder, json_schema=False)
    assert Ability.SCHEMA not in free.abilities
    with pytest.raises(ModelError, match="schema, which it can't do"):
        said(free, schema=SCHEMA)


def test_a_schema_that_cannot_be_held_is_an_error(folder: Path) -> None:
    with pytest.raises(ModelError, match="can't be enforced"):
        said(model(folder), schema={"type": "no such type"})
