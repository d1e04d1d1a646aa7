"""The rows that a world is described with, and the language that follows from them.

A row may hold a plain function.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from inhabit.envs.core import Action
from inhabit.envs.template import ActionKind

T = TypeVar("T", contravariant=True)
"""An object of an environment."""


@dataclass(frozen=True, slots=True)
class State:
    """A state that objects of a simulator may have."""

    name: str
    """Name of the state, as in `SceneObject.states`: "open"."""
    words: tuple[str, str]
    """Adjectives for "holds" and "does not hold"."""
    needs: str
    """The simulator's property that an object needs for the state."""
    reads: str
    """The simulator's property that holds the state's value."""
    sets: str = ""
    """The simulator's action that brings the state about, if it takes no more than the object."""
    clears: str = ""
    """The simulator's action that undoes the state, likewise."""


@dataclass(frozen=True, slots=True)
class Verb(Generic[T]):
    """A kind of action: how it is said and understood, and what it applies to."""

    name: str
    """Name of the verb, as in `Action.verb`."""
    says: str
    """Wording: "put {} {in} {}", with "{in}" for the preposition of the last object."""
    kind: ActionKind = ActionKind.OTHER
    also: tuple[str, ...] = ()
    """Regular expressions of the texts that mean the verb: see `Language`."""
    fits: Callable[[T], bool] | None = None
    """Whether the verb can apply to an object in its state; None if it takes none, or any."""
    takes: Callable[[T], bool] | None = None
    """Whether it can apply to an object in whatever state; None if that makes no difference."""
    needs: tuple[str, ...] = ()
    """Properties of which an object needs one; empty: any object."""
    near: bool = True
    """Whether the agent must be close to the object."""
    asks: str = ""
    """The simulator's own name of the verb, if it is another."""
    makes: str = ""
    """The state of the object that the verb brings about."""
    traits: tuple[str, ...] = ()
    """What else an environment tells of the verb."""

    @property
    def arity(self) -> int:
        """The number of its objects."""
        return self.says.count("{}")


IT = "it"
"""The pronoun for the held object."""
_NOUN = r"(?:(?:the|a|an|some|your|my) )?(?P<{}>\w[\w \-]{{0,60}}?)"
_PARTS = {
    "{thing}": _NOUN.format("thing"),
    "{place}": _NOUN.format("place"),
    "{from}": r"(?: (?:from|off|out of) .*)?",
    "{hand}": r"(?:the )?(?:object|thing|item)s? in (?:your |the |my )?hands?",
}
_LONGEST = 200


class Language:
    """Says and understands the actions of one environment.

    A verb is understood by the expressions in its `also`. In them "{thing}" and "{place}" stand for
    names with or without an article, "{from}" for where something is taken from, which may be left
    out, and "{hand}" for what is in the hand. The first that matches counts.
    """

    def __init__(
        self,
        verbs: Sequence[Verb[Any]],
        noun: Callable[[str], str],
        preposition: Callable[[str], str] = lambda name: "in",
    ) -> None:
        """Compile the rows.

        Args:
            verbs: in the order in which texts are tried on them.
            noun: the canonical spelling of a name; empty if it is none.
            preposition: "in" or "on", by the name of a receptacle.
        """
        self._says = {verb.name: (verb.says, verb.arity) for verb in verbs}
        self._noun, self._preposition = noun, preposition
        self._patterns = [(verb.name, _compiled(also)) for verb in verbs for also in verb.also]

    def say(self, verb: str, *things: str) -> Action:
        """An action in its canonical wording: "put", "it", "sink" gives "put it in the sink"."""
        says, arity = self._says[verb]
        named = things or (IT,) * arity
        said = (name if name == IT else f"the {name}" for name in named)
        within = {"in": self._preposition(named[-1])} if "{in}" in says else {}
        return Action(says.format(*said, **within), verb, things)

    def understand(self, text: str) -> Action | None:
        """Parse a text; None if it is not an action."""
        action = self._read(text) if len(text) <= _LONGEST else None
        # What would be understood as something else when it is repeated was not understood.
        return action if action is not None and self._read(action.text) == action else None

    def _read(self, text: str) -> Action | None:
        plain = re.sub(r"\s+", " ", text.strip().lower()).rstrip(".! ")
        for verb, pattern in self._patterns:
            match = pattern.fullmatch(plain)
            if match is not None:
                things = [self._noun(phrase) for phrase in match.groupdict().values() if phrase]
                return self.say(verb, *things) if all(things) else None
        return None


Choices = Mapping[Verb[Any], Sequence[tuple[str, ...]]]
"""Verb -> the objects that it can be said with; [()] for one that takes none."""


def listed(verbs: Choices) -> Sequence[Action]:
    """Every action of a world in which they can be listed."""
    return [
        Action(verb.says.format(*(f"the {name}" for name in about)), verb.name, about)
        for verb, choices in verbs.items()
        for about in choices
    ]


def among(actions: Sequence[Action], text: str) -> Action | None:
    """The one that a text means, if only one does.

    Case, articles, punctuation and "1." before it are ignored.
    """
    plain = _unnumbered(text)
    said = {_plain(text), _plain(plain)}
    alike = [action for action in actions if _plain(action.text) in said]
    if len(alike) > 1:  # They may differ in signs alone: "press the +" and "press the -".
        exact = [action for action in alike if action.text == text.strip()][:1]
        alike = exact or [a for a in alike if _signed(a.text) == _signed(plain)]
    return alike[0] if len(alike) == 1 else None


def kind_of(verbs: Mapping[str, Verb[Any]], action: Action) -> ActionKind:
    """The kind of an action, by its verb."""
    return verbs[action.verb].kind if action.verb in verbs else ActionKind.OTHER


def _unnumbered(text: str) -> str:
    return re.sub(r"^\s*\d+[.):](?!\d)", "", text)


def _plain(text: str) -> str:
    signed = re.sub(r"(?<!\S)-(?=\d)", "minus ", text.lower())
    return _signed(re.sub(r"[\W_]", " ", signed))


def _signed(text: str) -> str:
    words = text.lower().strip(" .!").split()
    return " ".join(word for word in words if word not in ("the", "a", "an"))


def _compiled(also: str) -> re.Pattern[str]:
    for part, pattern in _PARTS.items():
        also = also.replace(part, pattern)
    return re.compile(also)
