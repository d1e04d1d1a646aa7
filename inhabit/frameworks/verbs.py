"""An environment's verbs as functions with arguments, for models that call tools."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from inhabit.envs.core import Action


@dataclass(frozen=True)
class ToolVerb:
    """One kind of action, such as "put the X in the Y"."""

    name: str
    """A Python name: "put"."""
    parameters: tuple[str, ...]
    """Names of its arguments, in order: "target", "destination"."""
    pattern: str
    """Its text with a `{}` for each argument."""
    texts: Mapping[tuple[str, ...], str]
    """Arguments, in lower case -> the environment's own text, where its vocabulary has it."""

    def say(self, *arguments: str) -> str:
        """The text of the action with these arguments."""
        known = self.texts.get(tuple(a.strip().lower() for a in arguments))
        return known or self.pattern.format(*arguments)


def verbs(vocabulary: Iterable[Action]) -> Sequence[ToolVerb]:
    """The verbs of a vocabulary, in the order in which they first occur.

    A verb has no pattern if its texts do not contain their arguments, or if it has several texts
    and no arguments. Its single argument, "action", is then the whole text.
    """
    kinds: dict[tuple[str, int], list[Action]] = {}
    for action in vocabulary:
        kinds.setdefault((action.verb, len(action.arguments)), []).append(action)
    found: dict[str, ToolVerb] = {}
    for (verb, count), actions in kinds.items():
        name = _name(verb)
        while name in found:
            name += "_"
        found[name] = _verb(name, count, actions)
    return tuple(found.values())


_PARAMETERS = ((), ("target",), ("target", "destination"))


def _verb(name: str, count: int, actions: Sequence[Action]) -> ToolVerb:
    pattern = _pattern(actions[0])
    texts = {tuple(part.lower() for part in a.arguments): a.text for a in actions}
    if pattern is None or len(texts) < len({a.text for a in actions}):
        return ToolVerb(name, ("action",), "{}", {(a.text.lower(),): a.text for a in actions})
    names = _PARAMETERS[count] if count < 3 else tuple(f"part_{i}" for i in range(count))
    return ToolVerb(name, names, pattern, texts)


def _name(verb: str) -> str:
    name = re.sub(r"\W+", "_", verb.strip().lower()).strip("_") or "do"
    return name if not name[0].isdigit() else f"do_{name}"


def _pattern(action: Action) -> str | None:
    text, start = action.text.replace("{", "{{").replace("}", "}}"), 0
    for argument in action.arguments:
        at = text.find(argument, start)
        if at < 0:
            return None
        text = f"{text[:at]}{{}}{text[at + len(argument) :]}"
        start = at + 2
    return text
