"""Reads claims and intents out of a text."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from inhabit.envs.claims.claim import Claim, Intent
from inhabit.envs.claims.clauses import clauses
from inhabit.envs.claims.facts import Facts
from inhabit.envs.claims.intents import Intents
from inhabit.envs.claims.nouns import Nouns
from inhabit.envs.core import SceneObject


class Reader:
    """Knows the kinds of things that may be spoken of."""

    def __init__(self, things: Sequence[SceneObject], kinds: Iterable[str] = ()) -> None:
        """Read of the kinds of `things`, and of further `kinds` that may be absent."""
        self._nouns = Nouns([*(thing.kind for thing in things), *kinds])

    def claims(self, text: str) -> tuple[Claim, ...]:
        """All that `text` says is so, and that is understood. Never raises."""
        found = (c for clause in clauses(text, self._nouns) for c in Facts(clause).claims())
        return tuple(dict.fromkeys(found))

    def intents(self, text: str) -> tuple[Intent, ...]:
        """All that `text` says is to be done: "I should open the fridge", "Open it."."""
        found = (i for clause in clauses(text, self._nouns) for i in Intents(clause).intents())
        return tuple(dict.fromkeys(found))
