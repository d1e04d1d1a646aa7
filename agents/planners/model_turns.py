"""Several turns with a model for one decision. All calls are recorded, even if one fails."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace

from pydantic import JsonValue

from inhabit.agents.core import Call, Decision, View
from inhabit.agents.dialogue.frames import pictures
from inhabit.agents.models.core import Message, Model, Ranking, Reply, ToolCall
from inhabit.agents.planners.model_agent import calls_kept_on_error, seed_of


class Dialogue:
    """The messages so far, and the calls behind them."""

    def __init__(self, model: Model, opening: Sequence[Message], view: View) -> None:
        """Begin with the messages of `opening`. Seeds derive from the seed and step of `view`."""
        self._model = model
        self._messages = list(opening)
        self._calls: list[Call] = []
        self._seed_text = f"{view.seed} {len(view.history)}"

    async def ask(
        self,
        *,
        n: int = 1,
        tools: Sequence[Mapping[str, JsonValue]] = (),
        schema: Mapping[str, JsonValue] | None = None,
        call_tools: bool = True,
    ) -> Reply:
        """Generate the next turn; the best reply is appended to the dialogue.

        The arguments are those of `inhabit.agents.models.core.Model.generate`.

        Raises:
            ModelError: the call failed.
        """
        seed = seed_of(f"{self._seed_text} {len(self._calls)}")
        reply = await self._model.generate(
            self._messages, seed=seed, n=n, tools=tools, schema=schema, call_tools=call_tools
        )
        self._calls.append(reply.call)
        # Calls of tools that were not offered get no answer.
        wants = tuple(_repeatable(want) for want in reply.wants if tools and call_tools)
        said = tuple(text for text in reply.texts[:1] if text)
        fields = reply.fields if wants else {}
        self._messages.append(Message("assistant", said, wants=wants, fields=fields))
        return reply

    async def choose(self, letters: Sequence[str]) -> Ranking:
        """How likely the model's whole answer is each of `letters`.

        Raises:
            ModelError: the call failed.
        """
        ranking = await self._model.choose(self._messages, letters)
        self._calls.append(ranking.call)
        return ranking

    def tell(self, *messages: Message) -> None:
        """Append messages, before the model is called again."""
        self._messages += messages

    def calls_kept_on_error(self) -> AbstractContextManager[None]:
        """A block whose errors carry every call so far: see
        `inhabit.agents.planners.model_agent.calls_kept_on_error`.
        """
        return calls_kept_on_error(self._calls, self._messages)

    def record(self, decision: Decision) -> Decision:
        """`decision` with all calls, and the images in them."""
        return replace(decision, calls=tuple(self._calls), images=pictures(self._messages))


def _repeatable(want: ToolCall) -> ToolCall:
    """The tool call as it is sent back: endpoints refuse arguments that are no JSON object, even
    those that the model generated.
    """
    try:
        whole = isinstance(json.loads(want.arguments), dict)
    except (ValueError, RecursionError):
        whole = False
    return want if whole else replace(want, arguments="{}")
