"""The first lines of all shortest plans, for goals at most two lines away.

The search is exhaustive: a line is skipped only if it cannot be part of such a plan. Longer plans
are too many, with hundreds of lines in every state.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from inhabit.envs.virtualhome.graph.goals import (
    ActionGoal,
    Goal,
    RelationGoal,
    StateGoal,
    counts,
    holds,
    met,
)
from inhabit.envs.virtualhome.graph.names import held, visible
from inhabit.envs.virtualhome.graph.verbs import IDLE, VERBS, ScriptLine, ScriptObject
from inhabit.envs.virtualhome.graph.world import FlatWorld


@dataclass(frozen=True, slots=True)
class PlanStart:
    """The state where a plan starts."""

    world: FlatWorld
    character: int
    goals: Sequence[Goal]
    done: tuple[ScriptLine, ...]
    """Script lines that were executed."""
    seen: frozenset[int]
    """Ids of the objects that may be named."""
    actions: frozenset[str]
    """The permitted actions, in capitals."""


def first_lines(
    start: PlanStart, possible: Callable[[], Sequence[ScriptLine]]
) -> Sequence[ScriptLine] | None:
    """Every line that starts a shortest plan.

    Args:
        start: where to start.
        possible: every line that can be executed there.

    Returns:
        None if the shortest plan has three lines or more, or there is none; empty if the goals
        hold.
    """
    if not _unmet(start):
        return []
    if last := list(_last_lines(start, possible)):
        return last
    first = []
    walked: dict[tuple[ScriptObject, ...], bool] = {}
    for line in _first_of_two(start, possible):
        # Running equals walking: the resulting graph is the same.
        if line.action in ("WALK", "RUN") and line.things in walked and not _counts(start, line):
            leads_on = walked[line.things]
        else:
            leads_on = _leads_on(start, line)
            walked[line.things] = leads_on
        if leads_on:
            first.append(line)
    return first or None


def _unmet(start: PlanStart) -> list[Goal]:
    return [g for g in start.goals if not holds(g, start.world, start.done)]


def _counts(start: PlanStart, line: ScriptLine) -> bool:
    """Whether a goal asks for the action itself."""
    return any(isinstance(g, ActionGoal) and line.action in g.any_of for g in start.goals)


def _after(start: PlanStart, line: ScriptLine) -> PlanStart | None:
    world, failure = start.world.step(line)
    if failure is not None:
        return None
    done, seen = (*start.done, line), start.seen
    if any(isinstance(g, ActionGoal) or not seen.issuperset(_ids(g)) for g in start.goals):
        seen |= visible(world, start.character)
    return PlanStart(world, start.character, start.goals, done, seen, start.actions)


def _ids(goal: StateGoal | RelationGoal) -> tuple[int, ...]:
    return (goal.id,) if isinstance(goal, StateGoal) else (goal.from_id, goal.to_id)


def _solved(start: PlanStart) -> bool:
    return met(start.goals, start.world, start.done) == len(start.goals)


def _leads_on(start: PlanStart, line: ScriptLine) -> bool:
    """Whether one more line can make all goals hold."""
    after = _after(start, line)
    return after is not None and any(True for _ in _last_lines(after, None))


def _last_lines(
    start: PlanStart, possible: Callable[[], Sequence[ScriptLine]] | None
) -> Iterable[ScriptLine]:
    """Lines after which all goals hold."""
    unmet = _unmet(start)
    if len(_apart(start)) > 1:
        return
    # A line must reach every goal; one with a known object leaves the fewest candidates.
    goal = min(unmet, key=lambda g: isinstance(g, ActionGoal) or _subject(g, start) is None)
    lines = _bringing(start, goal)
    if lines is None:
        lines = possible() if possible is not None else _all_lines(start)
    for line in lines:
        if start.world.check(line) is None:
            after = _after(start, line)
            if after is not None and _solved(after):
                yield line


def _first_of_two(
    start: PlanStart, possible: Callable[[], Sequence[ScriptLine]]
) -> Sequence[ScriptLine]:
    """Lines that can start a plan of two."""
    apart = _apart(start)
    if len(apart) > 2:
        return []
    lines = [line for line in possible() if line.action not in IDLE or _counts(start, line)]
    hands = held(start.world, start.character)
    if fetched := [i for goal in _unmet(start) if (i := _put(goal, start)) not in (None, *hands)]:
        # An object must be grabbed before it is put, so that no other line can come first.
        return [line for line in lines if line.things and line.things[0].id == fetched[0]]
    if len(apart) < 2:
        return lines
    # No single line reaches both goals: the first of two must reach one.
    ids = {key for key in apart if isinstance(key, int)}
    words = {word for key in apart if isinstance(key, tuple) for word in key}
    return [
        line for line in lines if line.action in words or (line.things and line.things[0].id in ids)
    ]


def _apart(start: PlanStart) -> set[int | tuple[str, ...]]:
    """Goals that need a line each, grouped by the object or the verbs of that line."""
    found: set[int | tuple[str, ...]] = set()
    used: set[str] = set()
    for goal in _unmet(start):
        match goal:
            case ActionGoal(any_of=words):
                if used.isdisjoint(words) and IDLE.issuperset(words):
                    found.add(words)
                    used.update(words)
            case _ if (thing := _subject(goal, start)) is not None:
                found.add(thing)
    return found


def _bringing(start: PlanStart, goal: Goal) -> Sequence[ScriptLine] | None:
    """A superset of the lines that can make a goal hold; None if any line might."""
    if isinstance(goal, ActionGoal):
        return [line for line in _all_lines(start) if counts(goal, line)]
    thing = _subject(goal, start)
    if thing is None:
        return None
    lines = _about(start, thing)
    if isinstance(goal, RelationGoal) and thing == goal.from_id:
        lines += _about(start, thing, goal.to_id)
    return [line for line in lines if line.action not in IDLE]


def _subject(goal: StateGoal | RelationGoal, start: PlanStart) -> int | None:
    """The first object of any line that makes a goal hold."""
    me, world = start.character, start.world
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


def _put(goal: Goal, start: PlanStart) -> int | None:
    """The object that must be held, and then put down or poured, for a goal to hold."""
    if not isinstance(goal, RelationGoal) or goal.from_id == start.character:
        return None
    return _subject(goal, start) if goal.relation in ("ON", "INSIDE") else None


def _about(start: PlanStart, *ids: int) -> list[ScriptLine]:
    """Every line on exactly these objects, if they may be named."""
    if not start.seen.issuperset(ids):
        return []
    world = start.world
    index = list(world.characters()).index(start.character)
    nodes = [world.node(i) for i in ids]
    things = tuple(ScriptObject(n.class_name, n.id) for n in nodes if n is not None)
    return [
        ScriptLine(action, things, index)
        for action in sorted(start.actions)
        if VERBS[action].arity == len(things)
    ]


def _all_lines(start: PlanStart) -> list[ScriptLine]:
    hands = sorted(held(start.world, start.character))
    lines = _about(start)
    for id_ in sorted(start.seen):
        lines += _about(start, id_)
        for hand in hands:
            lines += _about(start, hand, id_)
    return lines
