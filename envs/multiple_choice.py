"""What every benchmark of single choices shares: options, one of them right, one step."""

from __future__ import annotations

import hashlib
import json
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pydantic import JsonValue

from inhabit.envs.core import Action, Determinism, Env, Outcome, Reason, TaskError


def json_list(file: Path) -> list[Any]:
    """The items of a JSON file that is one list, nothing checked in them. A byte-order mark is
    passed over.

    Raises:
        TaskError: it can't be read, is no JSON, or no list.
    """
    try:
        found = json.loads(file.read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise TaskError(f"{file} can't be read: {error.strerror}.") from error
    except (ValueError, RecursionError) as error:
        raise TaskError(f"{file} is no JSON: {error}.") from error
    if not isinstance(found, list):
        raise TaskError(f"{file} is no list of records.")
    return found


_CHOOSE = "choose"


class MultipleChoice(Env):
    """Some options, one choice: right or wrong, the episode is over."""

    determinism = Determinism.FRAMES

    def __init__(self) -> None:
        self._chosen: str | None = None

    @property
    @abstractmethod
    def options(self) -> Sequence[str]:
        """What there is to choose from, all different, in the benchmark's order."""

    @property
    @abstractmethod
    def answer(self) -> str:
        """The right one."""

    def begin(self) -> None:
        """Forget what was chosen: for `reset`."""
        self._chosen = None

    def vocabulary(self) -> Sequence[Action]:
        """The options."""
        return [Action(text, _CHOOSE) for text in self.options]

    def actions(self) -> Sequence[Action]:
        """The same."""
        return self.vocabulary()

    def parse(self, text: str) -> Action | None:
        """The option in these words; case, space and a full stop don't matter."""
        said = _plain(text)
        exact = [option for option in self.options if option == text.strip()]
        alike = [option for option in self.options if said and _plain(option) == said]
        return Action((exact or alike)[0], _CHOOSE) if exact or alike else None

    def act(self, action: Action) -> Outcome:
        """Choose. Only the first choice counts."""
        if action.text not in self.options:
            return Outcome(
                Reason.UNKNOWN_ACTION,
                "That is none of the options.",
                *self.progress(),
                over=self._chosen is not None,
                cost=0,
            )
        if self._chosen is None:
            self._chosen = action.text
        met, total = self.progress()
        return Outcome(None, "That is right." if met else "That is wrong.", met, total, over=True)

    def progress(self) -> tuple[int, int]:
        """Whether the right option was chosen."""
        return int(self._chosen == self.answer), 1

    def close(self) -> None:
        """Nothing to let go of."""

    def plan(self) -> Sequence[Action]:
        """The right option."""
        return self.only(self.answer)

    def best_actions(self) -> frozenset[Action]:
        """The right option, and no other."""
        return frozenset(self.only(self.answer))

    def only(self, option: str | None) -> Sequence[Action]:
        """The plan that is a single choice; none where it is made already, or unknown."""
        return [] if option is None or self._chosen is not None else [Action(option, _CHOOSE)]

    def state(self) -> Mapping[str, JsonValue]:
        """What was chosen, and what is right."""
        return {"chosen": self._chosen, "answer": self.answer}

    def digest(self) -> str:
        """Sixteen hexadecimal digits of the state."""
        text = json.dumps(self.state(), sort_keys=True)
        return hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()[:16]

    def admissible(self) -> Sequence[Action]:
        """Every option can be chosen."""
        return self.vocabulary()


def _plain(text: str) -> str:
    return " ".join(text.lower().split()).strip(" .\"'")
