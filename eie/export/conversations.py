"""Examples and demonstrations as conversations: questions with images, answers with actions.

The asked answer is the one of PCA-Bench's tuned models (what is seen, why, what to do), as the
object that `inhabit.agents.dialogue.answer` reads, so that a model tuned on it acts in a run as it
is.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from string import ascii_uppercase

from inhabit.eie.checking.splits import Split
from inhabit.eie.examples.example import Example, Past
from inhabit.eie.export.demonstrations import Demonstration, DemonstrationStep
from inhabit.eie.export.files import ExportImage, picture

LAST = 4
"""Steps of the past that are told: as many clips as EgoPlan-Bench shows."""
_ASKED = (
    'Answer with a JSON object: "description" (what the picture shows that matters), "reasoning" '
    '(what follows from it) and "action" (in the words of the list).'
)
_ASKED_ACTION = "What should be done next? Answer with the action alone."


@dataclass(frozen=True, slots=True)
class Conversation:
    """One question, with the images where they stand, and its answer."""

    id: str
    split: Split
    question: tuple[str | ExportImage, ...]
    answer: str
    example: Example | None = None
    """What it was made of; None for a step of a demonstration."""

    @property
    def pictures(self) -> tuple[ExportImage, ...]:
        """Those of the question, in their order."""
        return tuple(part for part in self.question if isinstance(part, ExportImage))


def of_examples(examples: Iterable[Example], folder: Path) -> Iterator[Conversation]:
    """A conversation for each example of the set in `folder`.

    Raises:
        RecordError: an example names an image that is none of the set's.
    """
    for example in examples:
        past = [part for one in example.history[-LAST:] for part in _past(one, folder)]
        now = picture(folder, example.image)
        words = (example.question, lettered(example.candidates), _ASKED)
        yield Conversation(
            id=example.id,
            split=example.split,
            question=(*past, now, "\n".join(words)),
            answer=_answer(example),
            example=example,
        )


def of_demonstrations(demonstrations: Iterable[Demonstration]) -> Iterator[Conversation]:
    """A conversation for each step that worked, all of them to train on."""
    for demonstration in demonstrations:
        for place, step in enumerate(demonstration.steps):
            if step.worked:
                yield Conversation(
                    id=f"{demonstration.number:05d}-{place:04d}",
                    split="train",
                    question=tuple(_moment(demonstration, place)),
                    answer=step.action,
                )


def lettered(candidates: Sequence[str]) -> str:
    """The candidates, a line each: "A. open the fridge_1"."""
    letters = (*ascii_uppercase, *map(str, range(len(ascii_uppercase), len(candidates))))
    return "\n".join(f"{letter}. {text}" for letter, text in zip(letters, candidates, strict=False))


def _answer(example: Example) -> str:
    return json.dumps(
        {
            "description": f"What matters here: {', '.join(example.key_concepts)}.",
            "reasoning": example.reason,
            "action": example.candidates[example.answer],
        },
        ensure_ascii=False,
    )


def _past(past: Past, folder: Path) -> Iterator[str | ExportImage]:
    if past.image is not None:
        yield picture(folder, past.image)
    # What was done in a video is not told: it is what is asked.
    if past.action:
        yield _told(past.action, past.feedback, failed=past.failed)


def _moment(demonstration: Demonstration, place: int) -> Iterator[str | ExportImage]:
    for step in demonstration.steps[max(0, place - LAST) : place]:
        yield step.seen
        yield _told(step.action, step.feedback, failed=not step.worked)
    now: DemonstrationStep = demonstration.steps[place]
    yield now.seen
    yield "\n".join(
        line for line in (f"Goal: {demonstration.task.goal}", now.text, _ASKED_ACTION) if line
    )


def _told(action: str, feedback: str, *, failed: bool) -> str:
    tried = "You tried" if failed else "You did"
    return f"{tried}: {action}. {feedback}".rstrip() + "\n"
