"""Plans goals from any state: fetch, carry, open, switch, wash, then posture.

The planner executes every line on a copy of the state, so that each line of the plan is executable.
Plans are not always shortest: the goals are reached one after the other.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence, Set

from inhabit.envs.virtualhome.graph.goals import (
    ActionGoal,
    Goal,
    RelationGoal,
    StateGoal,
    holds,
    met,
)
from inhabit.envs.virtualhome.graph.names import held, hidden, near
from inhabit.envs.virtualhome.graph.verbs import VERBS, ScriptLine, ScriptObject
from inhabit.envs.virtualhome.graph.world import FlatWorld, Node

_PASSES = 3
_AT_REST = {"READ", "WATCH", "SLEEP", "WAKEUP", "LOOKAT", "POINTAT"}
_ORDER = ("CLEAN", "DIRTY", "PLUGGED_IN", "OPEN", "CLOSED", "OFF", "ON", "PLUGGED_OUT")
"""Order of the states: later ones may depend on earlier ones and would be undone by them."""


class NoFlatPlanError(ValueError):
    """No attempted line leads to the goal. Names it."""


def solve(
    world: FlatWorld,
    character: int,
    goals: Sequence[Goal],
    done: Sequence[ScriptLine],
    seen: Set[int] | None = None,
) -> list[ScriptLine]:
    """Lines after which all goals hold.

    Args:
        world: the current state.
        character: id of the acting character.
        goals: what must hold at the end.
        done: lines executed so far.
        seen: ids of the objects that were visible at some time so far. If None, nothing is
            remembered: every walk to an object of another room goes to the room first.

    Returns:
        A plan, empty if the goals hold.

    Raises:
        NoFlatPlanError: none was found.
    """
    attempt = _Attempt(world, character, goals, done, seen)
    for _ in range(_PASSES):
        for goal in sorted(goals, key=attempt.rank):
            if not holds(goal, attempt.world, attempt.done):
                attempt.reach(goal)
        if met(goals, attempt.world, attempt.done) == len(goals):
            return attempt.lines
    raise NoFlatPlanError(
        f"After {len(attempt.lines)} script lines some of {list(goals)!r} do not hold."
    )


class _Attempt:
    """A plan under construction, with the world after it."""

    def __init__(
        self,
        world: FlatWorld,
        character: int,
        goals: Sequence[Goal],
        done: Sequence[ScriptLine],
        seen: Set[int] | None,
    ) -> None:
        self.world = world
        self.lines: list[ScriptLine] = []
        self._before = tuple(done)
        self._me = character
        self._seen = seen
        self._passed: list[FlatWorld] = []
        self._index = list(world.characters()).index(character)
        self._wanted = {g.from_id for g in goals if isinstance(g, RelationGoal)}
        postures = [g.state for g in goals if isinstance(g, StateGoal) and g.id == character]
        self._sits = "SITTING" in postures
        self._named = self._wanted | {g.id for g in goals if isinstance(g, StateGoal)}

    @property
    def done(self) -> Sequence[ScriptLine]:
        """Past lines and those of the plan."""
        return [*self._before, *self.lines]

    def rank(self, goal: Goal) -> tuple[int, int]:
        """Sort goals so that reaching one does not undo another.

        First actions on objects, then positions, those of held objects first, then states (doors
        are closed last), then held objects, then posture, and then actions while lying down.
        """
        match goal:
            case ActionGoal(any_of=actions):
                return (5 if set(actions) & _AT_REST else 0), 0
            case RelationGoal(from_id=thing, relation=relation):
                if thing != self._me:
                    return 1, thing not in held(self.world, self._me)
                return (4 if relation in ("ON", "SITTING") else 3), relation == "HOLDS_LH"
            case StateGoal(state=state):
                order = _ORDER.index(state) if state in _ORDER else len(_ORDER)
                return (4 if state in ("SITTING", "LYING") else 2), order

    def reach(self, goal: Goal) -> None:
        """Make one goal hold."""
        match goal:
            case RelationGoal(from_id=thing, relation=relation, to_id=target):
                self._relate(thing, relation, target)
            case StateGoal(id=thing, state=state):
                self._set(thing, state)
            case ActionGoal(any_of=actions, id=thing):
                self._perform(actions, thing)

    def _do(self, action: str, *ids: int) -> None:
        line = self._line(action, *ids)
        after, failure = self.world.step(line)
        if failure is not None:
            raise NoFlatPlanError(f"{line}: {failure.message}")
        self.world = after
        self.lines.append(line)
        self._passed.append(after)

    def _line(self, action: str, *ids: int) -> ScriptLine:
        things = tuple(ScriptObject(self._node(i).class_name, i) for i in ids)
        return ScriptLine(action, things, self._index)

    def _node(self, id_: int) -> Node:
        node = self.world.node(id_)
        if node is None:
            raise NoFlatPlanError(f"There is no node {id_}.")
        return node

    def _stand(self) -> None:
        if self._node(self._me).states & {"SITTING", "LYING"}:
            self._do("STANDUP")

    def _go(self, id_: int) -> None:
        """Walk to an object, and to its room first if it was never seen: it has no name yet."""
        self._uncover(id_)
        if id_ in near(self.world, self._me):
            return
        self._stand()
        room = None if self._was_seen(id_) else self.world.room(id_)
        if room is not None and room not in (id_, self.world.room(self._me)):
            self._do("WALK", room)
        self._do("WALK", id_)

    def _was_seen(self, id_: int) -> bool:
        if self._seen is None:
            return False
        return id_ in self._seen or any(
            world.room(id_) == world.room(self._me) and not hidden(world, id_)
            for world in self._passed
        )

    def _uncover(self, id_: int) -> None:
        """Open the containers of an object, outermost first."""
        around = [id_]
        for inner in around:
            around += [i for i in self.world.targets(inner, "INSIDE") if i not in around]
        for container in reversed(around[1:]):
            if self._is_shut(container):
                self._set(container, "OPEN")

    def _is_shut(self, id_: int) -> bool:
        node = self._node(id_)
        return node.category != "Rooms" and "CLOSED" in node.states

    def _free_hand(self) -> None:
        hands = held(self.world, self._me)
        if len(hands) == 2:
            spare = [i for i in hands if i not in self._wanted] or list(hands)
            self._do("DROP", spare[0])

    def _fetch(self, id_: int) -> None:
        if id_ in held(self.world, self._me):
            return
        self._free_hand()
        self._go(id_)
        self._do("GRAB", id_)

    def _hold(self, hand: str, id_: int) -> None:
        """Take an object into one of the hands: GRAB fills the right one first."""
        for other in {*self.world.targets(self._me, hand), id_} & {*held(self.world, self._me)}:
            self._do("DROP", other)
        self._fetch(id_)

    def _relate(self, thing: int, relation: str, target: int) -> None:
        if thing == self._me and relation.startswith("HOLDS"):
            self._hold(relation, target)
        elif thing == self._me and relation == "CLOSE":
            self._go(target)
        elif thing == self._me and relation == "FACING":
            self._go(target)
            self._do("TURNTO", target)
        elif thing == self._me and relation == "ON":
            self._settle(target)
        elif relation in ("ON", "INSIDE"):
            self._fetch(thing)
            if relation == "INSIDE" and self._is_shut(target):
                self._set(target, "OPEN")
            self._go(target)
            self._do("PUTBACK" if relation == "ON" else "PUTIN", thing, target)
        else:
            raise NoFlatPlanError(f"No action makes {thing} {relation} {target}.")

    def _settle(self, seat: int) -> None:
        self._go(seat)
        lies = "LIEABLE" in self._node(seat).properties and not self._sits
        self._do("LIE" if lies else "SIT", seat)

    def _set(self, thing: int, state: str) -> None:
        if state in self._node(thing).states:
            return
        if state in ("SITTING", "LYING"):
            kind = "SITTABLE" if state == "SITTING" else "LIEABLE"
            seat = self._first(lambda node: kind in node.properties)
            self._go(seat)
            self._do("SIT" if state == "SITTING" else "LIE", seat)
            return
        states = self._node(thing).states
        if state == "OPEN":
            if "ON" in states and "HAS_SWITCH" in self._node(thing).properties:
                self._set(thing, "OFF")
            self._free_hand()
        if state == "ON" and "PLUGGED_OUT" in states:
            self._set(thing, "PLUGGED_IN")
        if state in ("PLUGGED_IN", "PLUGGED_OUT"):
            self._free_hand()
            if "ON" in states:
                self._set(thing, "OFF")
        action = MAKES.get(state)
        if action is None:
            raise NoFlatPlanError(f"No action makes an object {state}.")
        self._go(thing)
        self._do(action, thing)

    def _perform(self, actions: Sequence[str], on: int | None) -> None:
        """Execute one of several actions on `on`, or on the first suitable object."""
        choices = [
            (action, thing)
            for action in actions
            for thing in self._lends_itself(action)
            if on in (None, thing)
        ]
        for action, thing in choices:
            if self.world.check(self._line(action, *_about(action, thing))) is None:
                self._do(action, *_about(action, thing))
                return
        world, lines = self.world, len(self.lines)
        for action, thing in choices:
            try:
                self._prepare(action, thing)
                self._do(action, *_about(action, thing))
            except NoFlatPlanError:
                self.world = world
                del self.lines[lines:], self._passed[lines:]
                continue
            return
        raise NoFlatPlanError(f"No object affords {', '.join(actions)}.")

    def _prepare(self, action: str, thing: int) -> None:
        match action:
            case "READ" | "DRINK" | "PUTON" | "DROP" | "RELEASE" | "PUTOBJBACK":
                self._fetch(thing)
            case "SLEEP" | "WAKEUP":
                if not self._node(self._me).states & {"SITTING", "LYING"}:
                    self._settle(thing)
            case "WATCH" | "LOOKAT" | "POINTAT":
                here = self.world.room(thing) == self.world.room(self._me)
                if not here or hidden(self.world, thing):
                    self._go(thing)
                self._do("TURNTO", thing)
            case "CUT":
                self._fetch(self._first(lambda node: "knife" in node.class_name))
                self._go(thing)
            case _:
                self._go(thing)

    def _lends_itself(self, action: str) -> Sequence[int]:
        if VERBS[action].arity == 2:
            return []
        needed = ("LIEABLE",) if action in _LYING else VERBS[action].needs[:1]
        here = self.world.room(self._me)
        bound = needed and action not in _UNBOUND
        fit = [n.id for n in self.world.nodes() if not bound or needed[0] in n.properties]
        return sorted(fit, key=lambda i: (i not in self._named, self.world.room(i) != here, i))

    def _first(self, fits: Callable[[Node], bool]) -> int:
        here = self.world.room(self._me)
        fit = sorted(
            (n.id for n in self.world.nodes() if fits(n)),
            key=lambda i: (self.world.room(i) != here, i),
        )
        if not fit:
            raise NoFlatPlanError("The flat has no suitable object.")
        return fit[0]


def _about(action: str, thing: int) -> tuple[int, ...]:
    return (thing,) if VERBS[action].arity else ()


MAKES = {verb.makes: verb.name for verb in reversed([*VERBS.values()]) if verb.makes}
"""State -> the first verb that brings it about."""
_LYING = ("SLEEP", "WAKEUP")
"""Actions that take no object, and something to lie on."""
_UNBOUND = ("MOVE", "PULL", "PUSH", "SQUEEZE", "DROP", "RELEASE", "PUTOBJBACK")
"""Actions that the evolving graph allows on some objects without the property."""
