"""HOLMES: a text-only model queries the scene with tools, and then acts (PCA-EVAL, 2023).

Unlike in the released code, mentioning a function does not call it, repeated calls are answered
from memory, and the number of turns is limited.
"""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Literal

from pydantic import Field

from inhabit.agents.core import Agent, Decision, Grant, View
from inhabit.agents.dialogue.answer import read
from inhabit.agents.dialogue.choices import Choices
from inhabit.agents.dialogue.prompt import ChatPrompt, ChatPromptSettings
from inhabit.agents.dialogue.template import PromptTemplate
from inhabit.agents.dialogue.tools import find_calls, legal, stub
from inhabit.agents.models.core import Ability, Message, Model, Reply, ToolCall, UnsupportedError
from inhabit.agents.models.registry import require
from inhabit.agents.planners.model_agent import Dialogue, ModelAgent, calls_kept_on_error
from inhabit.agents.registry import AgentRegistration


class HolmesSettings(ChatPromptSettings):
    """How the model asks."""

    protocol: Literal["auto", "native", "text"] = "auto"
    """How tools are called: by the endpoint's tool interface (native), or as Python stubs in the
    prompt and calls in the answer, as in the papers (text). auto is native where the model supports
    it."""
    turns: int = Field(default=6, ge=0)
    """Rounds of questions before an action is required; one round may hold several questions."""


class Holmes(ModelAgent):
    """One dialogue a step: calls of the environment's tools, then one action."""

    def __init__(self, model: Model, settings: HolmesSettings) -> None:
        super().__init__(model)
        self._settings = settings
        self._prompt = ChatPrompt(settings, sees=False)
        self._template = PromptTemplate("holmes", settings.prompt)

    async def decide(self, view: View) -> Decision:
        """The action after the tool calls; none if it could not be parsed.

        Where an endpoint refuses native tools, the step begins again with tools in the prompt.
        """
        if not view.candidates:
            return Decision(None, stop=True)
        try:
            return await self._decide(view)
        except UnsupportedError as error:
            if error.ability is not Ability.TOOLS or self._native:
                raise
            with calls_kept_on_error(error.decision.calls, ()):
                decision = await self._decide(view)
            return replace(decision, calls=(*error.decision.calls, *decision.calls))

    @property
    def _native(self) -> bool:
        """Whether tools are called by the endpoint's interface."""
        auto = self._settings.protocol == "auto" and Ability.TOOLS in self._model.abilities
        return auto or self._settings.protocol == "native"

    async def _decide(self, view: View) -> Decision:
        choices = self._prompt.choices(view)
        opening = self._prompt.messages(self._system(view, choices), view, choices)
        dialogue = Dialogue(self._model, opening, view)
        answers = ToolAnswers(view)
        with dialogue.calls_kept_on_error():
            decision = await self._act(dialogue, choices, view, answers)
        return dialogue.record(decision)

    async def _act(
        self, dialogue: Dialogue, choices: Choices, view: View, answers: ToolAnswers
    ) -> Decision:
        reply = await self._ask_tools(dialogue, view, answers)
        if reply is None:
            reply = await self._ask_for_action(dialogue, choices, view)
        for repairs_left in range(self._settings.repairs, -1, -1):
            reading = await read(reply.texts[0], choices, view)
            if reply.call.finish == "length":
                reading = reading.cut_off()
            if reading.meaning.problem is None or not repairs_left:
                break
            dialogue.tell(self._prompt.repair(reading, choices))
            reply = await self._ask_for_action(dialogue, choices, view)
        decision = reading.decision()
        return replace(decision, description=decision.description or answers.told)

    async def _ask_tools(
        self, dialogue: Dialogue, view: View, answers: ToolAnswers
    ) -> Reply | None:
        """Answer tool calls until a reply has none: that reply; None at the limit of turns."""
        offered = view.grants.tools if self._native else ()
        for _ in range(self._settings.turns):
            reply = await dialogue.ask(tools=offered)
            wants = reply.wants if offered else ()  # others have no place in the dialogue
            asked = wants or find_calls(reply.texts[0], view.grants.tools)
            if not asked:
                return reply
            said = [await answers.of(call) for call in asked]
            if wants:
                told = zip(asked, said, strict=True)
                dialogue.tell(*(Message("tool", (text,), answers=c.id) for c, text in told))
            else:
                dialogue.tell(Message("user", ("\n".join(dict.fromkeys(said)),)))
        dialogue.tell(Message("user", (self._template.block("enough"),)))
        return None

    async def _ask_for_action(self, dialogue: Dialogue, choices: Choices, view: View) -> Reply:
        """Request the action, constrained to a JSON schema if the model supports that.

        Tools are named still: some endpoints refuse a dialogue with tool calls without them.
        """
        held = Ability.SCHEMA in self._model.abilities
        return await dialogue.ask(
            tools=view.grants.tools if self._native else (),
            schema=choices.schema(("reasoning",)) if held else None,
            call_tools=False,
        )

    def _system(self, view: View, choices: Choices) -> str:
        return self._template.block(
            "system",
            stubs=() if self._native else [stub(tool) for tool in view.grants.tools],
            stop=self._settings.stop,
            lettered=choices.lettered,
        )


class ToolAnswers:
    """The environment's answers at one step, during which its state does not change."""

    def __init__(self, view: View) -> None:
        self._grants = view.grants
        self._known: dict[str, str] = {}

    @property
    def told(self) -> str:
        """All answers, one a line: what the model knows about the scene."""
        return "\n".join(self._known.values())

    async def of(self, call: ToolCall) -> str:
        """The answer to one call, from memory if it is repeated; or why there is none."""
        arguments = legal(call, self._grants.tools)
        if isinstance(arguments, str) or self._grants.call is None:
            return f"{call.name}: {arguments}"
        question = f"{call.name}({json.dumps(arguments, sort_keys=True) if arguments else ''})"
        if question not in self._known:
            found = await self._grants.call(call.name, arguments)
            self._known[question] = f"{question} -> {json.dumps(found, ensure_ascii=False)}"
        return self._known[question]


def _make(settings: HolmesSettings, model: Model | None) -> Agent:
    asked = [Ability.WORDS] + [Ability.TOOLS] * (settings.protocol == "native")
    return Holmes(require(model, "holmes", *asked), settings)


REGISTRATION = AgentRegistration(
    name="holmes",
    summary="text-only with tools: the model may question the environment before it acts",
    settings=HolmesSettings,
    make=_make,
    model="openai:gpt-4o-mini",
    templates=("holmes", "moment", "repair"),
    needs=frozenset({Grant.TOOLS}),
)
