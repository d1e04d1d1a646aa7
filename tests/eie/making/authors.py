"""Authors for tests: careless ones, around the one that is built in."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from inhabit.eie.making.author import (
    Author,
    AuthorReply,
    AuthorRequest,
    Procedural,
    SilentAuthorError,
)

Mutation = Callable[[dict[str, Any], random.Random], dict[str, Any] | None]


class Clumsy(Author):
    """Every third answer is broken JSON, and every tenth does not come."""

    name = "clumsy"
    takes_feedback = True

    def __init__(self, inner: Procedural) -> None:
        self._inner = inner

    async def propose(self, request: AuthorRequest) -> AuthorReply:
        if request.number % 10 == 9:
            raise SilentAuthorError("It is asleep.", {"in": 7})
        answer = await self._inner.propose(request)
        tokens: Mapping[str, int] = {"in": 10, "out": 5}
        if request.number % 3 == 0:
            return AuthorReply('{"goal": "Put the cup', answer.name, tokens=tokens)
        return replace(answer, tokens=tokens)


class Silent(Author):
    """Never answers."""

    name = "silent"

    async def propose(self, request: AuthorRequest) -> AuthorReply:
        raise SilentAuthorError("It is gone.")
