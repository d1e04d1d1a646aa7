"""The light of a flat: sun through the windows, and lamps."""

from __future__ import annotations

from dataclasses import dataclass
from math import pi, sin, sqrt

from inhabit.envs.simulators.render.shell import lamp
from inhabit.envs.simulators.render.stage import Light, Stage, Vector
from inhabit.envs.virtualhome.drawing.arranging import Arrangement
from inhabit.envs.virtualhome.drawing.place import Place
from inhabit.envs.virtualhome.graph.world import FlatWorld, Node

_WARM: Vector = (1.0, 0.93, 0.82)
_DAY: Vector = (0.98, 0.98, 1.0)
_DUSK: Vector = (1.0, 0.82, 0.66)
_CEILING_LAMPS = ("ceilinglamp", "ceiling_lamp", "light")
_SMALL_LAMPS = ("tablelamp", "floorlamp", "floor_lamp")
_SWITCHES = ("lightswitch", "light_switch")
_SUNRISE, _SUNSET = 5.0, 21.0
"""Hours of sunrise and sunset."""
_GLOW: Vector = (1.0, 0.85, 0.6)
_SKY, _GROUND = (0.52, 0.51, 0.50), (0.34, 0.32, 0.29)
"""The renderer's ambient light by day."""


@dataclass(frozen=True, slots=True)
class RoomLight:
    """The current light of a room."""

    key: Light
    """Brightness of its ceiling lamp and windows together."""
    around: float
    """Ambient light, relative to a bright day."""
    bounced: Light
    """Light reflected by the floor, onto the ceiling and undersides."""
    lamps: tuple[tuple[str, Light | None], ...]
    """Brightness of table and floor lamps in the whole flat, by node; None if off."""


def daylight(hour: float) -> float:
    """Daylight, 0 (night) to 1 (noon).

    Args:
        hour: of the day, 0 to 24.
    """
    if not _SUNRISE < hour < _SUNSET:
        return 0.0
    return sqrt(sin(pi * (hour - _SUNRISE) / (_SUNSET - _SUNRISE)))


def room_light(world: FlatWorld, room: int, arranged: Arrangement) -> RoomLight:
    """The light of the viewed room, and the lamps of the flat."""
    nodes, places = arranged.nodes, arranged.places
    switched = [n for n in nodes.values() if n.class_name in (*_CEILING_LAMPS, *_SWITCHES)]
    lit = _ceiling_lit([n for n in switched if world.room(n.id) == room])
    key, around = _key(places[room], lit, daylight(world.hour), world.hour)
    below = (places[room].x, places[room].bottom - 1.5, places[room].z)
    bounced = Light(below, (1.0, 0.95, 0.88), strength=0.45 * key.strength, reach=6.0)
    small = [n for n in nodes.values() if n.class_name in _SMALL_LAMPS]
    lamps = tuple((str(n.id), _bulb(n, places.get(n.id))) for n in small)
    return RoomLight(key, around, bounced, lamps)


def illuminate(stage: Stage, light: RoomLight) -> None:
    """Set the stage's lights."""
    sky, ground = ((red * light.around, green * light.around, blue * light.around)
                   for red, green, blue in (_SKY, _GROUND))  # fmt: skip
    stage.light(light.key, sky=sky, ground=ground)
    stage.lamp("floor", light.bounced)
    for name, bulb in light.lamps:
        stage.lamp(name, bulb)


def _ceiling_lit(nodes: list[Node]) -> bool:
    """Whether the ceiling lamps are on, and the room's switch too, if it has one."""
    lamps = [n for n in nodes if n.class_name in _CEILING_LAMPS]
    switches = [n for n in nodes if n.class_name in _SWITCHES]
    on = not lamps or any("ON" in n.states for n in lamps)
    return on and not any("OFF" in n.states for n in switches)


def _key(room: Place, lit: bool, sun: float, hour: float) -> tuple[Light, float]:
    """The room's light and its ambient share."""
    box = room.box
    low = box.x - box.hx, room.bottom, box.z - box.hz
    high = box.x + box.hx, room.top, box.z + box.hz
    late = min(1.0, max(0.0, (hour - 16.0) / 4.0)) if hour > 16.0 else 0.0
    day = tuple(a + (b - a) * late for a, b in zip(_DAY, _DUSK, strict=True))
    if lit:
        key = lamp(low, high, _mixed(_WARM, day, 0.5 * sun), 0.72 + 0.28 * sun)
        return key, 0.45 + 0.55 * sun
    key = lamp(low, high, (day[0], day[1], day[2]), 0.05 + 0.6 * sun)
    return key, 0.12 + 0.6 * sun


def _mixed(a: Vector, b: tuple[float, ...], share: float) -> Vector:
    red, green, blue = (x + (y - x) * share for x, y in zip(a, b, strict=True))
    return red, green, blue


def _bulb(node: Node, place: Place | None) -> Light | None:
    if place is None or "ON" not in node.states:
        return None
    return Light((place.x, place.top - 0.1, place.z), _GLOW, strength=0.6, reach=1.2)
