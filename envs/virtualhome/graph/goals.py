"""Goals over the graph, and what an action is expected to bring about."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from inhabit.envs.virtualhome.graph.library import load
from inhabit.envs.virtualhome.graph.names import held
from inhabit.envs.virtualhome.graph.verbs import VERBS, ScriptLine
from inhabit.envs.virtualhome.graph.world import FlatWorld


class StateGoal(BaseModel):
    """An object must be in a state, such as fridge 12 CLOSED."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    kind: Literal["state"] = "state"
    id: int
    state: str
    """State in capitals: OPEN, CLOSED, ON, OFF, CLEAN, DIRTY, PLUGGED_IN, ..."""


class RelationGoal(BaseModel):
    """Two objects must stand in a relation, such as cup 5 ON table 9."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    kind: Literal["relation"] = "relation"
    from_id: int
    relation: str
    """Relation in capitals: ON, INSIDE, CLOSE, FACING, HOLDS_RH, HOLDS_LH, ..."""
    to_id: int


class ActionGoal(BaseModel):
    """One of these actions must have been carried out."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    kind: Literal["action"] = "action"
    any_of: tuple[str, ...] = Field(min_length=1)
    """Actions in capitals, of `inhabit.envs.virtualhome.graph.verbs.VERBS`."""
    id: int | None = None
    """Id of the object that is acted on; None for any object."""


Goal = StateGoal | RelationGoal | ActionGoal
TaggedGoal = Annotated[Goal, Field(discriminator="kind")]
"""A goal of any kind, for pydantic models that hold goals."""


def holds(goal: Goal, world: FlatWorld, done: Sequence[ScriptLine]) -> bool:
    """Whether one condition holds.

    Args:
        goal: the condition.
        world: the current state.
        done: the lines carried out so far.
    """
    match goal:
        case StateGoal():
            node = world.node(goal.id)
            return node is not None and goal.state in node.states
        case RelationGoal():
            return goal.to_id in world.targets(goal.from_id, goal.relation)
        case ActionGoal():
            return any(counts(goal, line) for line in done)


def counts(goal: ActionGoal, line: ScriptLine) -> bool:
    """Whether a line satisfies an action goal."""
    named = goal.id is None or goal.id in [thing.id for thing in line.things]
    return named and line.action in goal.any_of


def met(goals: Sequence[Goal], world: FlatWorld, done: Sequence[ScriptLine]) -> int:
    """The number of conditions that hold. All are checked."""
    return sum(holds(goal, world, done) for goal in goals)


def faults(goals: Sequence[Goal], world: FlatWorld) -> Sequence[str]:
    """The invalid references of goals, such as "goals.0: there is no node 9."."""
    environment = load().environment
    found: list[str] = []
    ids: tuple[int, ...]
    for number, goal in enumerate(goals):
        match goal:
            case StateGoal():
                ids = (goal.id,)
                wrong = _unknown("state", (goal.state,), environment.State.__members__)
            case RelationGoal():
                ids = (goal.from_id, goal.to_id)
                wrong = _unknown("relation", (goal.relation,), environment.Relation.__members__)
            case ActionGoal():
                ids = () if goal.id is None else (goal.id,)
                wrong = _unknown("action", goal.any_of, VERBS)
                if ids and not any(word in VERBS and VERBS[word].arity for word in goal.any_of):
                    wrong.append("it names a node, and its actions are about none")
        wrong += [f"there is no node {i}" for i in ids if world.node(i) is None]
        found += [f"goals.{number}: {what}." for what in wrong]
    return found


def _unknown(what: str, words: Iterable[str], known: Iterable[str]) -> list[str]:
    known = sorted(known)

    def near(word: str) -> str:
        return ", ".join(get_close_matches(word, known) or known)

    return [
        f"there is no {what} {word!r}; nearest: {near(word)}" for word in words if word not in known
    ]


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
