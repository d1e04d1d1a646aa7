"""Script actions to English text, and back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from inhabit.envs.virtualhome.graph.script import ARGUMENTS


@dataclass(frozen=True, slots=True)
class Verb:
    """The wording of one script action."""

    action: str
    """In capitals, of `ARGUMENTS`."""
    words: tuple[str, ...]
    """Words before, between and after the objects: one more than objects, an empty last one left
    out."""
    properties: tuple[str, ...] = ()
    """An object needs one of these properties for the action; empty: any object."""
    near: bool = True
    """Whether the character must be close to the object."""

    def say(self, *names: str) -> str:
        """The action on these objects: "put the mug_2 in the fridge_1"."""
        parts = [f"{word} the {name}" for word, name in zip(self.words, names, strict=False)]
        return " ".join([*parts, *self.words[len(names) :]])


_VERBS = (
    Verb("WALK", ("walk to",), near=False),
    Verb("RUN", ("run to",), near=False),
    Verb("FIND", ("find",), near=False),
    Verb("GRAB", ("grab",), ("GRABBABLE",)),
    Verb("PUTIN", ("put", "in"), ("CONTAINERS", "RECIPIENT", "CAN_OPEN")),
    Verb("PUTBACK", ("put", "on"), ("SURFACES", "SITTABLE", "LIEABLE", "RECIPIENT", "CONTAINERS")),
    Verb("OPEN", ("open",), ("CAN_OPEN",)),
    Verb("CLOSE", ("close",), ("CAN_OPEN",)),
    Verb("SWITCHON", ("switch on",), ("HAS_SWITCH",)),
    Verb("SWITCHOFF", ("switch off",), ("HAS_SWITCH",)),
    Verb("PLUGIN", ("plug in",), ("HAS_PLUG",)),
    Verb("PLUGOUT", ("unplug",), ("HAS_PLUG",)),
    Verb("SIT", ("sit on",), ("SITTABLE",)),
    Verb("LIE", ("lie on",), ("LIEABLE",)),
    Verb("STANDUP", ("stand up",)),
    Verb("SLEEP", ("sleep",)),
    Verb("WAKEUP", ("wake up",)),
    Verb("POUR", ("pour", "into"), ("RECIPIENT",)),
    Verb("DRINK", ("drink",), ("DRINKABLE", "RECIPIENT")),
    Verb("EAT", ("eat",), ("EATABLE",)),
    Verb("CUT", ("cut",), ("CUTTABLE",)),
    Verb("READ", ("read",), ("READABLE",)),
    Verb("WASH", ("wash",)),
    Verb("RINSE", ("rinse",)),
    Verb("SCRUB", ("scrub",)),
    Verb("WIPE", ("wipe",)),
    Verb("SQUEEZE", ("squeeze",), ("CLOTHES",)),
    Verb("PUTON", ("wear",), ("CLOTHES",)),
    Verb("PUTOFF", ("take off",), ("CLOTHES",)),
    Verb("PUTOBJBACK", ("put back",), ("GRABBABLE",)),
    Verb("DROP", ("drop",), ("GRABBABLE",)),
    Verb("RELEASE", ("release",), ("GRABBABLE",)),
    Verb("TURNTO", ("turn to",), near=False),
    Verb("LOOKAT", ("look at",), near=False),
    Verb("WATCH", ("watch",), ("LOOKABLE",), near=False),
    Verb("POINTAT", ("point at",), near=False),
    Verb("TOUCH", ("touch",)),
    Verb("PUSH", ("push",), ("MOVABLE",)),
    Verb("PULL", ("pull",), ("MOVABLE",)),
    Verb("MOVE", ("move",), ("MOVABLE",)),
    Verb("GREET", ("greet",), ("PERSON",), near=False),
    Verb("TYPE", ("type on",), ("HAS_SWITCH",)),
)

VERBS: Mapping[str, Verb] = {verb.action: verb for verb in _VERBS}
"""Every action with an executor, by its name in scripts."""


def read(text: str) -> Sequence[tuple[Verb, tuple[str, ...]]]:
    """Every reading of a text: the verb, and its object names.

    "put the cup on the table" reads one way; a name may hold any words, so there can be several.
    """
    said = " ".join(text.lower().strip().rstrip(".!").split())
    found: list[tuple[Verb, tuple[str, ...]]] = []
    # Longer words first: "put back the mug" is not "put" with an object called "back the mug".
    for verb in sorted(_VERBS, key=lambda v: -len(v.words[0])):
        count = ARGUMENTS[verb.action]
        if count == 0:
            if said == verb.words[0]:
                found.append((verb, ()))
            continue
        if not said.startswith(verb.words[0] + " "):
            continue
        rest = said[len(verb.words[0]) + 1 :]
        if count == 1:
            found.append((verb, (rest,)))
        else:
            pieces = rest.split(f" {verb.words[1]} ")
            for i in range(1, len(pieces)):
                joint = f" {verb.words[1]} "
                found.append((verb, (joint.join(pieces[:i]), joint.join(pieces[i:]))))
    return found
