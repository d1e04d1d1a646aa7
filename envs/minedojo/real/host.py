"""Runs MineDojo in its own interpreter and answers requests in JSON lines on stdin and stdout.

A program of its own for an older Python: it imports nothing of `envs`. What MineDojo prints goes to
stderr.
"""

from __future__ import annotations

import base64
import importlib
import inspect
import json
import os
import sys
import traceback
from typing import Any

STACK = ("name", "variant", "quantity", "cur_durability", "max_durability")
KEPT = ("life", "food", "oxygen", "armor", "saturation", "xp")


class Host:
    """Holds one MineDojo environment at a time."""

    def __init__(self) -> None:
        self.env: Any = None

    def make(
        self, task_id: str, kind: str, fields: dict[str, Any], image_size: list[int], seed: int
    ) -> dict[str, Any]:
        """Create a task by MineDojo's id or class. Returns the action space."""
        minedojo = importlib.import_module("minedojo")
        known = importlib.import_module("minedojo.tasks").ALL_TASKS_SPECS
        size = tuple(image_size)
        if task_id in known:
            self.env = minedojo.make(task_id, image_size=size, seed=seed)
        else:
            self.env = minedojo.make(kind, image_size=size, seed=seed, **arguments(kind, fields))
        return {"sizes": [int(n) for n in self.env.action_space.nvec]}

    def reset(self) -> dict[str, Any]:
        """Start Minecraft, or reset it."""
        return self.encoded(self.env.reset())

    def step(self, vector: list[int], times: int) -> dict[str, Any]:
        """Execute an action several times; stops at the end of the episode."""
        numpy = importlib.import_module("numpy")
        reward, done, taken, seen = 0.0, False, 0, {}
        while taken < times and not done:
            seen, gain, done, _ = self.env.step(numpy.array(vector))
            reward, taken = reward + float(gain), taken + 1
        return dict(
            self.encoded(seen), reward=reward, done=bool(done), ticks=taken,
            success=bool(self.env.is_successful),
        )  # fmt: skip

    def encoded(self, seen: dict[str, Any]) -> dict[str, Any]:
        """An observation as plain values; the image is (H, W, 3) in base64."""
        picture = seen["rgb"].transpose(1, 2, 0)
        return {
            "picture": base64.b64encode(picture.tobytes()).decode("ascii"),
            "shape": list(picture.shape),
            "inventory": stacks(seen["inventory"]),
            "equipment": stacks(seen["equipment"]),
            "body": {name: float(seen["life_stats"][name][0]) for name in KEPT},
            "table": bool(seen["nearby_tools"]["table"]),
            "furnace": bool(seen["nearby_tools"]["furnace"]),
            "can_make": [bool(one) for one in seen["masks"]["craft_smelt"]],
        }


def arguments(kind: str, fields: dict[str, Any]) -> dict[str, Any]:
    """The arguments of a task class from a scene's fields.

    Raises:
        ValueError: it has no such field.
    """
    meta = "minedojo.tasks.meta."
    classes = {
        "harvest": ("harvest", "HarvestMeta"),
        "combat": ("combat", "CombatMeta"),
        "techtree": ("tech_tree", "TechTreeMeta"),
        "survival": ("survival", "SurvivalMeta"),
    }
    if kind in classes:
        module, name = classes[kind]
        made = getattr(importlib.import_module(meta + module), name)
        known = inspect.signature(made.__init__).parameters
        for name in fields:
            if name not in known:
                raise ValueError(f"MineDojo's class {kind} has no field {name}.")
    found = dict(fields)
    if "initial_inventory" in found:
        item = importlib.import_module("minedojo.sim").InventoryItem
        found["initial_inventory"] = [item(**one) for one in found["initial_inventory"]]
    return found


def stacks(group: dict[str, Any]) -> list[list[Any]]:
    """Rows of name, variant, quantity and durability."""
    columns = [group[name] for name in STACK]
    rows = zip(*columns)  # noqa: B905 - an older Python
    return [[str(name).replace(" ", "_"), *map(int, rest)] for name, *rest in rows]


def main() -> None:
    """Answer requests until stdin ends."""
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    host = Host()
    for line in sys.stdin:
        ask = json.loads(line)
        try:
            answer = {"value": getattr(host, ask.pop("call"))(**ask)}
        except Exception as error:  # noqa: BLE001 - all of it goes to the other side
            traceback.print_exc()
            answer = {"error": f"{type(error).__name__}: {error}"}
        answers.write(json.dumps(answer) + "\n")
        answers.flush()


if __name__ == "__main__":
    main()
