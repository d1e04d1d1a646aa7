"""Parses the reply of a model: description, reasoning and action.

Any text is accepted: nothing here raises, and nothing is ever evaluated.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace

import json_repair

from inhabit.agents.core import Decision, View
from inhabit.agents.dialogue.choices import Choices, Meaning, Problem
from inhabit.envs.core import Action

_LONGEST = 20_000
"""Limit of characters that are parsed; a reply of an endpoint may have any length."""
_DEEPEST = 50
"""Limit of brackets for repairing a broken JSON object: the time grows with them."""
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
    "actions": "action",
    "plan": "action",
    "executable_plan": "action",
}
"""Keys and labels that models use for the parts of a reply."""
_TAGGED = re.compile(r"<(action|answer)>(.*?)(?:</\1>|$)", re.DOTALL | re.IGNORECASE)
_ITEM = re.compile(r"\s*(?:\d+[.)]|[-*\u2022])\s+(\S.*)")
_FENCE = re.compile(r"\A```\w*\n")
_THOUGHTS = re.compile(r"<think(?:ing)?>(.*?)</think(?:ing)?>", re.DOTALL)


@dataclass(frozen=True, slots=True)
class ParsedAnswer:
    """The parts of a reply, in the model's words."""

    action: str
    description: str = ""
    reasoning: str = ""
    rest: tuple[str, ...] = ()
    """Further actions that are to follow."""


def read_answer(text: str) -> ParsedAnswer | None:
    """Parse `text`; None where it names no action.

    The first of these forms counts: a JSON object, repaired if it is broken; VAGEN's
    <action>first|second</action>, whose end may be cut off; lines such as "Action: open the
    fridge"; a list and nothing else, in JSON or of lines that begin with numbers or dashes; a
    single line, which is the action itself.
    """
    text = text[:_LONGEST]
    thoughts = " ".join(_THOUGHTS.findall(text)).strip()
    text = _THOUGHTS.sub("", text).rpartition("</think>")[2].partition("<think")[0]
    text = _FENCE.sub("", text.strip()).strip("` \t\r\n")
    parts = _object(text) or _tagged(text) or _labelled(text) or _listed(text)
    if not parts and not set(text) & set("\n{}") and any(map(str.isalpha, text)):
        parts = {"action": text}
    action = parts.get("action", "").strip()
    if not action:
        return None
    return ParsedAnswer(
        action,
        parts.get("description", ""),
        parts.get("reasoning", "") or thoughts,
        tuple(parts.get("rest", "").splitlines()),
    )


def _object(text: str) -> Mapping[str, str]:
    """The parts of the first JSON object in `text` with an action; empty if there is none."""
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
    """The parts under a known key whose value is a text or a number, or a list of actions."""
    for key, value in found.items():
        part = _FIELDS.get(str(key).strip().casefold())
        if part == "action" and isinstance(value, list):
            first, *rest = [*_several(value), ""]
            yield part, first
            yield "rest", "\n".join(rest[:-1])
        if part and isinstance(value, str | int) and not isinstance(value, bool):
            yield part, str(value).strip()


def _several(values: list[object]) -> Iterator[str]:
    """Actions of a list, on a line each; EmbodiedBench's are objects with an `action_name`."""
    for value in values:
        if isinstance(value, dict):
            value = value.get("action_name", value.get("action"))
        if isinstance(value, str) and (text := " ".join(value.split())):
            yield text


def _tagged(text: str) -> Mapping[str, str]:
    """The actions of the last tag, with "|" between them; empty if there is none."""
    tags = list(_TAGGED.finditer(text))
    said = [" ".join(one.split()) for one in tags[-1][2].split("|")] if tags else []
    first, *rest = [*filter(None, said), ""]
    reasoning = text[: tags[0].start()].strip() if tags else ""
    return {"action": first, "reasoning": reasoning, "rest": "\n".join(rest[:-1])} if first else {}


def _labelled(text: str) -> Mapping[str, str]:
    """Parts that begin with a label and a colon, up to the next label; an action is one line.

    Of a repeated part the last one counts. There may be no action among them.
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


def _listed(text: str) -> Mapping[str, str]:
    """The actions of a text that is a list; empty if it is none."""
    items = [_ITEM.fullmatch(line) for line in text.splitlines()]
    said = [item[1] for item in items if item] if all(items) else []
    if text.startswith('["'):
        with suppress(ValueError, RecursionError):
            said = [*_several(json.loads(text))]
    return {"action": said[0], "rest": "\n".join(said[1:])} if said else {}


@dataclass(frozen=True, slots=True)
class ParsedReply:
    """A parsed reply, and what its action means."""

    raw: str
    answer: ParsedAnswer
    """Empty where it has no action."""
    meaning: Meaning

    def cut_off(self) -> ParsedReply:
        """The same, of a reply that ended at the limit of tokens: that is why it has no action."""
        if self.meaning.problem is not Problem.NO_ACTION:
            return self
        return replace(self, meaning=replace(self.meaning, problem=Problem.CUT_OFF))

    def decision(self) -> Decision:
        """The decision; neither an action nor a stop where the reply could not be understood."""
        return Decision(
            self.meaning.action,
            stop=self.meaning.stop,
            raw=self.raw,
            description=self.answer.description,
            reasoning=self.answer.reasoning,
        )


async def read(text: str, choices: Choices, view: View) -> ParsedReply:
    """Interpret `text`, the whole reply of a model, among `choices`."""
    answer = read_answer(text)
    parsed = None if answer is None else await view.parse(answer.action)
    return reading(text, answer, choices, parsed)


def reading(
    text: str, answer: ParsedAnswer | None, choices: Choices, parsed: Action | None
) -> ParsedReply:
    """The same of a reply whose parts and action are parsed already."""
    if answer is None:
        return ParsedReply(text, ParsedAnswer(""), Meaning(problem=Problem.NO_ACTION))
    return ParsedReply(text, answer, choices.understand(answer.action, parsed))
