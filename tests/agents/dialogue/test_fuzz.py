"""Ten thousand things that a model might say, through everything that reads a model's words.

Each comes to a typed result, without an exception, and never to an action that was not offered.
"""

from __future__ import annotations

import asyncio
import json
import random
import string
import time
from collections import Counter
from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from inhabit.agents.core import Step
from inhabit.agents.dialogue.answer import ParsedAnswer, ParsedReply, read, read_answer
from inhabit.agents.dialogue.choices import Choices, Problem
from inhabit.agents.dialogue.tools import find_calls, legal
from inhabit.agents.models.endpoints.completion import Completion
from inhabit.envs.core import Reason
from inhabit.envs.toy.env import Toy
from inhabit.envs.toy.house import vocabulary
from tests.agents.models.endpoints.endpoint import completion
from tests.agents.views import view

TOOLS = Toy().tools()
TEXTS = tuple(action.text for action in vocabulary())
MOMENT = view(*TEXTS, history=[Step(TEXTS[0], Reason.ALREADY, "You are there.")])
WORDS = Choices.of(MOMENT, lettered=False, most=100, stop=True)
LETTERS = Choices.of(MOMENT, lettered=True, most=100, stop=True)

SAID = (
    '{"description": "A fridge.", "reasoning": "It is closed.", "action": "open the fridge"}',
    '```json\n{"action": "B"}\n```',
    "Thought: I see a cup.\nAction: pick up the cup",
    "**Action:** C. go to the hall",
    "I will call:\nobject_detection()\nlist_items_in_hands()",
    "```python\nseen = object_detection()\n```",
    "<think>Where is it?</think> {'action': 'put the cup in the shelf'}",
    "stop",
    "F) close the fridge",
    json.dumps(completion("{}", calls=[("object_detection", "{}")])),
)
SHARP = [
    "{", "}", "[", "]", '"', "'", "\\", "\n", "\r\n", "\t", "\x00", "\x1b[31m", "\ud800", "\ufeff",
    "\u202e", "{0.__class__}", "{{7*7}}", "%s", "$(reboot)", "`", "../../etc/passwd", "<script>",
    "]]>", "null", "NaN", "1e999", "-", ":", "Action:", "```", "action", "\N{PILE OF POO}", "()",
    "object_detection(", "__import__('os')", "lambda: 0", "<think>", "</think>", "A", "ZZ", "stop",
    "\u0130", "\u00df", "\uff21", "\u0661", "9" * 400, "(" * 200, "[" * 200, '{"a":' * 100,
]  # fmt: skip


def sayings(count: int) -> Iterator[str]:
    """Well-formed answers, mutated over and over, and plain noise among them."""
    draw = random.Random("what a model might say")
    for _ in range(count):
        text = draw.choice([*SAID, *TEXTS, ""])
        for _ in range(draw.randrange(6)):
            text = mutated(text, draw)
        yield text


def mutated(text: str, draw: random.Random) -> str:
    at, to = sorted(draw.randrange(len(text) + 1) for _ in range(2))
    match draw.randrange(8):
        case 0:
            return text[:at]
        case 1:
            return text[:at] + text[to:]
        case 2:
            return text[:at] + draw.choice(SHARP) + text[at:]
        case 3:
            return text[:at] + text[at:to] * draw.randrange(2, 30) + text[to:]
        case 4:
            return text + draw.choice(["", "\n", " "]) + draw.choice([*SAID, *TEXTS])
        case 5:
            return text[:at] + "".join(draw.choices(string.printable, k=to - at)) + text[to:]
        case 6:
            return text.swapcase() if draw.random() < 0.5 else text[::-1]
        case _:
            noise = "".join(chr(draw.randrange(0x110000)) for _ in range(draw.randrange(20)))
            return text[:at] + noise + text[at:]


LOOP = asyncio.new_event_loop()


def all_readings(text: str) -> Iterator[ParsedReply]:
    """What every parser makes of `text`, checked for what holds of whatever is said."""
    assert isinstance(read_answer(text), ParsedAnswer | None)
    for call in find_calls(text, TOOLS):
        assert call.name in {tool["name"] for tool in TOOLS}
        assert isinstance(legal(call, TOOLS), dict | str)
    try:
        said = Completion.model_validate_json(text.encode("utf-8", "surrogatepass"))
        assert isinstance(said.texts, tuple)
        assert all(isinstance(legal(want, TOOLS), dict | str) for want in said.wants)
    except ValidationError as unreadable:
        assert unreadable.errors()
    for choices in (WORDS, LETTERS):
        reading = LOOP.run_until_complete(read(text, choices, MOMENT))
        meaning = reading.meaning
        held = meaning.problem is Problem.HELD
        assert meaning.action is None or meaning.action in choices.candidates
        assert meaning.action is None or held is (meaning.action not in choices.allowed)
        means = (meaning.action is not None) + meaning.stop + (meaning.problem is not None)
        assert means - (held and meaning.action is not None) == 1
        decision = reading.decision()
        assert (decision.action, decision.stop, decision.raw) == (
            meaning.action,
            meaning.stop,
            text,
        )
        yield reading


@pytest.mark.parametrize("count", [500, pytest.param(10_000, marks=pytest.mark.slow)])
def test_mutations_of_answers(count: int) -> None:
    came_to: Counter[str] = Counter()
    slowest = 0.0
    for text in sayings(count):
        begin = time.process_time()
        for reading in all_readings(text):
            meaning = reading.meaning
            came_to[meaning.problem or ("stop" if meaning.stop else "action")] += 1
        slowest = max(slowest, time.process_time() - begin)
    assert slowest < 1.0, "Nothing that a model says holds all the other episodes up."
    # Only an endpoint says that an answer was cut off.
    assert came_to.keys() == {"action", "stop", *Problem} - {Problem.CUT_OFF}, came_to
    assert min(came_to.values()) > count / 200, came_to


@settings(max_examples=200, deadline=None)
@given(st.text(max_size=400))
def test_any_text_at_all(text: str) -> None:
    assert len(list(all_readings(text))) == 2


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(["action", "reasoning", "choices", "message", "content", "tool_calls"])
            | st.text(max_size=8),
            inner,
            max_size=5,
        )
    ),
    max_leaves=12,
)


@settings(max_examples=200, deadline=None)
@given(JSON)
def test_any_json_at_all(value: object) -> None:
    assert len(list(all_readings(json.dumps(value)))) == 2


@pytest.mark.parametrize("piece", ["{", "[", "(", '{"action":', "A ", "open ", "\n", "```\n", "`"])
def test_the_same_for_ever(piece: str) -> None:
    begin = time.process_time()
    assert len(list(all_readings(piece * (100_000 // len(piece))))) == 2
    assert time.process_time() - begin < 2.0
