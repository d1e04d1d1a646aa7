"""The base of agents that use a model, and records of calls when one fails."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Awaitable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Generic, TypeVar

from inhabit.agents.core import Agent, Call, CutShortError, Decision, ModelError, View
from inhabit.agents.dialogue.frames import frames_of, pictures
from inhabit.agents.dialogue.prompt import Prompt, PromptSettings
from inhabit.agents.models.core import Ability, Image, Message, Model, Ranking
from inhabit.envs.core import SimulatorError


@contextmanager
def calls_kept_on_error(calls: Sequence[Call], messages: Iterable[Message]) -> Iterator[None]:
    """Attach `calls`, and the images in `messages`, to an error raised in the block.

    Raises:
        ModelError: as in the block; its `decision` holds the calls.
        CutShortError: the simulator failed in the block, and there had been calls.
    """
    try:
        yield
    except ModelError as error:
        _add(error, calls, messages)
        raise
    except SimulatorError as error:
        if not calls:
            raise
        said = Decision(None, calls=tuple(calls), images=pictures(messages))
        raise CutShortError(error, said) from error


async def gather_rankings(asked: Iterable[Awaitable[Ranking]]) -> list[Ranking]:
    """Await several rankings concurrently. If one fails, the others are still awaited.

    Raises:
        ModelError: one failed. Its `decision` holds the calls of all that did not.
    """
    came = await asyncio.gather(*asked, return_exceptions=True)
    rankings = [one for one in came if isinstance(one, Ranking)]
    for one in came:
        if isinstance(one, ModelError):
            _add(one, [ranking.call for ranking in rankings], ())
        if isinstance(one, BaseException):
            raise one
    return rankings


def _add(error: ModelError, calls: Sequence[Call], messages: Iterable[Message]) -> None:
    """Put `calls`, which came before, into the decision of `error`."""
    said = error.decision or Decision(None)
    shown = {**pictures(messages), **said.images}
    error.decision = replace(said, calls=(*calls, *said.calls), images=shown)


def seed_of(text: str) -> int:
    """A seed for a model's samples, the same in every process."""
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:4]) >> 1


class ModelAgent(Agent):
    """An agent with one model, which it closes at the end."""

    def __init__(self, model: Model) -> None:
        self._model = model

    def check_budget(self) -> None:
        """Raises BudgetError where the model has nothing left to spend."""
        self._model.check_budget()

    async def close(self) -> None:
        """Close the model."""
        await self._model.close()


S = TypeVar("S", bound=PromptSettings)


class ScoringAgent(ModelAgent, Generic[S]):
    """An agent whose model scores or writes one action after the prompt `rank`."""

    def __init__(self, model: Model, settings: S) -> None:
        super().__init__(model)
        self._settings = settings
        self._prompt = Prompt("rank", settings=settings)

    def _asked(self, view: View, texts: Sequence[str]) -> tuple[Message, ...]:
        """The prompt for `view`, whose candidates are `texts`."""
        sees = Ability.IMAGES in self._model.abilities
        return self._prompt.messages(view, images=sees, choices=texts)

    async def _detected(self, view: View) -> str:
        """What the model detects in the present images."""
        if Ability.IMAGES not in self._model.abilities:
            return ""
        frames = frames_of(view.observation, self._settings.keyframes)
        return await self._model.detected([Image(frame) for frame in frames])
