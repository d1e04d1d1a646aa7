"""What agents that ask a model share: their base, and turns whose calls are all recorded."""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import Awaitable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from typing import Generic, TypeVar

from pydantic import JsonValue

from inhabit.agents.core import Agent, Call, CutShortError, Decision, ModelError, View
from inhabit.agents.dialogue.history import frames_of, pictures
from inhabit.agents.dialogue.prompt import Prompt, PromptSettings
from inhabit.agents.models.core import Ability, Image, Message, Model, Ranking, Reply, ToolCall
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
        error.after(calls, pictures(messages))
        raise
    except SimulatorError as error:
        if not calls:
            raise
        said = Decision(None, calls=tuple(calls), images=pictures(messages))
        raise CutShortError(error, said) from error


async def gather_rankings(asked: Iterable[Awaitable[Ranking]]) -> list[Ranking]:
    """Await several rankings concurrently. If one fails, the others are still awaited.

    Raises:
        ModelError: one failed. Its `decision` holds the answered calls of all.
    """
    came = await asyncio.gather(*asked, return_exceptions=True)
    rankings = [one for one in came if isinstance(one, Ranking)]
    failed = [one for one in came if isinstance(one, BaseException)]
    if not failed:
        return rankings
    first, *others = failed
    if isinstance(first, ModelError):
        first.after(ranking.call for ranking in rankings)
        for other in others:
            first.after(other.decision.calls if isinstance(other, ModelError) else ())
    raise first


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
        """Append messages, before the model is called again.

        What follows a user's turn joins it: many chat templates refuse two in a row.
        """
        for message in messages:
            last = self._messages[-1]
            if message.role == last.role == "user":
                first, *rest = message.parts
                first = f"\n{first}" if isinstance(first, str) else first
                self._messages[-1] = replace(last, parts=(*last.parts, first, *rest))
            else:
                self._messages.append(message)

    def calls_kept_on_error(self) -> AbstractContextManager[None]:
        """A block whose errors carry every call so far."""
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
