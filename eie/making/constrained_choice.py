"""Fills a JSON schema with a model that ranks texts but does not support constrained output.

The scene is filled field by field: the model scores the values that the schema allows, and the most
likely one is chosen. Optional fields and numbers are chosen at random. The result always matches
the schema; whether it makes sense is checked in the simulator.
"""

from __future__ import annotations

import json
import random
from collections.abc import Mapping, Sequence
from typing import Any

from inhabit.agents.models.core import Message, Model

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
                count = self._rng.randint(schema.get("minItems", 0), _MOST_ITEMS)
                items = schema.get("items") or schema.get("prefixItems", [{}])[0]
                return [await self._value(items, name) for _ in range(count)]
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

    Args:
        model: ranks values and writes the goal.
        schema: of the scene.
        told: the system prompt.
        rng: for optional fields and numbers.

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
