"""From a model's words to what an agent does about them."""

from __future__ import annotations

from dataclasses import dataclass

from agents.answer import Answer, read_answer
from agents.choices import Choices, Meaning, Problem
from agents.core import Decision, View
from agents.models.core import Message
from agents.prompt import Template


@dataclass(frozen=True, slots=True)
class Reading:
    """An answer, taken apart, and what its action means."""

    raw: str
    answer: Answer
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
        return Reading(text, Answer(""), Meaning(problem=Problem.NO_ACTION))
    return Reading(text, answer, await choices.understand(answer.action, view.parse))


class Repair:
    """Asks for another answer, and says what was wrong with the last one."""

    def __init__(self) -> None:
        self._template = Template("repair")

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
