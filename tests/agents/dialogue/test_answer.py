"""What is made of a model's words: parts of an answer, the action they name, calls of functions."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from inhabit.agents.core import Step
from inhabit.agents.dialogue.answer import ParsedAnswer, read_answer
from inhabit.agents.dialogue.choices import Choices, Meaning, Problem, label, position
from inhabit.agents.dialogue.tools import find_calls, legal, stub
from inhabit.agents.models.core import ToolCall
from inhabit.envs.core import Reason
from tests.agents.views import act, view

ANSWERS = [
    ('{"description": "A {mug}.", "reasoning": "So.", "action": "go"}', ("go", "A {mug}.", "So.")),
    ('Sure!\n```json\n{"Action": "go", "thought": "So."}\n```\nDone.', ("go", "", "So.")),
    ("{'reasoning': 'it\\'s so', 'action': 'go',}", ("go", "", "it's so")),
    ('{"reasoning": "cut in the middle", "action": "go to the', ("go to the", "", None)),
    ('{"action": 3}', ("3", "", "")),
    (
        "Description: a room\nwith a door\nReasoning: so\nAction: go",
        ("go", "a room with a door", "so"),
    ),
    ("**Thought:** so\n**Action:** open the door\nI hope that helps.", ("open the door", "", "so")),
    ("Action: go\nNo, wait.\nAction: sit", ("sit", "", "")),
    ("Action:\n  go", ("go", "", "")),
    ("2. Next action: go", ("go", "", "")),
    ("go to the kitchen", ("go to the kitchen", "", "")),
    ("```text\ngo to the kitchen\n```", ("go to the kitchen", "", "")),
    ("<think>Hm. {no}</think>\ngo", ("go", "", "Hm. {no}")),
    ("Hm, hm.</think>go", ("go", "", "")),
    (f"<think>{'Hm. ' * 6000}</think>\nReasoning: so\nAction: go", ("go", "", "so")),
    ('{"name": "x"}\nAction: go', ("go", "", "")),
    ('{"action": "go", "plan": ["sit", "stop"], "answer": "none yet"}', ("go", "", "")),
    ('{"thought": "Hm."}\n{"thought": "So.", "action": "go"}', ("go", "", "So.")),
    ('{"thought": "One.\nTwo."}\n{"action": "go"}', ("go", "", "")),
    ('{"response": {"reasoning": "So.", "action": "go"}}', ("go", "", "So.")),
    ('<tool_call>{"name": "act", "arguments": {"action": "go"}}</tool_call>', ("go", "", "")),
    ("Action: go\nPlan: then sit", ("go", "", "")),
    ("Thought: so\nFinal Answer: go", ("go", "", "so")),
    ("### Reasoning\nSo.\n\n### Action\ngo", ("go", "", "So.")),
    ("Reasoning: so\nAction:\n```\ngo\n```", ("go", "", "so")),
    ("\u25c1think\u25b7Sit? No.\u25c1/think\u25b7go", ("go", "", "Sit? No.")),
    ("[THINK]Sit? No.[/THINK]\ngo", ("go", "", "Sit? No.")),
    ("<thought>Sit?</thought>\ngo", ("go", "", "Sit?")),
    ("<|channel|>analysis<|message|>Sit?<|end|><|channel|>final<|message|>go", ("go", "", "")),
    ("So:\n\\boxed{\\text{go}}", ("go", "", "So:")),
    ("So:\n<|begin_of_box|>go<|end_of_box|>", ("go", "", "So:")),
]


@pytest.mark.parametrize(("text", "parts"), ANSWERS, ids=range(len(ANSWERS)))
def test_an_answer_is_taken_apart(text: str, parts: tuple[str, str, str | None]) -> None:
    answer = read_answer(text)
    assert answer is not None
    action, description, reasoning = parts
    assert (answer.action, answer.description) == (action, description)
    assert reasoning is None or answer.reasoning == reasoning


@pytest.mark.parametrize(
    "text",
    [
        "1. go to the hall\n2. open the fridge\n",
        "- go to the hall\n- open the fridge",
        '["go to the hall", "open the fridge"]',
        '```json\n["go to the hall", "open the fridge"]\n```',
    ],
)
def test_a_list_is_an_action_and_what_follows_it(text: str) -> None:
    assert read_answer(text) == ParsedAnswer("go to the hall", rest=("open the fridge",))


@pytest.mark.parametrize("text", ["[WALK] <fridge> (1)", '["WALK"] <fridge>'])
def test_brackets_alone_make_no_list(text: str) -> None:
    assert read_answer(text) == ParsedAnswer(text)


@pytest.mark.parametrize(
    "text",
    [
        "", "   \n ", "{", "{}", "[]", '{"action": null}', '{"action": {"verb": "go"}}',
        '{"action": true}', "I would open the door,\nand then go.", "Action:",
        '{"description": "a"}',
        "<think>go", "{" * 20_000, '{"action": ' * 3000, "[" * 100_000,
    ],
)  # fmt: skip
def test_no_action_is_in_it(text: str) -> None:
    assert read_answer(text) is None


TEXTS = ("open the fridge", "close the fridge", "go to the hall", "stop the clock")


def meaning(said: str, *, history: Any = (), stop: bool = True, **how: Any) -> Meaning:
    moment = view(*TEXTS, history=history)
    options = {"lettered": False, "most": 100} | how
    choices = Choices.of(moment, stop=stop, **options)
    return choices.understand(said, asyncio.run(moment.parse(said)))


def test_words_and_stops() -> None:
    assert meaning("shut the refrigerator").action == act("close the fridge")
    assert meaning("stop").stop
    assert meaning(" 'Done.' ").stop
    assert meaning("stop", stop=False).problem is Problem.UNKNOWN
    assert meaning("stop the clock").action == act("stop the clock"), "A candidate before a stop."
    assert meaning("fly").problem is Problem.UNKNOWN


def test_a_stop_that_is_an_action_is_listed_once() -> None:
    choices = Choices.of(view("go", "stop"), lettered=True, most=9, stop=True)
    assert choices.lines == ["A. go", "B. stop"]
    assert choices.understand("B", None) == Meaning(act("stop"))


def test_letters() -> None:
    for said in (
        *("B", "b", "(B)", "B.", "B) close the fridge", "**B**", "B: whatever that is"),
        *("The answer is B.", "option B", "Choice: (B)"),
    ):
        assert meaning(said, lettered=True).action == act("close the fridge"), said
    assert meaning("E", lettered=True).stop
    assert meaning("F", lettered=True).problem is Problem.UNKNOWN
    assert meaning("B. go to the hall", lettered=True).action == act("go to the hall")
    assert meaning("go to the hall", lettered=True).action == act("go to the hall")
    assert meaning("A fridge that is open", lettered=True).problem is Problem.UNKNOWN
    assert meaning("B").problem is Problem.UNKNOWN, "There are no letters."
    assert meaning("B", lettered=True, most=2).problem is Problem.UNKNOWN, "None is shown."


def test_labels_go_on_after_z() -> None:
    labels = [label(i) for i in range(702)]
    assert labels[:2] + labels[25:28] + labels[-1:] == ["A", "B", "Z", "AA", "AB", "ZZ"]
    assert [position(one) for one in labels] == list(range(702))


def test_what_has_just_failed_is_neither_offered_nor_done() -> None:
    failed = [Step("open the fridge", Reason.CLOSED, "It is locked.")]
    assert meaning("open the fridge", history=failed).problem is Problem.HELD
    assert meaning("A", history=failed, lettered=True).action == act("close the fridge")
    again = [*failed, Step("go to the hall", None, "You are there.")]
    assert meaning("open the fridge", history=again).action == act("open the fridge")


def test_an_environment_that_understands_too_much_changes_nothing() -> None:
    """What its `parse` makes of words counts only if it is a candidate."""
    moment = view(*TEXTS)

    choices = Choices.of(moment, lettered=False, most=100, stop=True)
    assert choices.understand("moon!", act("fly to the moon")).problem is Problem.UNKNOWN
    assert choices.understand("whither?", act("go to the hall")).action == act("go to the hall")


def test_the_schema_allows_what_may_be_answered() -> None:
    moment = view(*TEXTS)
    words = Choices.of(moment, lettered=False, most=100, stop=True)
    schema = words.schema(("reasoning",))
    assert schema["required"] == ["reasoning", "action"]
    assert schema["properties"]["action"]["enum"] == [*TEXTS, "stop"]
    letters = Choices.of(moment, lettered=True, most=100, stop=False)
    assert letters.schema(())["properties"]["action"]["enum"] == ["A", "B", "C", "D"]
    many = Choices.of(moment, lettered=True, most=2, stop=False)
    assert many.schema(())["properties"]["action"] == {"type": "string"}
    assert list(many.examples) == [TEXTS[0], TEXTS[1], TEXTS[2], TEXTS[3]]


LOOK = {
    "name": "look",
    "description": "Look {there}.",
    "parameters": {
        "type": "object",
        "properties": {"where": {"type": "string"}, "often": {"type": "integer"}},
        "required": ["where"],
    },
}
HANDS = {
    "name": "hands",
    "description": "What is\n in them.",
    "parameters": {"type": "object"},
}
TOOLS = [LOOK, HANDS]

CALLS = [
    ("hands()", [("hands", "{}")]),
    ("I wonder.\n  `hands()`\n", [("hands", "{}")]),
    ("- hands()\n- look('up')", [("hands", "{}"), ("look", '{"where": "up"}')]),
    (
        "```python\nseen = look(where='up', often=2)\nhands()\n```",
        [("look", '{"where": "up", "often": 2}'), ("hands", "{}")],
    ),
    ('look("a, b(c)")', [("look", '{"where": "a, b(c)"}')]),
    ("look(\n", []),
    ("I will call hands() now.", []),
    ("hands", []),
    ("hands() and look('up')", []),
    ("print(hands())", []),
    ("object_detection()", []),
    ("hands.clear()", []),
    ("look(where)", []),
    ("look(__import__('os').system('true'))", []),
    ("look(*['up'])", []),
    ("look(**{'where': 'up'})", []),
    ("look('up', 2, 3)", []),
    ("look(b'up')", []),
    ("look('\\d')", [("look", '{"where": "\\\\d"}')]),
    ("x" * 5000 + "()", []),
    ("look(" + "(" * 900 + ")" * 900 + ")", []),
    ("\x00hands()", []),
]  # fmt: skip


@pytest.mark.parametrize(("text", "calls"), CALLS, ids=range(len(CALLS)))
def test_a_call_counts_only_if_it_parses_as_one(text: str, calls: list[tuple[str, str]]) -> None:
    assert [(c.name, c.arguments) for c in find_calls(text, TOOLS)] == calls


def test_a_call_that_is_not_legal_is_answered_with_why() -> None:
    def check(name: str, arguments: str) -> Any:
        return legal(ToolCall("1", name, arguments), TOOLS)

    assert check("look", '{"where": "up"}') == {"where": "up"}
    assert check("hands", "") == {}
    assert "no such function. There are: look, hands" in check("os.system", "{}")
    assert "no JSON" in check("hands", "{")
    assert "no JSON" in check("hands", "[" * 100_000)
    assert "no JSON object" in check("hands", "[]")
    assert "no argument how; there are: where, often" in check("look", '{"where": "", "how": 1}')
    assert "where is missing" in check("look", "{}")
    assert "often is no int" in check("look", '{"where": "up", "often": "2"}')
    assert check("look", '{"where": "up", "often": 2}') == {"where": "up", "often": 2}


def test_functions_are_told_as_python() -> None:
    assert stub(LOOK) == 'def look(where: str, often: int):\n    """Look {there}."""'
    assert stub(HANDS) == 'def hands():\n    """What is in them."""'


def test_an_answer_without_an_action_is_none() -> None:
    assert read_answer("go") == ParsedAnswer("go")


@pytest.mark.parametrize(
    ("text", "action", "rest", "reasoning"),
    [
        ("<think>Near.</think><action>move forward|turn right</action>", "move forward",
         ("turn right",), "Near."),
        ("I see it. <answer>open the\nfridge</answer>", "open the fridge", (), "I see it."),
        ('{"action": "wait"} <action>jump</action>', "wait", (), ""),
    ],
)  # fmt: skip
def test_tags_hold_one_action_or_several(
    text: str, action: str, rest: tuple[str, ...], reasoning: str
) -> None:
    read = read_answer(text)
    assert read is not None
    assert (read.action, read.rest, read.reasoning) == (action, rest, reasoning)


def test_empty_tags_name_no_action() -> None:
    assert read_answer("<action> | </action>\nLet me think.") is None
