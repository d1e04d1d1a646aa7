"""The verbs of MineDojo. `also` are other words for them; a target's name stands after the verb."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from inhabit.envs.template import ActionKind
from inhabit.envs.world.rows import Verb

_VERBS: Sequence[Verb[str]] = (
    Verb("look around", "look around", ActionKind.LOOK),
    Verb("explore", "explore", ActionKind.SEARCH),
    Verb("wait", "wait"),
    Verb("sleep", "sleep"),
    Verb("find", "find {}", ActionKind.SEARCH, ("locate", "goto")),
    Verb("mine", "mine {}", ActionKind.GATHER, ("collect", "harvest", "dig", "break")),
    Verb("craft", "craft {}", ActionKind.MAKE, ("make",)),
    Verb("smelt", "smelt {}", ActionKind.MAKE, ("cook",)),
    Verb("place", "place {}", ActionKind.DROP, ("put",)),
    Verb("equip", "equip {}", also=("wear", "hold")),
    Verb("use", "use {}"),
    Verb("eat", "eat {}"),
    Verb("hunt", "hunt {}", ActionKind.GATHER, ("attack", "kill", "combat")),
    Verb("milk", "milk {}", ActionKind.GATHER),
    Verb("shear", "shear {}", ActionKind.GATHER),
    Verb("collect", "collect {}", ActionKind.GATHER),
)

VERBS: Mapping[str, Verb[str]] = {verb.name: verb for verb in _VERBS}
ALONE = tuple(verb.name for verb in _VERBS if not verb.arity)
"""Verbs without a target."""
ALIASES: Mapping[str, str] = {word: verb.name for verb in _VERBS for word in verb.also}
"""Other words -> the verb, where a text is no action of that word's own verb."""


def gathers(verb: str) -> bool:
    """Whether a verb obtains something from the ground, a plant or an animal."""
    return VERBS[verb].kind is ActionKind.GATHER
