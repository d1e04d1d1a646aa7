"""Every first line of a shortest plan, where the goals are at most two lines away.

Exhaustive, and exact: a line is left out only where it can't be part of so short a plan. From
farther away the flat's hundreds of lines in each moment leave too many plans to tell.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from inhabit.envs.virtualhome.graph.script import ARGUMENTS, ScriptLine, ScriptObject
from inhabit.envs.virtualhome.graph.visibility import held, visible
from inhabit.envs.virtualhome.graph.world import FlatWorld
from inhabit.envs.virtualhome.tasks.goals import (
    ActionGoal,
    Goal,
    RelationGoal,
    StateGoal,
    counts,
    holds,
    met,
)

_CHANGE_NOTHING = frozenset(
    (
        *("GREET", "DRINK", "EAT", "CUT", "READ", "TOUCH", "TYPE", "WATCH", "LOOKAT", "POINTAT"),
        *("PUSH", "PULL", "MOVE", "SQUEEZE", "SLEEP", "WAKEUP"),
    )
)
"""What the evolving graph lets be done without any trace in the graph."""


@dataclass(frozen=True, slots=True)
class PlanStart:
    """From where a plan is to start."""

    world: FlatWorld
    character: int
    goals: Sequence[Goal]
    done: tuple[ScriptLine, ...]
    """Lines carried out so far."""
    seen: frozenset[int]
    """Ids that can be spoken of."""
    actions: frozenset[str]
    """What may be done at all, in capitals."""


def first_lines(
    moment: PlanStart, possible: Callable[[], Sequence[ScriptLine]]
) -> Sequence[ScriptLine] | None:
    """Every line that some shortest plan starts with.

    Args:
        moment: where to start.
        possible: every line that can be carried out there.

    Returns:
        None if the shortest plan has three lines or more, or there is none; empty if the goals
        hold.
    """
    if not _unmet(moment):
        return []
    if last := list(_last_lines(moment, possible)):
        return last
    first = []
    walked: dict[tuple[ScriptObject, ...], bool] = {}
    for line in _first_of_two(moment, possible):
        # Running is walking: the graph after it is the same.
        if line.action in ("WALK", "RUN") and line.things in walked and not _counts(moment, line):
            leads_on = walked[line.things]
        else:
            leads_on = _leads_on(moment, line)
            walked[line.things] = leads_on
        if leads_on:
            first.append(line)
    return first or None


def _unmet(moment: PlanStart) -> list[Goal]:
    return [g for g in moment.goals if not holds(g, moment.world, moment.done)]


def _counts(moment: PlanStart, line: ScriptLine) -> bool:
    """Whether a goal asks for the action itself."""
    return any(isinstance(g, ActionGoal) and line.action in g.any_of for g in moment.goals)


def _after(moment: PlanStart, line: ScriptLine) -> PlanStart | None:
    world, failure = moment.world.step(line)
    if failure is not None:
        return None
    done, seen = (*moment.done, line), moment.seen
    if any(isinstance(g, ActionGoal) or not seen.issuperset(_ids(g)) for g in moment.goals):
        seen |= visible(world, moment.character)
    return PlanStart(world, moment.character, moment.goals, done, seen, moment.actions)


def _ids(goal: StateGoal | RelationGoal) -> tuple[int, ...]:
    return (goal.id,) if isinstance(goal, StateGoal) else (goal.from_id, goal.to_id)


def _solved(moment: PlanStart) -> bool:
    return met(moment.goals, moment.world, moment.done) == len(moment.goals)


def _leads_on(moment: PlanStart, line: ScriptLine) -> bool:
    """Whether one more line may follow that makes every goal hold."""
    after = _after(moment, line)
    return after is not None and any(True for _ in _last_lines(after, None))


def _last_lines(
    moment: PlanStart, possible: Callable[[], Sequence[ScriptLine]] | None
) -> Iterable[ScriptLine]:
    """Lines that make every goal hold by themselves."""
    unmet = _unmet(moment)
    if len(_apart(moment)) > 1:
        return
    # A line must bring about each of them; one that says what it is about leaves the fewest.
    goal = min(unmet, key=lambda g: isinstance(g, ActionGoal) or _subject(g, moment) is None)
    lines = _bringing(moment, goal)
    if lines is None:
        lines = possible() if possible is not None else _all_lines(moment)
    for line in lines:
        if moment.world.check(line) is None:
            after = _after(moment, line)
            if after is not None and _solved(after):
                yield line


def _first_of_two(
    moment: PlanStart, possible: Callable[[], Sequence[ScriptLine]]
) -> Sequence[ScriptLine]:
    """Lines that a plan of two may start with."""
    apart = _apart(moment)
    if len(apart) > 2:
        return []
    lines = [
        line for line in possible() if line.action not in _CHANGE_NOTHING or _counts(moment, line)
    ]
    hands = held(moment.world, moment.character)
    if fetched := [i for goal in _unmet(moment) if (i := _put(goal, moment)) not in (None, *hands)]:
        # What is to be put somewhere must be grabbed first, and no other line has room before that.
        return [line for line in lines if line.things and line.things[0].id == fetched[0]]
    if len(apart) < 2:
        return lines
    # No one line brings both about: the first of two must bring about one.
    ids = {key for key in apart if isinstance(key, int)}
    words = {word for key in apart if isinstance(key, tuple) for word in key}
    return [
        line for line in lines if line.action in words or (line.things and line.things[0].id in ids)
    ]


def _apart(moment: PlanStart) -> set[int | tuple[str, ...]]:
    """Goals that need a line each: by the thing that it must be about, or the words it must use."""
    found: set[int | tuple[str, ...]] = set()
    used: set[str] = set()
    for goal in _unmet(moment):
        match goal:
            case ActionGoal(any_of=words):
                if used.isdisjoint(words) and _CHANGE_NOTHING.issuperset(words):
                    found.add(words)
                    used.update(words)
            case _ if (thing := _subject(goal, moment)) is not None:
                found.add(thing)
    return found


def _bringing(moment: PlanStart, goal: Goal) -> Sequence[ScriptLine] | None:
    """Every line that can make a goal hold, among others that can't; None where any might."""
    if isinstance(goal, ActionGoal):
        return [line for line in _all_lines(moment) if counts(goal, line)]
    thing = _subject(goal, moment)
    if thing is None:
        return None
    lines = _about(moment, thing)
    if isinstance(goal, RelationGoal) and thing == goal.from_id:
        lines += _about(moment, thing, goal.to_id)
    return lines


def _subject(goal: StateGoal | RelationGoal, moment: PlanStart) -> int | None:
    """The thing that a line must be about, in the first place, to make a goal hold."""
    me, world = moment.character, moment.world
    match goal:
        case StateGoal(id=thing):
            return thing if thing != me else None
        case RelationGoal(from_id=thing, relation="ON" | "INSIDE", to_id=target):
            node = world.node(target)
            if target == me or node is None or node.category == "Rooms":
                return None
            return target if thing == me else thing
        case RelationGoal(from_id=thing, relation="HOLDS_RH" | "HOLDS_LH", to_id=target):
            return target if thing == me else None
    return None


def _put(goal: Goal, moment: PlanStart) -> int | None:
    """The thing that must be held, and then put down or poured, to make a goal hold."""
    if not isinstance(goal, RelationGoal) or goal.from_id == moment.character:
        return None
    return _subject(goal, moment) if goal.relation in ("ON", "INSIDE") else None


def _about(moment: PlanStart, *ids: int) -> list[ScriptLine]:
    """Every line about just these things, if they can be spoken of."""
    if not moment.seen.issuperset(ids):
        return []
    world = moment.world
    index = list(world.characters()).index(moment.character)
    nodes = [world.node(i) for i in ids]
    things = tuple(ScriptObject(n.class_name, n.id) for n in nodes if n is not None)
    return [
        ScriptLine(action, things, index)
        for action in sorted(moment.actions)
        if ARGUMENTS[action] == len(things)
    ]


def _all_lines(moment: PlanStart) -> list[ScriptLine]:
    hands = sorted(held(moment.world, moment.character))
    lines = _about(moment)
    for id_ in sorted(moment.seen):
        lines += _about(moment, id_)
        for hand in hands:
            lines += _about(moment, hand, id_)
    return lines
