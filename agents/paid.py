"""What had been answered, and paid for, by the time a model failed: a record shows that too."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Iterable, Sequence
from dataclasses import replace

from agents.core import Call, Decision, ModelError
from agents.models.core import Message, Ranking
from agents.prompt import pictures


def add_paid(error: ModelError, calls: Sequence[Call], messages: Iterable[Message]) -> None:
    """Have `error` say that `calls` had been answered before, about the pictures in `messages`."""
    said = error.decision or Decision(None)
    shown = {**pictures(messages), **said.images}
    error.decision = replace(said, calls=(*calls, *said.calls), images=shown)


async def all_rankings(asked: Iterable[Awaitable[Ranking]]) -> list[Ranking]:
    """What comes of asking several things at once. Where one fails, the others are waited for.

    Raises:
        ModelError: one failed. Its `decision` holds the calls of all that did not.
    """
    came = await asyncio.gather(*asked, return_exceptions=True)
    rankings = [one for one in came if isinstance(one, Ranking)]
    for one in came:
        if isinstance(one, ModelError):
            add_paid(one, [ranking.call for ranking in rankings], ())
        if isinstance(one, BaseException):
            raise one
    return rankings
