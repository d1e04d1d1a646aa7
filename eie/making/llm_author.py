"""A language model as author, prompted with the template and samples, constrained if possible."""

from __future__ import annotations

import json
import random
from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import JsonValue

from inhabit.agents.core import BudgetError, ModelError, NoAnswerError
from inhabit.agents.dialogue.answer import first_json, without_thoughts
from inhabit.agents.models.core import Ability, Message, Model
from inhabit.agents.models.endpoints.refusals import RefusalError
from inhabit.eie.making.author import Author, AuthorReply, AuthorRequest, Seeds, SilentAuthorError
from inhabit.envs.core import Task
from inhabit.envs.template import ActionKind, Template

_BRACKETS = 400
"""Limit of brackets for repairing an answer: several times those of a large scene."""
_CHOICES = 12
"""Maximum number of scored values of a field; of more, a random sample is scored."""
_OPTIONAL = 0.5
"""Probability that an optional field is filled, if the schema lists its values. A name or a place
that it does not list could only be guessed."""
_MOST_ITEMS = 2


class Chooser:
    """Fills a schema with the values that a model ranks highest."""

    def __init__(self, model: Model, prompt: Sequence[Message], rng: random.Random) -> None:
        self._model = model
        self._prompt = prompt
        self._rng = rng
        self._definitions: Mapping[str, Any] = {}
        self._said = ""
        self.tokens = {"in": 0, "out": 0}

    async def fill(self, schema: Mapping[str, Any]) -> Any:
        """A value that matches a JSON schema.

        Raises:
            ModelError: the model can't rank.
        """
        self._definitions = schema.get("$defs", {})
        self._said = ""
        return await self._value(schema, "")

    async def _value(self, schema: Mapping[str, Any], name: str) -> Any:
        while "$ref" in schema:
            schema = self._definitions[str(schema["$ref"]).rpartition("/")[2]]
        if "anyOf" in schema or "oneOf" in schema:
            forms = [f for f in schema.get("anyOf", schema.get("oneOf")) if f.get("type") != "null"]
            return await self._value(self._rng.choice(forms), name)
        if "const" in schema:
            self._said = f"{self._said}\n{name}: {json.dumps(schema['const'])}".strip()
            return schema["const"]
        words = schema.get("enum") or schema.get("vocabulary") or schema.get("examples")
        if words:
            return await self._choose(name, words)
        match schema.get("type"):
            case "object":
                return await self._object(schema)
            case "array":
                least = schema.get("minItems", 0)
                most = max(least, min(_MOST_ITEMS, schema.get("maxItems", _MOST_ITEMS)))
                forms = [*schema.get("prefixItems", ()), *[schema.get("items", {})] * most]
                count = self._rng.randint(least, most)
                return [await self._value(form, name) for form in forms[:count]]
            case "boolean":
                return await self._choose(name, [False, True])
            case "integer":
                low, high = schema.get("minimum", 0), schema.get("maximum", 100)
                return self._rng.randint(int(low), int(high))
            case "number":
                return round(self._rng.uniform(schema.get("minimum", 0), schema.get("maximum", 1)))
        return ""

    async def _object(self, schema: Mapping[str, Any]) -> dict[str, Any]:
        found: dict[str, Any] = {}
        needed = set(schema.get("required", ()))
        for name, inner in schema.get("properties", {}).items():
            wanted = name in needed or (
                self._made_of_choices(inner) and self._rng.random() < _OPTIONAL
            )
            if wanted:
                found[name] = await self._value(inner, name)
        return found

    def _made_of_choices(self, schema: Mapping[str, Any]) -> bool:
        """Whether all its required values are listed in the schema, or integers."""
        while "$ref" in schema:
            schema = self._definitions[str(schema["$ref"]).rpartition("/")[2]]
        forms = schema.get("anyOf", schema.get("oneOf"))
        if forms:
            return all(self._made_of_choices(f) for f in forms if f.get("type") != "null")
        match schema.get("type"):
            case "object":
                needed = (schema["properties"][name] for name in schema.get("required", ()))
                return all(map(self._made_of_choices, needed))
            case "array":
                return self._made_of_choices(schema.get("items", {}))
        listed = {"const", "enum", "vocabulary"} & schema.keys()
        return bool(listed) or schema.get("type") in ("boolean", "integer")

    async def _choose(self, name: str, values: Sequence[Any]) -> Any:
        """The value of a field that is most likely after the earlier fields."""
        options = list(values)
        if len(options) > _CHOICES:
            options = self._rng.sample(options, _CHOICES)
        texts = {json.dumps(value): value for value in options}
        asked = f"{self._said}\n{name}:" if self._said else f"{name}:"
        prompt = [*self._prompt, Message("user", (f"Go on with one value.\n{asked}",))]
        ranking = await self._model.rank(prompt, list(texts))
        self.tokens["in"] += ranking.call.tokens_in
        self.tokens["out"] += ranking.call.tokens_out
        best = max(ranking.scores, key=lambda s: s.logprob / max(1, s.tokens))
        self._said = f"{asked} {best.text}"
        return texts[best.text]


async def choose_proposal(
    model: Model, schema: Mapping[str, Any], told: str, rng: random.Random
) -> tuple[dict[str, Any], Mapping[str, int]]:
    """A scene chosen field by field, a goal that the model writes, and the tokens used.

    `told` is the system prompt.

    Raises:
        ModelError: the model can neither rank nor write.
    """
    chooser = Chooser(model, [Message("system", (told,))], rng)
    scene = await chooser.fill(schema)
    ask = f"Say in one sentence what is wanted here: {json.dumps(scene.get('goal', scene))}"
    reply = await model.generate(
        [Message("system", (told,)), Message("user", (ask,))],
        max_tokens=40,
        seed=rng.randrange(2**31),
    )
    goal = (reply.texts[0] if reply.texts else "").strip().split("\n")[0][:300]
    tokens = {
        "in": chooser.tokens["in"] + reply.call.tokens_in,
        "out": chooser.tokens["out"] + reply.call.tokens_out,
    }
    return {"goal": goal, "scene": scene}, tokens


_SAMPLES = 3
_POOL = 64
"""Number of seed tasks that samples are taken from."""
_EVOLVED = 0.5
"""Share of attempts that ask for a variation of a sample rather than for a new task."""
_LONGEST = 1200
"""Maximum number of tokens of an answer."""
_ORDER = (
    "You write tasks for an agent in a simulator. Answer with one JSON object and nothing else. It "
    'has the keys "goal" (what a person would say to the agent, in one or two sentences) '
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
"""The schema of `inhabit.eie.examples.draft.ProposedEvent`, without references: not every
endpoint follows them."""


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
        self._answered = False
        self._schema = _schema(template.schema())

    async def propose(self, request: AuthorRequest) -> AuthorReply:
        """Ask for a task; with feedback, show what was rejected and why."""
        rng = random.Random(f"{self._env} prompt {request.seed} {request.number}")
        samples = [self._seeds.task(request.seed, rng.randrange(_POOL)) for _ in range(_SAMPLES)]
        change = rng.choice(self._template.changes) if rng.random() < _EVOLVED else ""
        try:
            raw, tokens = await self._ask(samples, change, request, rng)
        except ModelError as error:
            if out_of_reach(error, answered=self._answered):
                raise
            raise SilentAuthorError(str(error)) from error
        self._answered = True
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


def out_of_reach(error: ModelError, *, answered: bool) -> bool:
    """Whether a model can't be asked any more, and further attempts would be lost.

    An endpoint that has `answered` may refuse a request for what it says.
    """
    refused = isinstance(error, RefusalError) and answered
    return isinstance(error, BudgetError | NoAnswerError) and not refused


def read(text: str) -> JsonValue:
    """The JSON in a model's answer, repaired if necessary; otherwise the text itself."""
    said = without_thoughts(text)
    found: Any = first_json(said[said.find("{") :], brackets=_BRACKETS) if "{" in said else None
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
