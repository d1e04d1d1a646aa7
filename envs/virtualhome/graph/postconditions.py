"""Checks the postconditions of a script line, since a simulator may wrongly report success.

Unity reports success of scripts whose graph then shows failure; the evolving graph must not.
"""

from __future__ import annotations

from collections.abc import Mapping

from inhabit.envs.virtualhome.graph.script import ScriptLine
from inhabit.envs.virtualhome.graph.verbs import VERBS
from inhabit.envs.virtualhome.graph.visibility import held
from inhabit.envs.virtualhome.graph.world import FlatWorld

_POSTURES: Mapping[str, str] = {"SIT": "SITTING", "LIE": "LYING"}
_PUTS: Mapping[str, tuple[str, ...]] = {"PUTIN": ("INSIDE",), "PUTBACK": ("ON", "INSIDE")}
_LETS_GO = ("PUTIN", "PUTBACK", "PUTOBJBACK", "DROP", "RELEASE", "PUTON")


def broken(world: FlatWorld, character: int, line: ScriptLine) -> str | None:
    """The unmet postconditions of a line; None if all hold.

    Args:
        world: after the line, which the simulator reported as executed.
        character: id of the acting character.
        line: what was done. Looking, touching and the like promise nothing that a graph holds.
    """
    me = world.node(character)
    if me is None:
        return "the character is gone"
    if line.action in _POSTURES and _POSTURES[line.action] not in me.states:
        return f"the character is not {_POSTURES[line.action].lower()}"
    if line.action == "STANDUP" and me.states & {"SITTING", "LYING"}:
        return "the character does not stand"
    if not line.things:
        return None
    thing = line.things[0]
    node = world.node(thing.id)
    if node is None:
        return f"{thing} is gone"
    made = VERBS[line.action].makes
    if made and made not in node.states:
        return f"{thing} is not {made.lower()}"
    in_hands = thing.id in held(world, character)
    if line.action == "GRAB" and not in_hands:
        return f"{thing} is in no hand"
    if line.action in _LETS_GO and in_hands:
        return f"{thing} is still in the hands"
    if line.action in _PUTS:
        place = line.things[1]
        relations = _PUTS[line.action]
        if not any(place.id in world.targets(thing.id, relation) for relation in relations):
            return f"{thing} is not {relations[0].lower()} {place}"
    return None
