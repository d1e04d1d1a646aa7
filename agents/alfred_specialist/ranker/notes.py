"""The prompt of a small model: short notes that hold all it has to remember of an episode.

A small model can't use a long history. So its prompt consists of the goal, the kinds of objects
seen so far, the actions with their results, and the kinds of objects in view. Kinds may come from
a vision model or from the environment's text, so a model trained on one can be used with the other.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache

from inhabit.agents.alfred_specialist.reading.reading import Reading
from inhabit.agents.core import Step, View
from inhabit.agents.dialogue.synonyms import surface_forms
from inhabit.agents.models.core import Message

Detections = Mapping[str, float]
"""Kinds of objects, each with a confidence, 0..1."""

SURE, MAYBE = 0.5, 0.2
"""Confidence at which a detection is believed and named; and at which it is worth a try, and named
with a question mark."""
_NAME = re.compile(r"\b([a-z][a-z \-]*)_\d+\b")
_SENTENCE = re.compile(r"[^.!?]+[.!?]?")
_STEPS = 60
_PLACES = frozenset(
    """armchair, bathtub, bed, box, butter knife, cabinet, chair, coffee machine, coffee table,
    countertop, desk, desk lamp, dining table, dog bed, drawer, dresser, faucet, floor lamp,
    footstool, fridge, garbage can, hand towel holder, knife, laundry hamper, microwave, ottoman,
    safe, shelf, shelving unit, side table, sink, sofa, stool, stove burner, toaster, toilet,
    toilet paper hanger, towel holder, tv stand""".replace("\n    ", " ").split(", ")
)
"""Kinds that are listed whatever the goal: receptacles, appliances and tools of a household.
Other kinds are listed only if the goal mentions them."""


def mentioned_kinds(text: str) -> Detections:
    """The kinds of the things that an environment names: "mug_2" is a mug, and sure."""
    return {name.strip(): 1.0 for name in _NAME.findall(text)}


def messages(
    view: View,
    earlier: Sequence[Detections],
    current: Detections,
    reading: Reading | None,
) -> tuple[Message, ...]:
    """The prompt for `view`, with what was seen before each earlier step, and is seen now."""
    goal = view.goal if reading is None else " ".join([view.goal, *reading.nouns])
    lines = [
        f"Goal: {_line(view.goal)}",
        f"Seen: {_line(', '.join(_listed(_best([*earlier, current]), goal))) or 'nothing'}",
        f"Done: {_line('; '.join(map(outcome, view.history[-_STEPS:]))) or 'nothing'}",
        f"Here: {_line(', '.join(_listed(current, goal))) or 'nothing'}",
    ]
    if reading is not None:
        parts = [reading.task, *(noun or "-" for noun in reading.nouns)]
        lines.append(f"Read as: {_line('; '.join(parts))}")
    lines += filter(None, [_line(_unnumbered(view.observation.text))])
    told = "\n".join(lines).strip()
    return Message("system", ("Say the next action.",)), Message("user", (told,))


def _line(text: str) -> str:
    """Put a text on one line, so that untrusted text can't imitate a line of the notes."""
    return " ".join(text.split())


def _best(sightings: Iterable[Detections]) -> Detections:
    found: dict[str, float] = {}
    for sighting in sightings:
        for kind, sure in sighting.items():
            found[kind] = max(sure, found.get(kind, 0.0))
    return found


def _listed(sighting: Detections, goal: str) -> Sequence[str]:
    """Kinds that the goal mentions, then places; with a question mark where uncertain."""
    named = sorted((_names(kind).search(goal.lower()) is None, kind) for kind in sighting)
    return [
        kind if sighting[kind] >= SURE else f"{kind}?"
        for other, kind in named
        if sighting[kind] >= MAYBE and (not other or kind in _PLACES)
    ]


@lru_cache(maxsize=1024)
def _names(kind: str) -> re.Pattern[str]:
    return re.compile(rf"\b(?:{'|'.join(map(re.escape, surface_forms(kind)))})\b")


def outcome(step: Step) -> str:
    """A step and its result in a few words: "open cabinet_2", "go to mug: not found"."""
    if step.reason is not None:
        return f"{step.action.replace('the ', '')}: {step.reason.value.replace('_', ' ')}"
    if not _NAME.search(step.feedback):
        return step.action.replace("the ", "")
    said = step.feedback.strip().rstrip(".").replace("the ", "").removeprefix("You ")
    return said.removeprefix("are ")


def _unnumbered(text: str) -> str:
    """The sentences that list no objects: those are listed elsewhere in the notes."""
    sentences = _SENTENCE.findall(text)
    return "".join(s for s in sentences if not _NAME.search(s) and ":" not in s).strip()
