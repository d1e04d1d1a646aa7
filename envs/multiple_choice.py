"""The base of multiple-choice benchmarks: options, one right answer, one step."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Generic, Protocol, TypeVar

from pydantic import JsonValue

from inhabit.envs.core import Action, Determinism, Env, Outcome, Reason, TaskError
from inhabit.envs.plain_data import state_digest


def json_list(file: Path) -> list[Any]:
    """The items of a JSON file that holds one list, unchecked. A byte-order mark is ignored.

    NaN, which JSON has not, is read as null.

    Raises:
        TaskError: it cannot be read, is not JSON, or is not a list.
    """
    try:
        text = file.read_text(encoding="utf-8-sig")
        found = json.loads(text, parse_constant=lambda _: None)
    except OSError as error:
        raise TaskError(f"Can't read {file}: {error.strerror}.") from error
    except (ValueError, RecursionError) as error:
        raise TaskError(f"{file} is not valid JSON: {error}.") from error
    if not isinstance(found, list):
        raise TaskError(f"{file} is not a list of records.")
    return found


_CHOOSE = "choose"


class QuestionScene(Protocol):
    """What the scene of a question has to tell."""

    @property
    def actions(self) -> tuple[str, ...]:
        """The options."""
        ...

    @property
    def answer(self) -> int:
        """Index of the right option."""
        ...


Q = TypeVar("Q", bound=QuestionScene)


def answer_is_an_option(scene: Q) -> Q:
    """See that a question has its answer among its options, none of them empty or given twice.

    Raises:
        ValueError: it has not.
    """
    if scene.answer >= len(scene.actions):
        raise ValueError(f"the answer {scene.answer} is none of {len(scene.actions)} options")
    if not all(option.strip() for option in scene.actions):
        raise ValueError("an option is empty")
    if len(set(scene.actions)) < len(scene.actions):
        raise ValueError("two of the options are the same")
    return scene


class MultipleChoice(Env, Generic[Q]):
    """A multiple-choice question. The episode ends with the choice."""

    determinism = Determinism.FRAMES

    def __init__(self, scene: Q) -> None:
        self._scene = scene
        self._chosen: str | None = None

    @property
    def options(self) -> Sequence[str]:
        """The options in the benchmark's order, all different."""
        return self._scene.actions

    @property
    def answer(self) -> str:
        """The right option."""
        return self._scene.actions[self._scene.answer]

    def begin(self) -> None:
        """Forget the choice; call it from `reset`."""
        self._chosen = None

    def vocabulary(self) -> Sequence[Action]:
        """The options."""
        return [Action(text, _CHOOSE) for text in self.options]

    def actions(self) -> Sequence[Action]:
        """The options."""
        return self.vocabulary()

    def parse(self, text: str) -> Action | None:
        """The option with this text; case, spaces and a final full stop are ignored."""
        said = _plain(text)
        exact = [option for option in self.options if option == text.strip()]
        alike = [option for option in self.options if said and _plain(option) == said]
        return Action((exact or alike)[0], _CHOOSE) if exact or alike else None

    def act(self, action: Action) -> Outcome:
        """Choose an option. Only the first choice counts."""
        if action.text not in self.options:
            said, over = "That is none of the options.", self._chosen is not None
            return self.outcome(Reason.UNKNOWN_ACTION, said, cost=0, over=over)
        if self._chosen is None:
            self._chosen = action.text
        said = "That is right." if self._chosen == self.answer else "That is wrong."
        return self.outcome(None, said, over=True)

    def progress(self) -> tuple[int, int]:
        """Whether the right option was chosen."""
        return int(self._chosen == self.answer), 1

    def close(self) -> None:
        """Nothing to release."""

    def plan(self) -> Sequence[Action]:
        """The right option."""
        return self.only(self.answer)

    def best_actions(self) -> frozenset[Action]:
        """The right option."""
        return frozenset(self.only(self.answer))

    def only(self, option: str | None) -> Sequence[Action]:
        """The plan of choosing an option; empty if the choice was made, or `option` is None."""
        return [] if option is None or self._chosen is not None else [Action(option, _CHOOSE)]

    def state(self) -> Mapping[str, JsonValue]:
        """The chosen and the right option."""
        return {"chosen": self._chosen, "answer": self.answer}

    def digest(self) -> str:
        """The first 16 hexadecimal digits of the state's SHA-256."""
        return state_digest(self.state())

    def admissible(self) -> Sequence[Action]:
        """All options."""
        return self.vocabulary()


def _plain(text: str) -> str:
    return " ".join(text.lower().split()).strip(" .\"'")
