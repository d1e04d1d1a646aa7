"""Environment classes for TRL's GRPOTrainer (package trl 1.16, `environment_factory=`).

TRL makes an object for each rollout, calls `reset(**row)` with the row of its data set, offers
every other public method as a tool, and calls `get_reward()` at the end. Nothing of TRL is imported
here. A class may offer an environment's verbs as tools with arguments.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from keyword import iskeyword
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from PIL import Image as Picture

from inhabit.agents.dialogue.prompt import instructions
from inhabit.envs.core import Action, SimulatorError
from inhabit.frameworks.rollout import RolloutFactory
from inhabit.frameworks.turn import Turn


@dataclass(frozen=True)
class ToolVerb:
    """One kind of action, such as "put the X in the Y"."""

    name: str
    """Name of the tool, valid in Python: "put"."""
    parameters: tuple[str, ...]
    """Names of the tool's arguments, in order: "target", "destination"."""
    pattern: str
    """Text of the action with a `{}` for each argument."""
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
        # A tool must not take the place of the trainer's own methods.
        while name in found or iskeyword(name) or hasattr(_Base, name):
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
    said = (action.text, *action.arguments)
    text, *arguments = (one.replace("{", "{{").replace("}", "}}") for one in said)
    start = len(action.verb) if text.startswith(action.verb) else 0  # "open" contains "pen"
    for argument in arguments:
        at = text.find(argument, start)
        if at < 0:
            return None
        text = f"{text[:at]}{{}}{text[at + len(argument) :]}"
        start = at + 2
    return text


Block = dict[str, Any]
"""{"type": "image", "image": PIL.Image.Image} or {"type": "text", "text": str}."""


def environment_class(
    factory: RolloutFactory,
    *,
    tools: Literal["act", "verbs"] = "act",
    pictures: bool = True,
    longest_side: int | None = None,
) -> type:
    """A class for `GRPOTrainer(environment_factory=...)`.

    A row's "task", the number or id of a task, or else its "seed" chooses the task; rows without
    either play task 0. The same row starts the same episode, and later ones copy the first where
    the environment can. The reward is the episode's, as the factory has it.

    Args:
        factory: which episodes.
        tools: "act" for one tool `act(action)`; "verbs" for a tool for each verb of the first
            task's vocabulary, such as `go_to(target)`.
        pictures: whether turns show pictures; False for models without eyes.
        longest_side: pixels to which pictures are scaled down; None leaves them.

    Raises:
        ValueError: `tools` is neither.
    """
    if tools not in ("act", "verbs"):
        raise ValueError(f"tools is {tools!r}, and neither 'act' nor 'verbs'.")
    members: dict[str, Any] = {
        "_factory": factory,
        "_pictures": pictures,
        "_longest": longest_side,
        "__doc__": f"One rollout of {factory.registration.name}.",
    }
    if tools == "verbs":
        with factory.open() as rollout:
            rollout.reset(0)
            found = verbs(rollout.session.env.vocabulary())
        members |= {verb.name: _tool(verb) for verb in found}
    name = "".join(part.title() for part in factory.registration.name.split("_"))
    return type(f"{name}Environment", (_Acting if tools == "act" else _Base,), members)


def rows(factory: RolloutFactory, *, pictures: bool = True) -> list[dict[str, Any]]:
    """Rows for the trainer's data set, one for each task: `datasets.Dataset.from_list(rows(...))`.

    Args:
        factory: which episodes.
        pictures: as for `environment_class`: contents are lists of blocks then, and strings else.
    """
    how = instructions("tools") + "\n"
    content: Any = [{"type": "text", "text": how}] if pictures else how
    return [
        {"prompt": [{"role": "user", "content": content}], "task": number}
        for number in range(len(factory.tasks))
    ]


class _Base:
    _factory: RolloutFactory
    _pictures: bool
    _longest: int | None

    def __init__(self) -> None:
        self._rollout = self._factory.open()

    def reset(
        self, task: int | str | None = None, seed: int | None = None, **_: object
    ) -> list[Block] | str:
        """Start an episode."""
        return self._shown(self._rollout.reset(task, seed=seed))

    def get_reward(self) -> float:
        """The episode's reward."""
        return self._rollout.value

    def _do(self, text: str) -> list[Block] | str:
        if self._rollout.turn.done:
            return [_text("The episode has ended.")] if self._pictures else "The episode has ended."
        try:
            return self._shown(self._rollout.act(text))
        except SimulatorError as error:
            raise RuntimeError(str(error)) from error

    def _shown(self, turn: Turn) -> list[Block] | str:
        return turn.blocks(_text, self._picture) if self._pictures else turn.text

    def _picture(self, rgb: NDArray[np.uint8]) -> Block:
        picture = Picture.fromarray(rgb)
        if self._longest is not None:
            picture.thumbnail((self._longest, self._longest))
        return {"type": "image", "image": picture}


def _text(said: str) -> Block:
    return {"type": "text", "text": said}


class _Acting(_Base):
    def act(self, action: str) -> list[Block] | str:
        """Do one thing in the world, and see what it changes.

        Args:
            action: In the words of the list, such as "go to the fridge"; "stop" ends the episode.
        """
        return self._do(str(action))


def _tool(verb: ToolVerb) -> Callable[..., list[Block] | str]:
    def method(self: _Base, *given: str, **named: str) -> list[Block] | str:
        values: Mapping[str, str] = {**dict(zip(verb.parameters, given, strict=False)), **named}
        # What a model leaves out is an action without effect, not an error: errors cost no step.
        return self._do(verb.say(*(str(values.get(name, "")) for name in verb.parameters)))

    method.__name__ = method.__qualname__ = verb.name
    method.__doc__ = _doc(verb)
    method.__annotations__ = {**dict.fromkeys(verb.parameters, str), "return": list[dict[str, Any]]}
    method.__signature__ = inspect.Signature(_parameters(verb.parameters))  # type: ignore[attr-defined]
    return method


def _parameters(names: Sequence[str]) -> list[inspect.Parameter]:
    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    return [
        inspect.Parameter("self", kind),
        *(inspect.Parameter(name, kind, annotation=str) for name in names),
    ]


def _doc(verb: ToolVerb) -> str:
    said = verb.pattern.format(*(f"<{name}>" for name in verb.parameters))
    lines = [f"Do this in the world: {said}.", ""]
    if verb.parameters:
        lines.append("Args:")
        example = next(iter(verb.texts), ())
        for name, value in zip(verb.parameters, example, strict=False):
            lines.append(f'    {name}: The <{name}>, such as "{value}".')
    return "\n".join(lines)
