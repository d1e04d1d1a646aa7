"""Examples and demonstrations as conversations: the prompt that `chat` is sent, and the answer.

A model that is tuned on them meets the same words in a run: with its default settings where an
answer has a description and a reasoning, as those of examples have, and with `reason=false` where
it is the action alone.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from inhabit.agents.core import Step, View
from inhabit.agents.dialogue.prompt import ChatAnswerSettings, ChatPrompt, Prompt, chat_system
from inhabit.agents.models.core import Message
from inhabit.eie.checking.splits import Split
from inhabit.eie.examples.example import Example
from inhabit.eie.examples.view import facts_of, question_of, view_of
from inhabit.eie.export.demonstrations import Demonstration
from inhabit.eie.export.distinct import ComparedRow
from inhabit.eie.export.export import RunSource, SetSource
from inhabit.eie.export.files import ExportImage, picture
from inhabit.envs.core import Action, Observation


class Placeholders:
    """Stand for the images of one prompt: each is one pixel, whose value is its number."""

    def __init__(self) -> None:
        self._files: list[ExportImage] = []

    def add(self, shown: ExportImage) -> NDArray[np.uint8]:
        """What stands for `shown`, (1, 1, 3)."""
        self._files.append(shown)
        number = (len(self._files) - 1).to_bytes(3, "big")
        return np.frombuffer(number, np.uint8).reshape(1, 1, 3)

    def parts(self, message: Message) -> tuple[str | ExportImage, ...]:
        """The parts of `message` with the files in place of what stands for them."""
        return tuple(
            part
            if isinstance(part, str)
            else self._files[int.from_bytes(part.rgb.tobytes(), "big")]
            for part in message.parts
        )

    def replaced(self, messages: Sequence[Message]) -> tuple[str, tuple[str | ExportImage, ...]]:
        """The text of the first message, of the system, and the parts of the second."""
        system, user = messages
        return "".join(map(str, system.parts)), self.parts(user)


LAST = 4
"""Past images of a row that has any: as many clips as EgoPlan-Bench shows."""


@dataclass(frozen=True, slots=True)
class Conversation:
    """One prompt, with the images where they stand, and its answer."""

    id: str
    split: Split
    system: str
    question: tuple[str | ExportImage, ...]
    answer: str
    right: str
    """The action of the answer, in words."""
    example: Example | None = None
    """What the conversation was made of; None for a step of a demonstration."""

    @property
    def pictures(self) -> tuple[ExportImage, ...]:
        """Images of the question, in their order."""
        return tuple(part for part in self.question if isinstance(part, ExportImage))


class Conversations:
    """Makes conversations."""

    def __init__(self, past: int = 0) -> None:
        """Show images of earlier steps as the setting `pictures` of `chat` does for `past`."""
        settings = ChatAnswerSettings(pictures=past)
        self._chat = ChatPrompt(settings, sees=True)
        self._system = {
            reason: chat_system(settings.model_copy(update={"reason": reason}), sees=True)
            for reason in (True, False)
        }
        self._question = Prompt("question")

    def of_examples(self, examples: Iterable[Example], folder: Path) -> Iterator[Conversation]:
        """A conversation for each example of the set in `folder`.

        Raises:
            RecordError: an example names an image that is none of the set's.
        """
        for example in examples:
            system, question = self._of_example(example, folder)
            answer = example.right
            if example.kind != "recognition":
                # Sets of earlier versions do not tell the two apart.
                seen = example.seen or f"{', '.join(example.key_concepts).capitalize()}."
                answer = _answer(seen, example.reason.removeprefix(example.seen).strip(), answer)
            yield Conversation(
                example.id, example.split, system, question, answer, example.right, example
            )

    def of_demonstrations(self, demonstrations: Iterable[Demonstration]) -> Iterator[Conversation]:
        """A conversation for each step that worked, all of them to train on."""
        for demonstration in demonstrations:
            shown = Placeholders()
            history: list[Step] = []
            for place, step in enumerate(demonstration.steps):
                now = Observation(step.text, shown.add(step.seen))
                if step.worked:
                    reasons = bool(step.description and step.reasoning)
                    candidates = tuple(Action(text, verb="") for text in step.candidates)
                    view = View(demonstration.task.goal, now, candidates, tuple(history))
                    asked = shown.replaced(self._messages(view, reasons))
                    answer = step.action
                    if reasons:
                        answer = _answer(step.description, step.reasoning, step.action)
                    number = f"{demonstration.number:05d}-{place:04d}"
                    yield Conversation(number, "train", *asked, answer, step.action)
                history.append(Step(step.action, step.reason, step.feedback, now.rgb, step.text))

    def _of_example(
        self, example: Example, folder: Path
    ) -> tuple[str, tuple[str | ExportImage, ...]]:
        shown = Placeholders()

        def look(name: str) -> NDArray[np.uint8]:
            return shown.add(picture(folder, name))

        if example.kind == "recognition":
            return shown.replaced(question_of(example, look, self._question))
        view, facts = view_of(example, look, past=True), facts_of(example)
        if example.kind == "photograph":
            view, facts = replace(view, goal=example.question), ()
        return shown.replaced(self._messages(view, True, facts))

    def _messages(self, view: View, reasons: bool, facts: Sequence[str] = ()) -> Sequence[Message]:
        choices = self._chat.choices(view)
        return self._chat.messages(self._system[reasons], view, choices, facts)


def kept(
    source: RunSource | SetSource, past: int, fits: Callable[[Conversation], bool] = lambda _: True
) -> Iterator[Conversation]:
    """The conversations of `source` that are to be written.

    Images of earlier steps are `past` at least, and fewer than twice as many. `fits` says which
    conversations the format can hold.
    """
    made = Conversations(past)

    def rows() -> Iterator[Conversation]:
        if isinstance(source, RunSource):
            return made.of_demonstrations(source)
        return made.of_examples(source, source.opened.folder)

    source.left_out.counts["images"] = sum(not fits(one) for one in rows())
    return source.left_out.kept(lambda: filter(fits, rows()), _describe)


def _describe(one: Conversation) -> ComparedRow:
    words = tuple(part for part in one.question if isinstance(part, str))
    video = one.example is not None and one.example.kind == "recognition"
    return ComparedRow(one.split, words, one.pictures, one.right, video)


def _answer(description: str, reasoning: str, action: str) -> str:
    parts = {"description": description, "reasoning": reasoning, "action": action}
    return json.dumps(parts, ensure_ascii=False)
