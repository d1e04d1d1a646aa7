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
_BRACKETS = 50
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
    "final action": "action",
    "chosen action": "action",
    "selected action": "action",
    "actions": "action",
    "executable plan": "action",
    "final answer": "action",
    "answer": "action",
    "choice": "action",
    "plan": "action",
}
"""Keys and labels that models use for a part of a reply, in words; the first of a part counts."""
_TAGGED = re.compile(
    r"<(?:action|answer)>(.*?)(?:</(?:action|answer)>|$)"
    r"|<\|begin_of_box\|>(.*?)(?:<\|end_of_box\|>|$)|\\boxed\{(?:\\text\{)?([^{}]*)",
    re.DOTALL | re.IGNORECASE,
)
_ITEM = re.compile(r"\s*(?:\d+[.)]|[-*\u2022])\s+(\S.*)")
_FENCE = re.compile(r"\A```\w*\n")
_OPEN, _CLOSE = (rf"[<\[◁]{slash}(?:think(?:ing)?|thought|reasoning)[>\]▷]" for slash in ("", "/"))
_THOUGHTS = re.compile(f"{_OPEN}(.*?){_CLOSE}", re.DOTALL | re.IGNORECASE)
_ENDED = re.compile(rf"{_CLOSE}|<\|message\|>", re.IGNORECASE)
"""Where thoughts without a beginning end, or a channel of GPT-OSS begins."""
_UNFINISHED = re.compile(r"[<\[◁]think.*", re.DOTALL | re.IGNORECASE)


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
    if len(text) > _LONGEST:  # The answer follows the thoughts, which may have any length.
        text = _ENDED.split(text)[-1][:_LONGEST]
    thoughts = " ".join(_THOUGHTS.findall(text)).strip()
    text = _FENCE.sub("", without_thoughts(text).strip()).strip("` \t\r\n")
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


def without_thoughts(text: str) -> str:
    """What a reply says after its thoughts, in whichever marks they stand."""
    return _UNFINISHED.sub("", _ENDED.split(_THOUGHTS.sub("", text))[-1])


def _object(text: str) -> Mapping[str, str]:
    """The parts of the first JSON object in `text` with an action; empty if there is none.

    It may be all that another object holds, or the arguments of a function.
    """
    for found in _values(text):
        if isinstance(found, dict):
            within = [*found.values()] if len(found) == 1 else [found.get("arguments")]
            for one in (found, *within):
                parts = dict(_known(one)) if isinstance(one, dict) else {}
                if "action" in parts:
                    return parts
    return {}


def _values(text: str) -> Iterator[object]:
    """The JSON values that begin with a brace, up to a broken one, which is repaired."""
    start = text.find("{")
    while start >= 0:
        try:
            found, end = json.JSONDecoder().raw_decode(text, start)
        except (ValueError, RecursionError):
            repaired = first_json(text[start:])
            yield from repaired if isinstance(repaired, list) else (repaired,)
            return
        yield found
        start = text.find("{", end)


def first_json(text: str, *, brackets: int = _BRACKETS) -> object:
    """The JSON value that `text` begins with, or None.

    Broken JSON is repaired if it has at most so many `brackets`: repair takes long where they nest.
    """
    try:
        return json.JSONDecoder().raw_decode(text)[0]
    except (ValueError, RecursionError):
        if text.count("{") + text.count("[") > brackets:
            return None
        try:
            return json_repair.loads(text, skip_json_loads=True)
        except (ValueError, RecursionError):
            return None


def _known(found: Mapping[str, object]) -> Iterator[tuple[str, str]]:
    """The parts under a known key whose value is a text or a number, or a list of actions."""
    named = {_words(str(key)): value for key, value in found.items()}
    for key, part in reversed(_FIELDS.items()):
        value = named.get(key)
        said: list[str] = []
        if isinstance(value, list) and part == "action":
            said = [*_several(value)]
        elif isinstance(value, str | int) and not isinstance(value, bool):
            said = [*filter(None, [str(value).strip()])]
        if said:
            yield part, said[0]
        if said and part == "action":  # Further actions under another key are of another plan.
            yield "rest", "\n".join(said[1:])


def _words(key: str) -> str:
    """A key or a label in plain words."""
    return key.replace("_", " ").strip(" \t*#>-.0123456789").casefold()


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
    last = "".join(filter(None, tags[-1].groups())) if tags else ""
    said = [" ".join(one.split()) for one in last.split("|")]
    first, *rest = [*filter(None, said), ""]
    reasoning = text[: tags[0].start()].strip() if tags else ""
    return {"action": first, "reasoning": reasoning, "rest": "\n".join(rest[:-1])} if first else {}


def _labelled(text: str) -> Mapping[str, str]:
    """Parts that begin with a label and a colon or are under a heading; an action is one line.

    Of a repeated label the last one counts. There may be no action among them.
    """
    said: dict[str, str] = {}
    now: str | None = None
    for line in map(str.strip, text.splitlines()):
        label, colon, rest = line.replace("\uff1a", ":").partition(":")
        if (colon or line.startswith(("#", "**"))) and (key := _words(label)) in _FIELDS:
            now, said[key] = key, rest.strip(" \t*")
        elif now and not line.startswith("```") and not (said[now] and _FIELDS[now] == "action"):
            said[now] = f"{said[now]} {line}".strip()
    return dict(_known(said)) or said


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
    """Parts of the reply; empty where it has no action."""
    meaning: Meaning

    def cut_off(self) -> ParsedReply:
        """The same reply, ended by the limit of tokens: without its last action, which may lack its
        end.
        """
        *others, last = (self.answer.action, *self.answer.rest)
        if not self.raw.rstrip(" ").endswith(last):
            return self
        if others:
            return replace(self, answer=replace(self.answer, rest=tuple(others[1:])))
        return replace(self, meaning=Meaning(problem=Problem.CUT_OFF))

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
    """Interpret a reply whose parts and action are parsed already."""
    if answer is None:
        return ParsedReply(text, ParsedAnswer(""), Meaning(problem=Problem.NO_ACTION))
    return ParsedReply(text, answer, choices.understand(answer.action, parsed))
