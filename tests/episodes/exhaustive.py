"""The fewest actions to the goal, by trying all that an environment offers.

Nothing here is shared with `inhabit credit` or the experts. Actions are left out only where rules
of the world, written down below, say that the goal can't be reached with as few as are left, or
that another action, which is tried, does as well.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from typing import Any, cast

from inhabit.envs.core import Action, Task
from inhabit.envs.virtualhome.graph.names import NodeNames

State = Mapping[str, Any]


def fewest(world: Any, task: Task, most: int) -> int | None:
    """The fewest actions to the goal of a forkable environment; None if `most` are too few."""
    rules = RULES[task.env](task, world)
    return next((n for n in range(most + 1) if _within(world, n, rules, {})), None)


def _within(world: Any, left: int, rules: Rules, tried: dict[str, int]) -> bool:
    met, total = world.progress()
    if met == total:
        return True
    if left == 0:
        return False
    state = world.state()
    if left < rules.needed(state):
        return False
    if left > 1:
        digest = world.digest()
        if tried.get(digest, 0) >= left:
            return False
        tried[digest] = left
    for action in rules.worth_trying(world.actions(), state, left):
        with world.fork() as after:
            failed = after.act(action).reason is not None
            if failed and not rules.failing_helps:
                continue
            if _within(after, left - 1, rules, tried):
                return True
    return False


class Rules:
    """Every action is worth trying."""

    failing_helps = True
    """Whether an action that fails may change something, such as where the head points."""

    def __init__(self, task: Task, world: Any) -> None:
        self.task = task

    def needed(self, state: State) -> int:
        """A bound: no fewer actions reach the goal from an unsolved state."""
        return 1

    def worth_trying(self, actions: Iterable[Action], state: State, left: int) -> Iterator[Action]:
        """Those by which, and `left` - 1 more, the goal may be reached."""
        yield from actions


RELEASE = {"put", "put down", "drop"}


class AlfredRules(Rules):
    """What a goal is about changes hands, is cut, or is treated where it lies."""

    def __init__(self, task: Task, world: Any) -> None:
        super().__init__(task, world)
        assert not task.scene.get("also") and not task.scene.get("disturbances")
        goal = cast("dict[str, Any]", task.scene["goal"])
        self.lamp, self.wanted = goal.get("toggle"), goal.get("object")
        self.treat = {"heat": "turn on", "clean": "turn on", "cool": "close"}.get(
            goal["type"].split("_")[1]
        )

    def needed(self, state: State) -> int:
        held = [one["type"] for one in state["objects"] if one["isPickedUp"]]
        if self.lamp:
            return max(1, (self.wanted not in held) + (not self._lit(state)))
        return 1 if held or self.treat else 2  # Taken, and put where it belongs.

    def worth_trying(self, actions: Iterable[Action], state: State, left: int) -> Iterator[Action]:
        if left > self.needed(state):
            yield from actions
            return
        verbs = self._verbs(state, left)
        yield from (action for action in actions if verbs is None or action.verb in verbs)

    def _verbs(self, state: State, left: int) -> set[str | None] | None:
        """The verbs of which one must come now; None if any may."""
        if self.lamp:  # Where nothing lacks but a sight of the lamp, all may bring it.
            holds = any(o["isPickedUp"] and o["type"] == self.wanted for o in state["objects"])
            lacks: set[str | None] = set() if self._lit(state) else {"turn on"}
            return lacks | (set() if holds else {"pick up"}) or None
        if left == 2:
            return {"pick up"}
        return RELEASE | {"slice", self.treat}

    def _lit(self, state: State) -> bool:
        return any(o["isToggled"] and o["type"] == self.lamp for o in state["objects"])


IDLE = {"SLEEP", "WAKEUP", "DRINK", "EAT", "CUT", "READ", "SQUEEZE", "LOOKAT", "WATCH", "POINTAT"}
IDLE |= {"TOUCH", "PUSH", "PULL", "MOVE", "GREET", "TYPE"}
"""Change nothing: they serve a goal that asks for them, or none."""
FACING = {"WATCH", "LOOKAT", "POINTAT"}
"""Need that the character has turned to the thing."""
MAKE = {
    "OPEN": "OPEN",
    "CLOSE": "CLOSED",
    "SWITCHON": "ON",
    "SWITCHOFF": "OFF",
    "PLUGIN": "PLUGGED_IN",
    "PLUGOUT": "PLUGGED_OUT",
    **dict.fromkeys(("WASH", "RINSE", "SCRUB", "WIPE"), "CLEAN"),
}
"""Change the state of their thing, and nothing else."""
PREPARE = {"OPEN", "SWITCHOFF", "PLUGIN"}
"""Those of them that others need: to get at a thing, to open, to switch on."""
PUT = {"PUTIN", "PUTBACK", "PUTOBJBACK", "POUR"}
SETTLE = {"SIT": "SITTING", "LIE": "LYING"}
NEVER = {"RUN", "RELEASE", "PUTON", "PUTOFF"}
"""To run is to walk, to release or to wear is to drop, for all that the goals here ask."""
ME = 1


class VirtualHomeRules(Rules):
    """Each action changes one state, moves one thing, seats the character, or brings it near.

    So every state that a goal asks for, every thing that it wants elsewhere, and every thing that
    is to be taken before, costs an action of its own (`needed`). Where no more are left than that,
    one of these must be next. Where more are left, the others prepare it, and what they can
    prepare follows from the preconditions: states of the things that matter, a free hand, a
    posture, a thing that is turned to, nearness, or the sight of another room. All that is said of
    nearness holds for at most three actions.
    """

    failing_helps = False

    def __init__(self, task: Task, world: Any) -> None:
        super().__init__(task, world)
        self.goals = cast("list[dict[str, Any]]", task.scene["goals"])
        asked = [set(goal["any_of"]) for goal in self.goals if goal["kind"] == "action"]
        assert all(words <= IDLE for words in asked)
        self.ids = {name: id_ for id_, name in NodeNames(world.world).all().items()}
        self.rooms = {n.id for n in world.world.nodes() if n.category == "Rooms"}
        self.poured_into = {n.id for n in world.world.nodes() if "RECIPIENT" in n.properties}

    def needed(self, state: State) -> int:
        return max(1, len(_Facts(self, state).wants))

    def worth_trying(self, actions: Iterable[Action], state: State, left: int) -> Iterator[Action]:
        assert left <= 3
        facts = _Facts(self, state)
        spare = left > max(1, len(facts.wants))
        for action in actions:
            ids = [self.ids[name] for name in action.arguments]
            if facts.serves(action.verb, ids) or (spare and facts.prepares(action.verb, ids, left)):
                yield action


class _Facts:
    """What a state of a flat says about the goals."""

    def __init__(self, rules: VirtualHomeRules, state: State) -> None:
        self._rooms, self._goals, self._poured_into = rules.rooms, rules.goals, rules.poured_into
        self._states = {int(id_): set(words) for id_, words in state["states"].items()}
        self._seen, self._done = set(state["seen"]), state["done"]
        self._to: dict[tuple[int, str], set[int]] = defaultdict(set)
        self._from: dict[tuple[int, str], set[int]] = defaultdict(set)
        for one, relation, other in state["edges"]:
            self._to[one, relation].add(other)
            self._from[other, relation].add(one)
        self._held = self._to[ME, "HOLDS_RH"] | self._to[ME, "HOLDS_LH"]
        self._seated = bool(self._states[ME] & {"SITTING", "LYING"})
        self._near = self._beside(self._to[ME, "CLOSE"])
        self.wants = {want for goal in self._goals for want in self._lacking(goal)}

    def _lacking(self, goal: Mapping[str, Any]) -> Iterator[tuple[Any, ...]]:
        """What has to be done for a goal, an action each."""
        if goal["kind"] == "action":
            thing = f"({goal['id']})" if goal["id"] is not None else ""
            words = [f"[{verb.lower()}]" for verb in goal["any_of"]]
            if not any(word in line and thing in line for line in self._done for word in words):
                yield "do", tuple(goal["any_of"]), goal["id"]
        elif goal["kind"] == "state":
            thing, made = goal["id"], goal["state"]
            if made not in self._states[thing]:
                yield ("settle",) if thing == ME else ("make", thing, made)
        else:
            yield from self._out_of_place(goal["from_id"], goal["relation"], goal["to_id"])

    def _out_of_place(self, thing: int, relation: str, place: int) -> Iterator[tuple[Any, ...]]:
        if place in self._to[thing, relation]:
            return
        if thing != ME:
            assert relation in ("ON", "INSIDE")
            yield "put", thing
            if thing not in self._held:
                yield "take", thing
            if (
                relation == "INSIDE"
                and place not in self._poured_into
                and "CLOSED" in self._states[place]
            ):
                yield "make", place, "OPEN"
        elif relation == "ON":
            yield ("settle",)
        else:
            assert relation.startswith("HOLDS")
            yield "take", place

    def serves(self, verb: str, ids: list[int]) -> bool:
        """Whether an action may do what is wanted."""
        if verb in SETTLE:
            return ("settle",) in self.wants
        if verb in MAKE:
            return ("make", ids[0], MAKE[verb]) in self.wants
        if verb in PUT:
            return ("put", ids[0]) in self.wants
        if verb == "GRAB":
            return ("take", ids[0]) in self.wants
        return any(
            verb in want[1] and (want[2] is None or want[2] in ids)
            for want in self.wants
            if want[0] == "do"
        )

    def prepares(self, verb: str, ids: list[int], left: int) -> bool:
        """Whether an action may make another possible."""
        if verb in NEVER | IDLE | {"POUR"}:
            return False
        if verb in MAKE:
            return verb in PREPARE and ids[0] in self._matter
        if verb == "STANDUP":
            return self._seated
        if verb in SETTLE or verb in ("DROP", "PUTOBJBACK"):
            return True
        if verb == "TURNTO":
            faced = [w[2] for w in self.wants if w[0] == "do" and FACING.intersection(w[1])]
            return ids[0] in faced or None in faced
        if verb == "WALK":
            return not self._seated and self._leads(ids[0])
        if verb == "FIND" and ids[0] not in self._near:  # It is a walk.
            return False
        assert verb in ("FIND", "GRAB", "PUTIN", "PUTBACK"), verb  # To drop frees a hand as well.
        return not self._brought(ids[-1], left) <= self._near

    @cached_property
    def _matter(self) -> set[int]:
        """Things of the goals, what they are in, what is on a seat that is wanted, and in hands."""
        ids = {g.get(key) for g in self._goals for key in ("id", "from_id", "to_id")}
        found = {i for i in ids if i not in (None, ME)} | self._held
        for goal in self._goals:
            if goal.get("from_id") == ME and goal["relation"] == "ON":
                found |= self._from[goal["to_id"], "ON"]
        while more := {i for one in found for i in self._to[one, "INSIDE"]} - found - self._rooms:
            found |= more
        return found - {ME}

    def _leads(self, thing: int) -> bool:
        """Whether a walk leads to what matters, and no walk right to one such does as well."""
        if thing in self._rooms:  # It brings a sight, and nothing near.
            return any(self._room(one) == thing for one in self._matter - self._seen)
        if thing in self._matter:
            return True
        brought = self._brought(thing)
        known = self._matter & self._seen - self._held
        return bool(brought) and not any(brought <= self._brought(one) for one in known)

    def _brought(self, thing: int, left: int = 2) -> set[int]:
        """What matters and may be near after contact with a thing.

        From contact to contact one comes farther only without a walk, which leads to any thing
        that was seen: where the character sits, and would have to stand up first.
        """
        near = self._beside(self._touched({thing}))
        if left > 2 and self._seated:
            near = self._beside(self._touched(near))
        return near & self._matter

    def _touched(self, things: set[int]) -> set[int]:
        """What the character is in contact with where it goes to a thing, takes it or puts it."""
        found = set(things)
        for one in things:
            under = self._to[one, "ON"] | self._to[one, "INSIDE"] - self._rooms
            found |= (under or self._to[one, "CLOSE"]) | self._from[one, "INSIDE"]
        return found - {ME}

    def _beside(self, things: set[int]) -> set[int]:
        """What is near to who is in contact with these."""
        close = {other for one in things for other in self._to[one, "CLOSE"]}
        return things | close | {other for one in things for other in self._from[one, "ON"]} - {ME}

    def _room(self, thing: int) -> int | None:
        inside = self._to[thing, "INSIDE"]
        return next(iter(inside & self._rooms), None) or next(
            (room for one in inside if (room := self._room(one)) is not None), None
        )


RULES = {"alfred": AlfredRules, "virtualhome": VirtualHomeRules}
