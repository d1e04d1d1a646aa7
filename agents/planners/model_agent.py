"""An agent that asks a model."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace

from inhabit.agents.core import Agent, Call, CutShortError, Decision, ModelError
from inhabit.agents.models.core import Message, Model, Ranking
from inhabit.agents.prompts.prompt import pictures
from inhabit.envs.core import SimulatorError


@contextmanager
def calls_kept_on_error(calls: Sequence[Call], messages: Iterable[Message]) -> Iterator[None]:
    """Whatever fails in the block tells of `calls`, as they are by then, about the pictures in
    `messages`.

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
    """What comes of asking several things at once. Where one fails, the others are waited for.

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
    """Have `error` say that `calls` had been answered before."""
    said = error.decision or Decision(None)
    shown = {**pictures(messages), **said.images}
    error.decision = replace(said, calls=(*calls, *said.calls), images=shown)


class ModelAgent(Agent):
    """Has one model, whose budget is its own, and which it lets go of in the end."""

    def __init__(self, model: Model) -> None:
        """Ask `model`."""
        self._model = model

    def check_budget(self) -> None:
        """Raises BudgetError where the model has nothing left to spend."""
        self._model.check_budget()

    async def close(self) -> None:
        """Let go of the model."""
        await self._model.close()
