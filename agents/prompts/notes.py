"""What a small model is told of an episode: a few lines that hold all that it has to remember.

A model of a hundred million weights can't find its way in a long history. So its prompt is short:
the goal, what was seen at any time, what was done and what came of it, and what is here. Eyes and
environments alike are taken at the kinds of things that they name, so that a model which was taught
on words of the one can go on with words of the other.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache

from inhabit.agents.answers.synonyms import surface_forms
from inhabit.agents.core import Step, View
from inhabit.agents.models.core import Message
from inhabit.agents.prompts.prompt import PromptTemplate

Detections = Mapping[str, float]
"""Kinds of things, and how sure it is that they are there, 0..1."""

SURE, MAYBE = 0.5, 0.2
"""From where on a kind is named, and named with a question mark."""
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
"""What is worth knowing of in a household whatever the goal: where things are kept, and what they
are treated with. All else is told of if the goal speaks of it."""


def mentioned_kinds(text: str) -> Detections:
    """The kinds of the things that an environment names: "mug_2" is a mug, and sure."""
    return {name.strip(): 1.0 for name in _NAME.findall(text)}


class Notes:
    """Writes prompts."""

    def __init__(self) -> None:
        """Read the template."""
        self._template = PromptTemplate("notes")

    def messages(
        self, view: View, earlier: Sequence[Detections], current: Detections
    ) -> tuple[Message, ...]:
        """The prompt for `view`.

        Args:
            view: the moment.
            earlier: what was seen before each step of its history.
            current: what is seen now.
        """
        said = self._template.block(
            "user",
            goal=view.goal,
            seen=_listed(_best([*earlier, current]), view.goal),
            steps=[_outcome(step) for step in view.history[-_STEPS:]],
            here=_listed(current, view.goal),
            known=_unnumbered(view.observation.text),
        )
        return Message("system", (self._template.block("system"),)), Message("user", (said,))


def _best(sightings: Iterable[Detections]) -> Detections:
    found: dict[str, float] = {}
    for sighting in sightings:
        for kind, sure in sighting.items():
            found[kind] = max(sure, found.get(kind, 0.0))
    return found


def _listed(sighting: Detections, goal: str) -> Sequence[str]:
    """What the goal speaks of, then places; with a question mark what is not sure."""
    named = sorted((not _speaks_of(goal, kind), kind) for kind in sighting)
    return [
        kind if sighting[kind] >= SURE else f"{kind}?"
        for other, kind in named
        if sighting[kind] >= MAYBE and (not other or kind in _PLACES)
    ]


def _speaks_of(goal: str, kind: str) -> bool:
    """Whether a kind stands in the goal, whatever it is called there."""
    return _names(kind).search(goal.lower()) is not None


@lru_cache(maxsize=1024)
def _names(kind: str) -> re.Pattern[str]:
    return re.compile(rf"\b(?:{'|'.join(map(re.escape, surface_forms(kind)))})\b")


def _outcome(step: Step) -> str:
    """What came of a step in a few words: "open cabinet_2", "go to mug: not found"."""
    if step.reason is not None:
        return f"{step.action.replace('the ', '')}: {step.reason.value.replace('_', ' ')}"
    if not _NAME.search(step.feedback):
        return step.action.replace("the ", "")
    said = step.feedback.strip().rstrip(".").replace("the ", "").removeprefix("You ")
    return said.removeprefix("are ")


def _unnumbered(text: str) -> str:
    """The sentences that list no things: what is seen is said elsewhere."""
    sentences = _SENTENCE.findall(text)
    return "".join(s for s in sentences if not _NAME.search(s) and ":" not in s).strip()
