"""Chat models that describe, reason and act in one reply, as End2End of PCA-EVAL does.

`llm` gets a text description in place of images, an ablation of vision: the output of every tool
that takes no arguments, such as the list of visible objects. So it has the same information as
`holmes`, which has to call the tools.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from string import ascii_uppercase

from pydantic import JsonValue

from inhabit.agents.core import STOP, Agent, Decision, Grant, Ranked, View
from inhabit.agents.dialogue.answer import ParsedReply, read
from inhabit.agents.dialogue.choices import Choices
from inhabit.agents.dialogue.prompt import ChatAnswerSettings, ChatPrompt, chat_system
from inhabit.agents.dialogue.tools import takes_no_arguments
from inhabit.agents.models.core import Ability, Model, Reply, UnsupportedError
from inhabit.agents.models.registry import require
from inhabit.agents.planners.model_agent import Dialogue, ModelAgent
from inhabit.agents.planners.rank import normaliser
from inhabit.agents.registry import AgentRegistration


class ChatSettings(ChatAnswerSettings):
    """What it is shown besides."""

    image: bool = True
    """Send the image to the model; false for a text-only model."""


class Chat(ModelAgent):
    """One reply a step, and another if it can't be parsed or names an action that just failed."""

    def __init__(self, model: Model, settings: ChatAnswerSettings, *, sees: bool) -> None:
        super().__init__(model)
        self._settings = settings
        self._sees = sees
        self._prompt = ChatPrompt(settings, sees=sees)
        # Choices that are too many to list have no letters, whatever the settings say.
        self._systems = {
            lettered: chat_system(settings.model_copy(update={"letters": lettered}), sees=sees)
            for lettered in (False, True)
        }

    async def decide(self, view: View) -> Decision:
        """The action of the model's reply; none if all permitted replies could not be parsed."""
        return await self.decide_with_facts(view, ())

    async def decide_with_facts(self, view: View, known: Sequence[str]) -> Decision:
        """Decide, with the sentences `known` about the present state in the prompt."""
        if not view.candidates:
            return Decision(None, stop=True)
        choices = self._prompt.choices(view)
        if (planned := await _planned(view, choices)) is not None:
            return planned
        system = self._systems[choices.lettered]
        opening = self._prompt.messages(system, view, choices, known)
        dialogue = Dialogue(self._model, opening, view)
        with dialogue.calls_kept_on_error():
            decision = None
            if self._asks_for_letter(choices):
                decision = await self._choose_letter(dialogue, choices)
            if decision is None:
                decision = await self._answer(dialogue, choices, view)
        return dialogue.record(decision)

    async def _answer(self, dialogue: Dialogue, choices: Choices, view: View) -> Decision:
        """Generate replies until one is understood, or the permitted number is reached."""
        parts = ("description", "reasoning") if self._sees else ("reasoning",)
        held = self._settings.reason and Ability.SCHEMA in self._model.abilities
        most = self._settings.actions
        schema, n = choices.schema(parts, most) if held else None, self._settings.votes
        for repairs_left in range(self._settings.repairs, -1, -1):
            reply = await dialogue.ask(schema=schema, n=n)
            readings = [await read(text, choices, view) for text in reply.texts]
            if reply.call.finish == "length":  # It is known of the first alone.
                readings[0] = readings[0].cut_off()
            if understood := [r for r in readings if r.meaning.problem is None]:
                chosen, rest = _majority(understood)
                return replace(_thinking(chosen, reply), planned=rest[: most - 1])
            if repairs_left:
                dialogue.tell(self._prompt.repair(readings[0], choices))
        return _thinking(readings[0].decision(), reply)

    def _asks_for_letter(self, choices: Choices) -> bool:
        """Whether one token suffices: there are no more choices than capital letters."""
        answers = choices.answers or ()
        return (
            self._settings.letters
            and not self._settings.reason
            and Ability.LOGPROBS in self._model.abilities
            and 0 < len(answers) <= len(ascii_uppercase)
        )

    async def _choose_letter(self, dialogue: Dialogue, choices: Choices) -> Decision | None:
        """The likeliest letter; no action if no letter is among the likeliest tokens.

        None where the endpoint turns out to give no probabilities.
        """
        try:
            ranking = await dialogue.choose(choices.answers or ())
        except UnsupportedError:
            return None
        texts = [a.text for a in choices.allowed] + [STOP] * choices.stop
        named = [
            Ranked(text, r.logprob, r.tokens) for text, r in zip(texts, ranking.scores, strict=True)
        ]
        order = sorted(range(len(named)), key=lambda i: -named[i].logprob)
        best, raw = order[0], ranking.call.reply
        ranked = tuple(named[i] for i in order)
        total = normaliser([one.logprob for one in named])
        if named[best].logprob == -math.inf:
            return Decision(None, raw=raw)
        if best == len(choices.allowed):
            return Decision(None, stop=True, raw=raw, ranked=ranked, normaliser=total)
        return Decision(choices.allowed[best], raw=raw, ranked=ranked, normaliser=total)


def _thinking(decision: Decision, reply: Reply) -> Decision:
    """`decision` with the model's own reasoning where the answer holds none."""
    return replace(decision, reasoning=decision.reasoning or reply.call.thoughts)


async def _planned(view: View, choices: Choices) -> Decision | None:
    """The next action that the last answer named; None if there is none, or it is no choice."""
    if not view.planned:
        return None
    said, *rest = view.planned
    meaning = choices.understand(said, await view.parse(said))
    if meaning.problem is not None:
        return None
    return Decision(
        meaning.action,
        stop=meaning.stop,
        raw=said,
        reasoning="Planned in an earlier answer.",
        planned=tuple(rest),
    )


def _majority(readings: Sequence[ParsedReply]) -> tuple[Decision, tuple[str, ...]]:
    """The action with most votes, the first of equals, and the actions that were to follow it.

    With several votes, each action is ranked by the logarithm of its share.
    """
    names = [r.meaning.action.text if r.meaning.action else STOP for r in readings]
    votes = Counter(names)
    best = max(votes, key=lambda name: votes[name])  # the first of equals, as they were counted
    chosen = readings[names.index(best)]
    decision, rest = chosen.decision(), chosen.answer.rest
    if len(readings) == 1:
        return decision, rest
    ranked = (Ranked(name, math.log(n / len(names)), 1) for name, n in votes.most_common())
    return replace(decision, ranked=tuple(ranked)), rest


def require_votes(model: Model | None, agent: str, settings: ChatAnswerSettings) -> Model:
    """Return `model` if it generates text, and as many replies at once as `settings` request.

    Raises:
        ModelError: it can't, or there is none.
    """
    return require(model, agent, Ability.WORDS, *[Ability.N_BEST] * (settings.votes > 1))


def _make(settings: ChatSettings, model: Model | None) -> Agent:
    chosen = require_votes(model, "chat", settings)
    if settings.image:
        require(chosen, "chat", Ability.IMAGES)
    return Chat(chosen, settings, sees=settings.image)


REGISTRATION = AgentRegistration(
    name="chat",
    summary="asks a chat model to describe, reason and act in one answer",
    settings=ChatSettings,
    make=_make,
    model="openai:gpt-4o-mini",
    templates=("chat", "moment", "repair"),
)


class Llm(Chat):
    """Calls every tool without arguments, and puts the results into the prompt."""

    async def decide(self, view: View) -> Decision:
        """The action of the model's reply to the described scene."""
        grants = view.grants
        known = []
        for tool in grants.tools:
            if grants.call is not None and takes_no_arguments(tool):
                name = str(tool["name"])
                found = await grants.call(name, {})
                known.append(f"{name.replace('_', ' ').capitalize()}: {_words(found)}.")
        return await self.decide_with_facts(view, known)


def _words(found: JsonValue) -> str:
    """A list of texts with commas, and anything else as JSON."""
    if isinstance(found, list) and all(isinstance(one, str) for one in found):
        return ", ".join(map(str, found)) or "nothing"
    return json.dumps(found, ensure_ascii=False)


def _make_llm(settings: ChatAnswerSettings, model: Model | None) -> Agent:
    return Llm(require_votes(model, "llm", settings), settings, sees=False)


LLM = replace(
    REGISTRATION,
    name="llm",
    summary="asks a chat model, which gets a text description instead of images",
    settings=ChatAnswerSettings,
    make=_make_llm,
    needs=frozenset({Grant.TOOLS}),
)
