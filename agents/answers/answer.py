"""From a model's words to what an agent does about them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import json_repair

from inhabit.agents.answers.choices import Choices, Meaning, Problem
from inhabit.agents.core import Decision, View
from inhabit.agents.models.core import Message
from inhabit.agents.prompts.prompt import PromptTemplate

# A model's answer taken apart: what it says it sees, why it acts, and how.
#
# Whatever a model says is read or it isn't: nothing here raises, and nothing is ever evaluated.

_LONGEST = 20_000
"""Characters that are looked at; what an endpoint lets through unasked may be of any length."""
_DEEPEST = 50
"""Brackets from which on a broken object is not mended: it takes ever longer."""
_FIELDS = {
    "description": "description",
    "observation": "description",
    "reasoning": "reasoning",
    "reason": "reasoning",
    "thought": "reasoning",
    "thoughts": "reasoning",
    "action": "action",
    "next action": "action",
    "next_action": "action",
    "final action": "action",
    "answer": "action",
    "choice": "action",
}
"""What models call the parts of an answer."""
_THOUGHTS = re.compile(r"<think(?:ing)?>(.*?)</think(?:ing)?>", re.DOTALL)


@dataclass(frozen=True, slots=True)
class ParsedAnswer:
    """The parts of an answer, in the model's words."""

    action: str
    description: str = ""
    reasoning: str = ""


def read_answer(text: str) -> ParsedAnswer | None:
    """The parts of `text`, or None where it names no action.

    Read are, whichever comes first: a JSON object, mended where it is broken; lines such as
    "Action: open the fridge"; and a single line, which is the action itself.
    """
    text = text[:_LONGEST]
    thoughts = " ".join(_THOUGHTS.findall(text)).strip()
    text = _THOUGHTS.sub("", text).rpartition("</think>")[2].partition("<think")[0].strip()
    parts = _object(text) or _labelled(text)
    if not parts and not set(text) & set("\n{}") and any(map(str.isalpha, text)):
        parts = {"action": text}
    action = parts.get("action", "").strip()
    if not action:
        return None
    return ParsedAnswer(
        action, parts.get("description", ""), parts.get("reasoning", "") or thoughts
    )


def _object(text: str) -> Mapping[str, str]:
    """The parts of the first JSON object in `text`; none where there isn't one with an action."""
    start = text.find("{")
    if start < 0:
        return {}
    for found in _candidates(text[start:]):
        if isinstance(found, dict):
            parts = dict(_known(found))
            if "action" in parts:
                return parts
    return {}


def _candidates(text: str) -> Iterator[object]:
    try:
        yield json.JSONDecoder().raw_decode(text)[0]
    except (ValueError, RecursionError):
        if text.count("{") + text.count("[") > _DEEPEST:
            return
        try:
            yield json_repair.loads(text, skip_json_loads=True)
        except (ValueError, RecursionError):
            return


def _known(found: Mapping[object, object]) -> Iterator[tuple[str, str]]:
    """The parts that have a name and are text or a number."""
    for key, value in found.items():
        part = _FIELDS.get(str(key).strip().casefold())
        if part and isinstance(value, str | int) and not isinstance(value, bool):
            yield part, str(value).strip()


def _labelled(text: str) -> Mapping[str, str]:
    """Parts that begin with their name and a colon; a part goes on to the next one, but an action
    is one line. What is said last counts. There may be parts, and no action among them.
    """
    parts: dict[str, str] = {}
    now: str | None = None
    for line in text.splitlines():
        label, colon, rest = line.partition(":")
        part = _FIELDS.get(label.strip(" \t*#>-_.0123456789").casefold()) if colon else None
        if part:
            now, parts[part] = part, rest.strip(" \t*")
        elif now and (now != "action" or not parts[now]):
            parts[now] = f"{parts[now]} {line.strip()}".strip()
    return parts


@dataclass(frozen=True, slots=True)
class Reading:
    """An answer, taken apart, and what its action means."""

    raw: str
    answer: ParsedAnswer
    """Empty where there is no action in it."""
    meaning: Meaning

    def decision(self) -> Decision:
        """What it comes to; neither an action nor a stop where it could not be understood."""
        return Decision(
            self.meaning.action,
            stop=self.meaning.stop,
            raw=self.raw,
            description=self.answer.description,
            reasoning=self.answer.reasoning,
        )


async def read(text: str, choices: Choices, view: View) -> Reading:
    """What `text`, the whole answer of a model, comes to among `choices`."""
    answer = read_answer(text)
    if answer is None:
        return Reading(text, ParsedAnswer(""), Meaning(problem=Problem.NO_ACTION))
    return Reading(text, answer, await choices.understand(answer.action, view.parse))


class Repair:
    """Asks for another answer, and says what was wrong with the last one."""

    def __init__(self) -> None:
        self._template = PromptTemplate("repair")

    def message(self, reading: Reading, choices: Choices) -> Message:
        """What to say after `reading`, which could not be understood."""
        said = self._template.block(
            "repair",
            problem=reading.meaning.problem,
            said=reading.answer.action[:200],
            near=[action.text for action in reading.meaning.near],
            lettered=choices.lettered,
        )
        return Message("user", (said,))
