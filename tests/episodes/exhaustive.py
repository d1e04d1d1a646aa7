"""The fewest actions to the goal, by trying all that an environment offers.

Nothing here is shared with `inhabit credit` or the experts. Actions are left out only where rules
of the world, written down below, say that the goal can't be reached with as few as are left.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from inhabit.envs.core import Action, Task


def fewest(world: Any, task: Task, most: int) -> int | None:
    """The fewest actions to the goal of a forkable environment; None if `most` are too few."""
    rules = RULES[task.env](task)
    return next((n for n in range(most + 1) if _within(world, n, rules, {})), None)


def _within(world: Any, left: int, rules: Rules, tried: dict[str, int]) -> bool:
    met, total = world.progress()
    if met == total:
        return True
    state = world.state() if left else {}
    if left < rules.needed(state):
        return False
    if left > 1:
        digest = world.digest()
        if tried.get(digest, 0) >= left:
            return False
        tried[digest] = left
    for action in world.actions():
        if rules.worth_trying(action, state, left):
            with world.fork() as after:
                after.act(action)
                if _within(after, left - 1, rules, tried):
                    return True
    return False


class Rules:
    """Every action is worth trying."""

    def __init__(self, task: Task) -> None:
        self.task = task

    def needed(self, state: Mapping[str, Any]) -> int:
        """A bound: no fewer actions reach the goal from an unsolved state."""
        return 1

    def worth_trying(self, action: Action, state: Mapping[str, Any], left: int) -> bool:
        """Whether the goal may be reached by this action and `left` - 1 more."""
        return True


RELEASE = {"put", "put down", "drop"}


class AlfredRules(Rules):
    """What a goal is about changes hands, is cut, or is treated where it lies."""

    def __init__(self, task: Task) -> None:
        super().__init__(task)
        assert not task.scene.get("also") and not task.scene.get("disturbances")
        goal = task.scene["goal"]
        self.lamp, self.wanted = goal.get("toggle"), goal.get("object")
        self.treat = {"heat": "turn on", "clean": "turn on", "cool": "close"}.get(
            goal["type"].split("_")[1]
        )

    def needed(self, state: Mapping[str, Any]) -> int:
        if not state:
            return 1
        held = [one["type"] for one in state["objects"] if one["isPickedUp"]]
        if self.lamp:
            return max(1, (self.wanted not in held) + (not self._lit(state)))
        return 1 if held or self.treat else 2  # Taken, and put where it belongs.

    def worth_trying(self, action: Action, state: Mapping[str, Any], left: int) -> bool:
        if left > self.needed(state):
            return True
        if self.lamp:  # Where nothing lacks but a sight of the lamp, all may bring it.
            holds = any(o["isPickedUp"] and o["type"] == self.wanted for o in state["objects"])
            lacks = {"turn on"} if not self._lit(state) else set()
            lacks |= set() if holds else {"pick up"}
            return not lacks or action.verb in lacks
        if left == 2:
            return action.verb == "pick up"
        return action.verb in RELEASE | {"slice", self.treat}

    def _lit(self, state: Mapping[str, Any]) -> bool:
        return any(o["isToggled"] and o["type"] == self.lamp for o in state["objects"])


RULES = {"alfred": AlfredRules}
