"""A language model as author, prompted with the template and samples, constrained if possible."""

from __future__ import annotations

import json
import random
from collections.abc import Mapping, Sequence
from typing import Any

import json_repair
from pydantic import JsonValue

from inhabit.agents.core import BudgetError, ModelError
from inhabit.agents.models.core import Ability, Message, Model
from inhabit.eie.making.author import Author, AuthorReply, AuthorRequest, Seeds, SilentAuthorError
from inhabit.eie.making.constrained_choice import choose_proposal
from inhabit.envs.core import Task
from inhabit.envs.template import ActionKind, Template

_SAMPLES = 3
_POOL = 64
"""Number of seed tasks that samples are taken from."""
_EVOLVED = 0.5
"""Share of attempts that ask for a variation of a sample rather than for a new task."""
_LONGEST = 1200
"""Maximum number of tokens of an answer."""
_ORDER = (
    "You write tasks for a household robot in a simulator. Answer with one JSON object and nothing "
    'else. It has the keys "goal" (what a person would say to the robot, in one or two sentences) '
    'and "scene" (the parameters of the simulator that go with it). The goal must ask for exactly '
    "what the scene's goal says, and must not be reached at the start. It may also have the key "
    '"events": the parts of the task as a graph, each with "name", "wish" (as an instruction), '
    f'"deed" (one of: {", ".join(ActionKind)}), "thing" (that it is done to, or put into) and '
    '"needs" (names of the parts that come first).'
)

_EVENT: dict[str, JsonValue] = {
    "type": "object",
    "properties": {
        **{name: {"type": "string"} for name in ("name", "wish", "thing")},
        "deed": {"enum": [deed.value for deed in ActionKind]},
        "needs": {"type": "array", "items": {"type": "string"}},
    },
    "required": ["name", "wish", "deed", "thing"],
    "additionalProperties": False,
}
"""The schema of `inhabit.eie.making.author.ProposedEvent`, without references: not every endpoint
follows them."""


class LlmAuthor(Author):
    """Prompts a model of `inhabit.agents.models` for tasks."""

    takes_feedback = True

    def __init__(self, env: str, template: Template, model: Model) -> None:
        """Write for the environment `env`; `close` closes `model`."""
        self._env = env
        self._template = template
        self._model = model
        self._seeds = Seeds(env, template)
        self.name = model.name
        self._schema = _schema(template.schema())

    async def propose(self, request: AuthorRequest) -> AuthorReply:
        """Ask for a task; with feedback, show what was rejected and why."""
        rng = random.Random(f"{self._env} prompt {request.seed} {request.number}")
        samples = [self._seeds.task(request.seed, rng.randrange(_POOL)) for _ in range(_SAMPLES)]
        change = rng.choice(self._template.changes) if rng.random() < _EVOLVED else ""
        try:
            raw, tokens = await self._ask(samples, change, request, rng)
        except BudgetError:
            raise
        except ModelError as error:
            raise SilentAuthorError(str(error)) from error
        if raw == "":
            raise SilentAuthorError("It said nothing.", tokens)
        return AuthorReply(
            raw=raw,
            name=f"{self._env}-{request.seed}-{request.number}",
            parents=(samples[-1].id,) if change else (),
            change=change,
            tokens=tokens,
        )

    async def _ask(
        self, samples: list[Task], change: str, request: AuthorRequest, rng: random.Random
    ) -> tuple[JsonValue, Mapping[str, int]]:
        """The answer, constrained to the schema where possible, and the tokens used."""
        held = Ability.SCHEMA in self._model.abilities
        if not held and Ability.RANK in self._model.abilities:
            parts = [_ORDER, self._template.prose(), _shown(samples)]
            if request.feedback:
                parts.append(f"This won't do: {request.rejected}\n{request.feedback}")
            again = random.Random(f"{rng.random()} {request.feedback}")
            return await choose_proposal(
                self._model, self._template.schema(), "\n\n".join(parts), again
            )
        reply = await self._model.generate(
            self._prompt(samples, change, request),
            max_tokens=_LONGEST,
            seed=request.number * 2 + bool(request.feedback),
            schema=self._schema if held else None,
        )
        tokens = {"in": reply.call.tokens_in, "out": reply.call.tokens_out}
        return read(reply.texts[0]) if reply.texts else "", tokens

    async def close(self) -> None:
        """Close the model."""
        await self._model.close()

    def _prompt(self, samples: list[Task], change: str, request: AuthorRequest) -> list[Message]:
        wish = "Write another task, unlike these."
        if change:
            wish = f"Write a variation of the last of these: {change}."
        parts = [
            self._template.prose(),
            f"The scene has this JSON schema: {json.dumps(self._template.schema())}",
            _shown(samples),
            wish,
        ]
        prompt = [Message("system", (_ORDER,)), Message("user", ("\n\n".join(parts),))]
        if request.feedback:
            again = f"That won't do. {request.feedback} Write it again so that it will."
            prompt.append(Message("assistant", (request.rejected,)))
            prompt.append(Message("user", (again,)))
        return prompt


def read(text: str) -> JsonValue:
    """The JSON in a model's answer, repaired if necessary; otherwise the text itself."""
    start, end = text.find("{"), text.rfind("}")
    if start < 0:
        return text
    found: Any = json_repair.loads(text[start : end + 1] if end > start else text[start:])
    return found if isinstance(found, dict) else text


def _schema(scene: Mapping[str, JsonValue]) -> Mapping[str, JsonValue]:
    """The schema of an answer, with the scene's definitions at the top level for references."""
    inner = {key: value for key, value in scene.items() if key != "$defs"}
    schema: dict[str, JsonValue] = {
        "type": "object",
        "properties": {
            "goal": {"type": "string", "minLength": 3, "maxLength": 300},
            "scene": inner,
            "events": {"type": "array", "maxItems": 16, "items": _EVENT},
        },
        "required": ["goal", "scene"],
        "additionalProperties": False,
    }
    if "$defs" in scene:
        schema["$defs"] = scene["$defs"]
    return schema


def _shown(samples: Sequence[Task]) -> str:
    plain = ({"goal": task.goal, "scene": dict(task.scene)} for task in samples)
    lines = (json.dumps(one, ensure_ascii=False) for one in plain)
    return "Samples, one a line:\n" + "\n".join(lines)
