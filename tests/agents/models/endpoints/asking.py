"""Asking the model behind an endpoint, as tests do it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

from inhabit.agents.models.core import Message, Model
from inhabit.agents.models.endpoints.settings import OpenAISettings
from inhabit.agents.models.registry import load
from tests.agents.models.endpoints.endpoint import Answer, Endpoint

T = TypeVar("T")

ASK = [Message("system", ("Be brief.",)), Message("user", ("Who {are} you?",))]
# Patient, since an answer may be late on a busy machine; a test of silence waits less.
QUICK = {"backoff": 0.01, "attempts": 3, "timeout": 20}


def ask(serving: Endpoint, what: Callable[[Model], Awaitable[T]], **settings: Any) -> T:
    """What comes of asking the model behind an endpoint."""

    async def asked() -> T:
        model = load("openai:m", OpenAISettings(base_url=serving.base_url, **QUICK | settings))
        try:
            return await what(model)
        finally:
            await model.close()

    return asyncio.run(asked())


def say(model: Model) -> Awaitable[Any]:
    return model.generate(ASK)


def one_after_another(*answers: Answer) -> Callable[[dict[str, Any], int], Answer]:
    return lambda request, number: answers[min(number, len(answers) - 1)]
