"""Asks a model for each of its abilities once, in few tokens, and reports the results."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from pydantic import JsonValue

from inhabit.agents.core import Call, ModelError, RequestError
from inhabit.agents.models.core import Ability, Image, Message, Model, Ranking, Reply

_ASK = (Message("user", ("Answer with the word yes.",)),)
_LETTERS = (Message("user", ("Answer with one letter, A or B.",)),)
_TOOL: Mapping[str, JsonValue] = {
    "name": "look",
    "description": "Says what is in sight.",
    "parameters": {"type": "object", "properties": {}},
}
_SCHEMA: Mapping[str, JsonValue] = {
    "type": "object",
    "properties": {"action": {"type": "string", "enum": ["wait", "go on"]}},
    "required": ["action"],
    "additionalProperties": False,
}
_TOKENS = 64
_SIDE = 56
"""Pixels of the image: Qwen2-VL refuses sides below 28."""
_VERBS = "go to", "pick up", "put down", "open", "close", "wash", "slice", "heat", "cool", "turn on"
_THINGS = "box", "door", "book", "chair", "bag", "jar", "ball", "key", "cup", "tray"
CANDIDATES = tuple(f"{v} the {t}{n}" for v in _VERBS for t in _THINGS for n in ("", "_2"))
"""Two hundred actions to rank."""
_IMAGES = tuple(Image(np.full((300, 300, 3), shade, np.uint8)) for shade in (80, 160))


@dataclass(frozen=True, slots=True)
class Probed:
    """One ability, and whether the model showed it."""

    ability: Ability
    works: bool
    found: str
    """What the model answered, or why it did not, in a clause."""
    calls: tuple[Call, ...] = ()
    """The calls that were made for it, and paid."""


async def probe(model: Model) -> AsyncIterator[Probed]:
    """Ask `model` for each ability that it declares, one after another: about a request each."""
    for ability, ask in _PROBES.items():
        if ability in model.abilities:
            yield await _one(ability, ask, model)


async def decision_cost(
    model: Model, *, images: bool
) -> tuple[dict[str, JsonValue], Sequence[Call]]:
    """Have `model` decide among `CANDIDATES`, or as few as show what that costs.

    Args:
        model: to ask.
        images: whether with two images.

    Returns:
        The agent that decides so, and its numbers of candidates, images, requests and tokens; and
        what was asked for it, and paid.

    Raises:
        ModelError, RequestError: it can't.
    """
    shown = _IMAGES if images else ()
    asked = [Message("user", ("Goal: tidy up.\nNow:", *shown))]
    agent, times = "rank", 1
    if Ability.RANK not in model.abilities:
        agent = "chat"
        listed = "Answer with one of these actions.\n" + "\n".join(CANDIDATES)
        reply = await model.generate([Message("user", (listed, *shown))], max_tokens=_TOKENS)
        calls = [reply.call]
    else:
        calls = [(await model.rank(asked, CANDIDATES[:2])).call]
        if calls[0].requests > 1:  # one for each candidate
            times = len(CANDIDATES) // 2
        else:
            calls.append((await model.rank(asked, CANDIDATES)).call)
    requests, tokens = times * calls[-1].requests, times * calls[-1].tokens_in
    counts = {"candidates": len(CANDIDATES), "images": len(shown), "requests": requests}
    return {"agent": agent, **counts, "tokens": tokens}, calls


async def _one(
    ability: Ability, ask: Callable[[Model], Awaitable[tuple[bool, str, Call]]], model: Model
) -> Probed:
    try:
        works, found, call = await ask(model)
    except (ModelError, RequestError) as error:
        paid = error.decision.calls if isinstance(error, ModelError) else ()
        return Probed(ability, False, str(error), paid)
    notes = "".join(f"; {note}" for note in call.notes)
    return Probed(ability, works, found + notes, (call,))


async def _words(model: Model) -> tuple[bool, str, Call]:
    reply = await model.generate(_ASK, max_tokens=_TOKENS)
    thoughts = ", with reasoning apart" if reply.call.thoughts else ""
    return _said(reply, thoughts)


async def _images(model: Model) -> tuple[bool, str, Call]:
    red = np.zeros((_SIDE, _SIDE, 3), np.uint8)
    red[..., 0] = 220
    asked = Message("user", ("Which colour is this? Answer with one word.", Image(red)))
    if Ability.WORDS not in model.abilities:
        ranking = await model.rank([asked], ["red", "blue"])
        return True, "scores candidates with an image", ranking.call
    return _said(await model.generate([asked], max_tokens=_TOKENS), " to a red image")


async def _n_best(model: Model) -> tuple[bool, str, Call]:
    reply = await model.generate(_ASK, max_tokens=8, n=2)
    return True, f"{len(reply.texts)} answers in {reply.call.requests} requests", reply.call


async def _tools(model: Model) -> tuple[bool, str, Call]:
    asked = Message("user", ("Call the function look.",))
    reply = await model.generate([asked], max_tokens=_TOKENS, tools=[_TOOL])
    if reply.wants:
        return True, f"called {reply.wants[0].name}", reply.call
    return False, "takes tools, and called none when told to", reply.call


async def _schema(model: Model) -> tuple[bool, str, Call]:
    asked = Message("user", ("Write a long poem.",))
    reply = await model.generate([asked], max_tokens=_TOKENS, schema=_SCHEMA)
    try:
        held = json.loads(reply.texts[0])["action"] in ("wait", "go on")
    except (ValueError, TypeError, KeyError):
        held = False
    return held, "answers are held to it" if held else "ignored: it answered freely", reply.call


async def _letters(model: Model) -> tuple[bool, str, Call]:
    return _scored(await model.choose(_LETTERS, ["A", "B"]))


async def _rank(model: Model) -> tuple[bool, str, Call]:
    works, found, call = _scored(await model.rank(_LETTERS, ["open the door", "go on"]))
    return works, found + f"; {model.checked}" * bool(model.checked), call


async def _beam(model: Model) -> tuple[bool, str, Call]:
    return _scored(await model.beam(_LETTERS, ["open the door", "go on"], width=2))


_PROBES: dict[Ability, Callable[[Model], Awaitable[tuple[bool, str, Call]]]] = {
    Ability.WORDS: _words,
    Ability.IMAGES: _images,
    Ability.SCHEMA: _schema,
    Ability.TOOLS: _tools,
    Ability.N_BEST: _n_best,
    Ability.LOGPROBS: _letters,
    Ability.RANK: _rank,
    Ability.BEAM: _beam,
}


def _said(reply: Reply, more: str) -> tuple[bool, str, Call]:
    text = " ".join(reply.texts[0].split())[:40]
    if text:
        return True, f"answered {text!r}{more}", reply.call
    if reply.call.finish == "length":
        return (
            True,
            f"used up {_TOKENS} tokens on reasoning: give it a large max_tokens",
            reply.call,
        )
    return False, f"answered nothing{more}", reply.call


def _scored(ranking: Ranking) -> tuple[bool, str, Call]:
    named = ", ".join(f"{one.text!r} {one.logprob:.2f}" for one in ranking.scores)
    finite: Sequence[float] = [one.logprob for one in ranking.scores if one.logprob > -np.inf]
    return bool(finite), f"log-probabilities: {named}", ranking.call
