"""What a refusal of an endpoint is about, judged by its words, and what is asked instead.

Servers of one protocol differ in the fields that they take, and none of them says so beforehand.
What the text of a refusal blames is changed for the rest of the run, and the request is sent again.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Collection, Sequence
from enum import StrEnum
from warnings import warn

from inhabit.agents.core import ModelError, NoAnswerError, RequestError
from inhabit.agents.models.core import Ability, UnsupportedError
from inhabit.agents.models.endpoints.completion import Completion
from inhabit.agents.models.endpoints.wire import Body, holds_image, without_system

_SIZE = re.compile(r"too (large|long|many|big)|context length|at most|exceed|maximum", re.I)
_RANGE = re.compile(r"<=?\s*\d|\b(?:less|below|between|range)\b|\bin \[|" + _SIZE.pattern, re.I)
_IMAGES = re.compile(
    r"image|vision|visual|multi-?modal|modalit|mmproj|content.{0,40}string|expected.{0,20}text",
    re.I,
)


class RefusalError(NoAnswerError):
    """The endpoint refuses a request, and would refuse it again."""

    def __init__(self, message: str, *, said: str = "", blamed: str = "") -> None:
        super().__init__(message)
        self.said = said
        """The endpoint's words."""
        self.blamed = blamed
        """The field that the endpoint names as the cause; empty where it names none."""

    def mentions(self, pattern: str) -> bool:
        """Whether the refusal is about what the regular expression `pattern` matches."""
        return re.search(pattern, f"{self.blamed} {self.said}", re.I) is not None


class Change(StrEnum):
    """How requests are changed for an endpoint; the value is what a record says of it."""

    LONG_LIMIT = "the endpoint takes max_completion_tokens, not max_tokens"
    SHORT_LIMIT = "the endpoint takes max_tokens, not max_completion_tokens"
    NO_TEMPERATURE = "the endpoint takes no temperature: it samples with its own"
    NO_SEED = "the endpoint takes no seed"
    NO_TOOL_CHOICE = "the endpoint takes no tool_choice"
    NO_SYSTEM = "the endpoint takes no system message: it begins the first message of the user"
    NO_SCHEMA = "the endpoint takes no JSON schema: answers are not held to one"
    ONE_ANSWER = "the endpoint gives one answer to a request: several are asked for one by one"

    def apply(self, body: Body) -> Body:
        """`body` as this change leaves it."""
        if self in _LIMITS:
            old, new = _LIMITS[self]
            return {new if name == old else name: value for name, value in body.items()}
        if self is Change.NO_SYSTEM:
            return {**body, "messages": without_system(body["messages"])}
        return {name: value for name, value in body.items() if name != _FIELDS[self]}


_LIMITS = {
    Change.LONG_LIMIT: ("max_tokens", "max_completion_tokens"),
    Change.SHORT_LIMIT: ("max_completion_tokens", "max_tokens"),
}
_FIELDS = {
    Change.NO_TEMPERATURE: "temperature",
    Change.NO_SEED: "seed",
    Change.NO_TOOL_CHOICE: "tool_choice",
    Change.NO_SCHEMA: "response_format",
    Change.ONE_ANSWER: "n",
}
_WORDS = {
    Change.NO_TEMPERATURE: r"temperature",
    Change.NO_SEED: r"\bseed\b",
    Change.NO_TOOL_CHOICE: r"tool_choice",
    Change.NO_SCHEMA: r"response_format|json_?schema|guided|structured|grammar|\bschema\b",
    Change.ONE_ANSWER: r"^n\b|[`'\"]n[`'\"]|\bn (must|should|>|is)|body\.n\b|multiple choices",
}
_NO_SYSTEM = (
    r"system.?(role|message|prompt|instruction)s?\b|\brole.{0,3}system\b|roles must alternate"
)


def change_for(refusal: RefusalError, body: Body, made: Collection[Change]) -> Change | None:
    """The change, besides those `made`, that may turn the refusal of `body` into an answer."""
    too_large = _SIZE.search(refusal.said) is not None
    if refusal.mentions("max_completion_tokens") and not too_large:
        for change, (field, _) in _LIMITS.items():
            if field in body and not set(_LIMITS) & set(made):
                return change
    if refusal.mentions(_NO_SYSTEM) and not too_large and Change.NO_SYSTEM.apply(body) != body:
        return Change.NO_SYSTEM
    heat = body.get("temperature")
    hot = isinstance(heat, float) and heat > 1 and _RANGE.search(refusal.said) is not None
    for change, field in _FIELDS.items():
        if hot and change is Change.NO_TEMPERATURE:
            continue  # It takes one, but not as high as the user's.
        if field in body and refusal.mentions(_WORDS[change]):
            return change
    return None


def lacking(refusal: RefusalError, body: Body) -> Ability | None:
    """The ability for want of which `body` was refused, where the words say so."""
    if "tools" in body and refusal.mentions(r"\btool|function.?call|--jinja"):
        return Ability.TOOLS
    if "logprobs" in body and refusal.mentions("logprob"):
        return Ability.LOGPROBS
    if holds_image(body) and _IMAGES.search(refusal.said) and not _SIZE.search(refusal.said):
        return Ability.IMAGES
    return None


_INSTEAD = {
    Ability.TOOLS: "tools are described in the prompt instead",
    Ability.LOGPROBS: "letters are generated instead",
}


class AdaptingEndpoint:
    """Sends requests; what is refused for a field is sent again without it, then and later.

    Every refused request counts towards `budget_calls`. A change is warned of once, and recorded
    with every call that it affects.
    """

    def __init__(self, ask: Callable[[Body, Body], Awaitable[Completion]], name: str) -> None:
        """Send by `ask`, as `Endpoint` has it, for the model `name`."""
        self._ask = ask
        self._name = name
        self._changes: list[Change] = []
        self._took_image = False
        self.lacks: dict[Ability, str] = {}
        """Abilities that the endpoint was found to lack, with what is done instead."""

    @property
    def notes(self) -> Sequence[str]:
        """What was learned so far, in sentences without a full stop."""
        return (*self._changes, *self.lacks.values())

    def knows(self, change: Change) -> bool:
        """Whether `change` was learned."""
        return change in self._changes

    def learn(self, change: Change) -> None:
        """Make `change` from now on."""
        if change not in self._changes:
            self._changes.append(change)
            warn(f"{self._name}: {change}.", stacklevel=2)

    async def ask(self, body: Body, extra: Body) -> Completion:
        """The answer to `body`, changed as the endpoint wants it.

        Raises:
            UnsupportedError: it turned out to lack tools or letters' probabilities.
            RequestError: it takes no image, and has never taken one.
            ModelError: it refuses something else, or fails as often as it may.
        """
        while True:
            made = tuple(self._changes)  # Another request may learn something meanwhile.
            sent = body
            for change in made:
                sent = change.apply(sent)
            try:
                answer = await self._ask(sent, extra)
            except RefusalError as error:
                found = change_for(error, sent, made)
                if found is None:
                    raise self._explained(error, sent) from error
                self.learn(found)
            else:
                self._took_image = self._took_image or holds_image(sent)
                return answer

    def _explained(self, error: RefusalError, sent: Body) -> ModelError | RequestError:
        ability = lacking(error, sent)
        if ability is None or (ability is Ability.IMAGES and self._took_image):
            return error
        if ability is Ability.IMAGES:
            return RequestError(
                f"{self._name} takes no images; it says: {error.said}. Ask it without them: "
                "--set image=false for chat, --sight none for any agent; or start the server "
                "with a model that sees."
            )
        why = f"the endpoint refuses {ability.value} ({error.said}): {_INSTEAD[ability]}"
        if ability not in self.lacks:
            self.lacks[ability] = why
            warn(f"{self._name}: {why}.", stacklevel=2)
        return UnsupportedError(f"{self._name}: {why}.", ability)
