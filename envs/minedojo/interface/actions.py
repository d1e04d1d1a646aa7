"""MineDojo's action space, and the names and shapes of its observation's fields."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from inhabit.envs.minedojo.tasks.language import names

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
    limits, (*_, pitch, yaw, _, _, _) = sizes(interval), nothing(interval)
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
        "pitch": (values[3] - pitch) * interval,
        "yaw": (values[4] - yaw) * interval,
        "function": FUNCTIONS[values[5]],
    }
    if asked["function"] == "craft":
        asked["item"], asked["station"] = crafts()[values[6]]
    elif asked["function"] in ("equip", "place", "destroy"):
        asked["slot"] = values[7]
    return asked


def step_request(asked: dict[str, Any]) -> dict[str, Any]:
    """A request of the agent as the world takes it: in radians, with its yaw reversed."""
    ask = {key: value for key, value in asked.items() if value is not None}
    ask["pitch"] = math.radians(asked["pitch"])
    ask["yaw"] = -math.radians(asked["yaw"])
    if asked.get("station") == "in_furnace":
        ask["station"] = "furnace"
    return ask


INF = math.inf
WORN = 6
"""Number of worn slots: mainhand, offhand, feet, legs, chest, head."""


@dataclass(frozen=True, slots=True)
class Field:
    """One array. `dtype` is "str" for names; a single `high` means every number is below it."""

    shape: tuple[int, ...]
    dtype: str
    low: float = 0.0
    high: float = 1.0


def _flag(*shape: int) -> Field:
    return Field(shape, "bool")


def _number(low: float, high: float, *shape: int) -> Field:
    return Field(shape or (1,), "float32", low, high)


def _stacks(count: int) -> Mapping[str, Field]:
    return {
        "name": Field((count,), "str"),
        "variant": Field((count,), "int64", 0, 120),
        "quantity": _number(0, 64, count),
        "cur_durability": _number(-1, INF, count),
        "max_durability": _number(-1, INF, count),
    }


def _faced(shape: tuple[int, ...]) -> Mapping[str, Field]:
    flags = ("is_tool_not_required", "blocks_movement", "is_liquid", "is_solid", "can_burn")
    return {
        "block_name": Field(shape, "str"),
        "block_meta": Field(shape, "int64", 0, 120),
        **{name: _flag(*shape) for name in flags},
    }


def fields(
    height: int,
    width: int,
    voxels: Sequence[int] | None = None,
    rays: int | None = None,
) -> Mapping[str, Mapping[str, Field]]:
    """Group -> field -> its space; "rgb" has a single unnamed field.

    Args:
        height: of the image, in pixels.
        width: likewise.
        voxels: sizes of the box of blocks; None for none.
        rays: how many beams the lidar has; None for none.
    """
    found: dict[str, Mapping[str, Field]] = {
        "rgb": {"": Field((3, height, width), "uint8", 0, 255)},
        "inventory": _stacks(SLOTS),
        "equipment": _stacks(WORN),
        "life_stats": {
            **{name: _number(0, 20) for name in ("life", "armor", "food", "saturation")},
            "oxygen": _number(0, 300),
            "xp": _number(0, 1395),
            "is_sleeping": Field((), "int64", 0, 1),
        },
        "location_stats": {
            "pos": _number(-640_000, 640_000, 3),
            **{name: _number(-180, 180) for name in ("yaw", "pitch")},
            "biome_id": Field((), "int64", 0, 167),
            **{name: _number(0, 1) for name in ("rainfall", "temperature", "sky_light_level",
                                                "sun_brightness")},
            "sea_level": _number(0, 255),
            "light_level": _number(0, 15),
            **{name: Field((), "int64", 0, 1) for name in ("can_see_sky", "is_raining")},
        },
        "nearby_tools": {"table": _flag(), "furnace": _flag()},
        "damage_source": {
            "damage_amount": _number(0, 40),
            "damage_distance": _number(0, INF),
            "damage_pitch": _number(-90, 90),
            "damage_yaw": _number(-180, 180),
            "hunger_damage": _number(0, 20),
            **{name: _flag() for name in ("is_explosion", "is_fire_damage", "is_magic_damage",
                                          "is_projectile", "is_unblockable")},
        },
        "masks": {
            "action_type": _flag(len(FUNCTIONS)),
            "action_arg": _flag(len(FUNCTIONS), 1),
            "craft_smelt": _flag(len(crafts())),
            **{name: _flag(SLOTS) for name in ("equip", "place", "destroy")},
        },
        "delta_inv": {
            f"{way}_{what}_by_{cause}": Field((most,), "str") if what == "name"
            else _number(0, 64, most)
            for way, most in (("inc", 1), ("dec", 4))
            for what in ("name", "quantity")
            for cause in ("craft", "other")
        },
    }  # fmt: skip
    if voxels is not None:
        shape = tuple(voxels)
        found["voxels"] = {
            **_faced(shape),
            "is_collidable": _flag(*shape),
            "blocks_light": _flag(*shape),
            "cos_look_vec_angle": _number(-1, 1, *shape),
        }
    if rays is not None:
        numbers = ("ray_pitch", "ray_yaw", "traced_block_x", "traced_block_y", "traced_block_z")
        found["rays"] = {
            **_faced((rays,)),
            "harvest_level": Field((rays,), "int64", -1, 4),
            "entity_name": Field((rays,), "str"),
            **{name: _number(-1, INF, rays) for name in ("entity_distance", "block_distance")},
            **{name: _number(-INF, INF, rays) for name in numbers},
        }
    return found
