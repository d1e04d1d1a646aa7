"""A chat model that gets a text description in place of images: an ablation of vision.

The description is the output of every tool that takes no arguments, such as the list of visible
objects. So it has the same information as `holmes`, which has to call the tools.
"""

from __future__ import annotations

import json

from pydantic import JsonValue

from inhabit.agents.core import Agent, Decision, Grant, View
from inhabit.agents.dialogue.prompt import ChatAnswerSettings
from inhabit.agents.dialogue.tools import takes_no_arguments
from inhabit.agents.models.core import Model
from inhabit.agents.planners.chat import Chat, require_votes
from inhabit.agents.registry import AgentRegistration


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


def _make(settings: ChatAnswerSettings, model: Model | None) -> Agent:
    return Llm(require_votes(model, "llm", settings), settings, sees=False)


REGISTRATION = AgentRegistration(
    name="llm",
    summary="asks a chat model, which gets a text description instead of images",
    settings=ChatAnswerSettings,
    make=_make,
    model="openai:gpt-4o-mini",
    templates=("chat", "moment", "repair"),
    needs=frozenset({Grant.TOOLS}),
)
