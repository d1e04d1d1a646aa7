"""MineDojo's action vector: what each of its eight numbers means.

0  nothing, forward, back               4  yaw, likewise
1  nothing, left, right                 5  nothing, use, drop, attack, craft, equip, place, destroy
2  nothing, jump, sneak, sprint         6  what to craft, of 244
3  pitch, in steps of 15 degrees from   7  slot of the inventory, of 36
-180 on; 12 is none
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cache
from typing import Any

from inhabit.envs.minedojo.tasks.names import names

FUNCTIONS = (None, "use", "drop", "attack", "craft", "equip", "place", "destroy")
SLOTS = 36
_HALF_TURN = 180.0


@cache
def crafts() -> Sequence[tuple[str, str]]:
    """What argument 6 chooses from: (item, by_hand, at_table or in_furnace)."""
    stations = ("by_hand", "at_table", "in_furnace")
    return tuple((name, station) for station in stations for name in names(station))


def sizes(interval: float = 15) -> tuple[int, ...]:
    """The number of values of each component.

    Args:
        interval: degrees of one step of the camera.
    """
    steps = math.ceil(2 * _HALF_TURN / interval) + 1
    return (3, 3, 4, steps, steps, len(FUNCTIONS), len(crafts()), SLOTS)


def nothing(interval: float = 15) -> tuple[int, ...]:
    """The action vector without an effect."""
    middle = (sizes(interval)[3] - 1) // 2
    return (0, 0, 0, middle, middle, 0, 0, 0)


def decode(vector: Sequence[int], interval: float = 15) -> dict[str, Any]:
    """The meaning of an action vector.

    Returns:
        forward and side (right is 1) in {-1, 0, 1}; jump, sneak, sprint; pitch and yaw to turn by,
        in degrees, down and right are positive; function (None or a word); item and station where
        it crafts; slot where it equips, places or destroys.

    Raises:
        ValueError: it has not eight numbers, or one is out of its range.
    """
    limits = sizes(interval)
    values = [int(value) for value in vector]
    if len(values) != len(limits):
        raise ValueError(f"Expected an action of {len(limits)} integers; got {len(values)}.")
    for place, (value, limit) in enumerate(zip(values, limits, strict=True)):
        if not 0 <= value < limit:
            raise ValueError(f"Expected action[{place}] in 0 to {limit - 1}; got {value}.")
    asked: dict[str, Any] = {
        "forward": (0, 1, -1)[values[0]],
        "side": (0, -1, 1)[values[1]],
        "jump": values[2] == 1,
        "sneak": values[2] == 2,
        "sprint": values[2] == 3,
        "pitch": values[3] * interval - _HALF_TURN,
        "yaw": values[4] * interval - _HALF_TURN,
        "function": FUNCTIONS[values[5]],
    }
    if asked["function"] == "craft":
        asked["item"], asked["station"] = crafts()[values[6]]
    elif asked["function"] in ("equip", "place", "destroy"):
        asked["slot"] = values[7]
    return asked


def step_request(asked: dict[str, Any]) -> dict[str, Any]:
    """The same for the world: in radians, with its yaw reversed."""
    ask = {key: value for key, value in asked.items() if value is not None}
    ask["pitch"] = math.radians(asked["pitch"])
    ask["yaw"] = -math.radians(asked["yaw"])
    if asked.get("station") == "in_furnace":
        ask["station"] = "furnace"
    return ask
