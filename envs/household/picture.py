"""What the room looks like: every thing's mesh on the renderer's stage, kept up to date."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from envs.household.boxes import Box
from envs.household.counters import counter
from envs.household.effects import lit
from envs.household.joinery import Joinery, beds_turned
from envs.household.looks import look_of, mesh_of
from envs.household.world import Thing, World
from envs.render.camera import Camera
from envs.render.mesh import Mesh
from envs.render.shapes import Look
from envs.render.shell import shell
from envs.render.stage import Frame, Light, Stage

_WAYS = {0: "kitchen", 2: "living_room", 3: "bedroom", 4: "bathroom"}
_OUT_OF_SIGHT = np.array((0.0, 100.0, 0.0))
_LAMPS = frozenset({"DeskLamp", "FloorLamp"})


@dataclass(frozen=True, slots=True)
class Mood:
    """Colours and light that are nobody's state: what domain randomization changes."""

    materials: int = 0
    """Chooses all materials; 0 are those that the room comes with."""
    color: tuple[float, float, float] = (1.0, 0.96, 0.88)
    """Of the light, linear, each channel 0..1."""
    brightness: float = 1.0
    """Of all light; 1 is how the room comes."""


class Picture:
    """The stage of one room."""

    def __init__(self, world: World) -> None:
        self._stage = Stage()
        self._room = world.room
        self._drawn: dict[str, Thing] = {}
        self._shown: dict[str, Mesh] = {}
        self._meshes: dict[object, Mesh] = {}
        self._mood: Mood | None = None
        self._joinery = Joinery((), 0)
        self._turned = beds_turned(world.things)

    def take(
        self,
        world: World,
        camera: Camera,
        size: tuple[int, int],
        *,
        rgb: bool = True,
        mood: Mood | None = None,
        without: Sequence[str] = (),
    ) -> Frame:
        """The room as it is now.

        Args:
            world: the room.
            camera: where from.
            size: width and height in pixels.
            rgb: False leaves out the colours, which is many times quicker.
            mood: colours and light; None for those of the last time.
            without: what is not to be seen, by id.
        """
        mood = mood or self._mood or Mood()
        if mood != self._mood:
            self._paint(world, mood)
        if world.things != self._drawn:
            self._bring_up_to_date(world, mood)
        absent = [world.things[name] for name in without if name in self._shown]
        for thing in absent:
            self._stage.move(thing.id, thing.box.axes, thing.box.center - _OUT_OF_SIGHT)
        try:
            return self._stage.render(camera, *size, rgb=rgb)
        finally:
            for thing in absent:
                self._stage.move(thing.id, thing.box.axes, thing.box.center)

    def _paint(self, world: World, mood: Mood) -> None:
        outline, name = self._room.outline, self._room.name
        floor = next(thing.id for thing in world.things.values() if thing.kind == "Floor")
        low = (outline.low[0], outline.floor, outline.low[1])
        high = (outline.high[0], outline.ceiling, outline.high[1])
        way = _WAYS[int(name.removeprefix("FloorPlan")) // 100]
        for part, mesh in shell(low, high, way, seed_of(name, mood.materials)):
            body = floor if part == "floor" else f"{name} {part}"
            self._stage.put(body, mesh, np.eye(3), np.zeros(3), casts_shadow=False)
        middle = [(a + b) / 2 for a, b in zip(low, high, strict=True)]
        self._stage.light(
            Light(
                (middle[0], outline.ceiling - 0.1, middle[2]),
                color=mood.color,
                strength=mood.brightness,
                reach=max(4.0, 0.8 * max(high[0] - low[0], high[2] - low[2])),
            ),
        )
        self._joinery = Joinery(world.things.values(), seed_of(name, mood.materials))
        self._mood = mood
        self._drawn = {}

    def _bring_up_to_date(self, world: World, mood: Mood) -> None:
        burning = lit(world)
        hidden = {thing.id: world.hidden(thing.id) for thing in world.things.values()}
        for gone in [name for name in self._shown if hidden.get(name, True)]:
            self._stage.remove(gone)
            del self._shown[gone]
        for thing in world.things.values():
            if thing.kind != "Floor" and not hidden[thing.id]:
                self._draw(world, thing, mood, thing.id in burning)
        self._light_lamps(world)
        self._drawn = dict(world.things)

    def _draw(self, world: World, thing: Thing, mood: Mood, burning: bool) -> None:
        look = look_of(thing, burning=burning)
        key = (thing.id, tuple(thing.box.half.tolist()), look, mood.materials)
        if key not in self._meshes:
            self._meshes[key] = self._mesh(world, thing, look, mood)
        mesh = self._meshes[key]
        if self._shown.get(thing.id) is not mesh:
            self._stage.put(thing.id, mesh, thing.box.axes, thing.box.center)
            self._shown[thing.id] = mesh
        elif self._drawn.get(thing.id) is not thing:
            before = self._drawn.get(thing.id)
            if before is None or before.box is not thing.box:
                self._stage.move(thing.id, thing.box.axes, thing.box.center)

    def _mesh(self, world: World, thing: Thing, look: Look, mood: Mood) -> Mesh:
        if thing.kind == "CounterTop":
            wood, stone = self._joinery.front, self._joinery.stone
            made = counter(thing, world.things.values(), self._room.outline, stone, wood)
            return _into(thing.box, made)
        mesh = mesh_of(thing, look, seed_of(thing["assetId"] or thing.id, mood.materials))
        if thing.id in self._turned:
            mesh = mesh.turned("y", 180.0)
        return self._joinery.finish(thing, mesh)

    def _light_lamps(self, world: World) -> None:
        for thing in world.things.values():
            if thing.kind in _LAMPS:
                x, _, z = thing.box.center
                bulb = (float(x), float(thing.box.high[1]) - 0.1, float(z))
                on = thing["isToggled"] and thing.present
                lamp = Light(bulb, (1.0, 0.85, 0.6), strength=0.6, reach=1.2) if on else None
                self._stage.lamp(thing.id, lamp)


def _into(frame: Box, mesh: Mesh) -> Mesh:
    """A mesh that was made in the world's frame, as it is in a box's."""
    turn = frame.axes.T
    return replace(
        mesh,
        vertices=((mesh.vertices - frame.center) @ turn.T).astype(np.float32),
        normals=(mesh.normals @ turn.T).astype(np.float32),
    )


def seed_of(name: str, salt: int = 0) -> int:
    """A number from a text, the same in every process."""
    return int.from_bytes(hashlib.sha256(f"{salt} {name}".encode()).digest()[:4], "big")
