"""Renders a room: every object's mesh on the renderer's stage, kept up to date."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace

import numpy as np

from inhabit.envs.plain_data import seed_of
from inhabit.envs.simulators.household.drawing.counters import (
    Joinery,
    around_basins,
    counter,
    cut_to_fronts,
    quarters,
    stove,
)
from inhabit.envs.simulators.household.drawing.looks import (
    limbs,
    lit,
    look_of,
    mesh_of,
    name_of,
    split,
)
from inhabit.envs.simulators.household.geometry.boxes import (
    THROUGH_WALLS,
    Array,
    Box,
    along_walls,
    height_at,
    into,
    out_of,
    yaw,
)
from inhabit.envs.simulators.household.geometry.fronts import CARCASSES
from inhabit.envs.simulators.household.placement.surfaces import rise
from inhabit.envs.simulators.household.rooms.shared import Shared
from inhabit.envs.simulators.household.state.agent import HEIGHT, AgentState
from inhabit.envs.simulators.household.state.world import SimObject, World
from inhabit.envs.simulators.household.types.things import BASINS, LAMPS, those
from inhabit.envs.simulators.render.camera import Camera
from inhabit.envs.simulators.render.mesh import Mesh, Vector, join
from inhabit.envs.simulators.render.shapes import Look
from inhabit.envs.simulators.render.shell import shell
from inhabit.envs.simulators.render.stage import Frame, Light, Shape, Stage

_WAYS = (("Toilet", "bathroom"), ("StoveBurner", "kitchen"), ("Bed", "bedroom"))
"""Object types that reveal the room type, with its walls and floor; otherwise a living room."""
_SKY, _GROUND = (0.52, 0.51, 0.50), (0.34, 0.32, 0.29)
"""Ambient light, linear."""
_DUSK = 0.4
"""Brightness with the light switched off: there are windows."""
_UPRIGHT, _ORIGIN = np.eye(3), np.zeros(3)
_OUT_OF_SIGHT = np.array((0.0, 100.0, 0.0))
_AROUND_CORNER = 0.3
"""Metres: an object through a wall that is thicker than twice this goes around a corner."""
_PANE = 0.12
_BODY = (0.4, 1.7, 0.35)
"""Size of an agent's body, metres."""
_PROUD = 0.01
"""Minimum distance of a pane from its wall, metres."""
_SUNK, _SUNK_IN_CUSHIONS, _SUNK_IN_TUBS = 0.15, 0.25, 0.4
"""Maximum depth in metres that an object may be sunk in its support."""
_BELOW_TOP = 0.1
"""Metres below a piece of furniture's top, under which things lie in it."""
_CUSHIONED = those("cushioned")
_CUT = frozenset({"CounterTop", *BASINS})
"""Types that other things around them cut into."""
_ALIKE = frozenset({"Blinds", "Curtains", "StoveBurner", "StoveKnob", "Window"})
"""Types of which a room has a single model."""


@dataclass(frozen=True, slots=True)
class Randomization:
    """The colours and light of domain randomization, which are not part of any object's state."""

    materials: int = 0
    """Seed of all materials; 0 for the original ones."""
    color: tuple[float, float, float] = (1.0, 0.96, 0.88)
    """Colour of the light, linear, each channel 0..1."""
    brightness: float = 1.0
    """Factor of all light; 1 is the original."""


class RoomPicture:
    """The stage of one room, for one simulator."""

    def __init__(self, world: World, shared: Shared) -> None:
        """An empty stage.

        Args:
            world: the room, in its initial state.
            shared: where to find and leave meshes.
        """
        self._stage = Stage(shared.scratch)
        self._common = shared.meshes(world.room)
        self.room = world.room
        self._first = tuple(world.things.values())
        """The initial state of the room, which determines how furniture looks wherever it is
        now."""
        self._drawn: dict[str, SimObject] = {}
        self._shown: dict[str, Mesh] = {}
        self._rests: dict[str, tuple[object, ...]] = {}
        """The state from which an object's position on the stage was computed."""
        self._burning: Set[str] = frozenset()
        self._in_hand: frozenset[str] = frozenset()
        self._changed_hands: frozenset[str] = frozenset()
        self._recorded = False
        self._meshes: dict[object, Mesh] = {}
        """Meshes that are not common: of other materials, of things that came later, are ajar or
        were resized, or where furniture was moved."""
        self._sizes = {thing.id: thing.box.half for thing in self._first}
        self._furniture = {thing.id: thing.box for thing in self._first if not thing["pickupable"]}
        self._randomization: Randomization | None = None
        self._joinery = Joinery((), 0)
        self._bodies = 0
        """Number of agents on the stage."""
        self._arms: set[str] = set()
        """Names of the agents' arms on the stage."""
        self._turned = quarters(world.things, world.room.outline)

    def forget(self) -> None:
        """Drop the meshes that an episode left behind, before another one in the same room."""
        self._meshes.clear()

    def take(
        self,
        world: World,
        camera: Camera,
        size: tuple[int, int],
        *,
        rgb: bool = True,
        randomization: Randomization | None = None,
        without: Sequence[str] = (),
        own: bool = False,
        normals: bool = False,
    ) -> Frame:
        """Render the room in its current state.

        Args:
            world: the room.
            camera: where from.
            size: width and height in pixels.
            rgb: False leaves out the colours, which is many times quicker.
            randomization: colours and light; None for those that the room comes with.
            without: what is not to be seen, by id.
            own: whether the active agent is to be seen, if there are several.
            normals: whether to tell how the seen faces are turned.
        """
        randomization = randomization or Randomization()
        switches = [thing for thing in world.things.values() if thing.kind == "LightSwitch"]
        if switches and not any(switch["isToggled"] for switch in switches):
            randomization = replace(randomization, brightness=randomization.brightness * _DUSK)
        if randomization != self._randomization:
            before, self._randomization = self._randomization, randomization
            if before is None or before.materials != randomization.materials:
                self._paint(world, randomization)
            self._illuminate(randomization)
        if world.things != self._drawn:
            self._bring_up_to_date(world, randomization)
        self._embody(world.agents, None if own else world.active)
        self._show_arms(world.agents)
        absent = [world.things[name] for name in without if name in self._shown]
        for thing in absent:
            self._stage.move(thing.id, thing.box.axes, thing.box.center - _OUT_OF_SIGHT)
        try:
            return self._stage.render(camera, *size, rgb=rgb, normals=normals)
        finally:
            for thing in absent:
                self._stage.move(thing.id, thing.box.axes, self._center(world, thing))

    def meshes(self, world: World) -> Mapping[str, Mesh]:
        """What the things that are not hidden look like in their original colours, by id."""
        self._paint(world, Randomization())
        self._bring_up_to_date(world, Randomization())
        return dict(self._shown)

    def shape(self, id: str) -> Shape | None:
        """An object's mesh, and the places and normals (V, 3) of its vertices, as last drawn."""
        return self._stage.shape(id) if id in self._stage.names else None

    def _embody(self, agents: Sequence[AgentState], absent: int | None) -> None:
        """Show the agents, where there are several, but the one of this number."""
        seen = agents if len(agents) > 1 else ()
        for number in range(len(seen), self._bodies):
            self._stage.remove(f"agent {number}")
        for number, agent in enumerate(seen):
            place = np.array((agent.x, agent.y - HEIGHT + _BODY[1] / 2, agent.z))
            if number == absent:
                place -= _OUT_OF_SIGHT
            if number < self._bodies:
                self._stage.move(f"agent {number}", yaw(agent.rotation), place)
            else:
                body = mesh_of("Person", _BODY, Look(), number)
                self._stage.put(
                    f"agent {number}", body, yaw(agent.rotation), place, casts_shadow=False
                )
        if len(seen) != self._bodies:
            self._stage.arrange()
        self._bodies = len(seen)

    def _show_arms(self, agents: Sequence[AgentState]) -> None:
        """Show the agents' arms."""
        shown: set[str] = set()
        for number, agent in enumerate(agents):
            for part, mesh, axes, place in limbs(agent):
                name = f"arm {number} {part}"
                shown.add(name)
                if name in self._arms:
                    self._stage.move(name, axes, place)
                else:
                    self._stage.put(name, mesh, axes, place, casts_shadow=False)
        for gone in self._arms - shown:
            self._stage.remove(gone)
        if shown != self._arms:
            self._stage.arrange()
        self._arms = shown

    def _paint(self, world: World, randomization: Randomization) -> None:
        outline, name = self.room.outline, self.room.name
        floor = next(thing.id for thing in world.things.values() if thing.kind == "Floor")
        low = (outline.low[0], outline.floor, outline.low[1])
        high = (outline.high[0], outline.ceiling, outline.high[1])
        kinds = {thing.kind for thing in world.things.values()}
        way = next((way for kind, way in _WAYS if kind in kinds), "living_room")
        for part, mesh in shell(low, high, way, seed_of(randomization.materials, name)):
            body = floor if part == "floor" else f"{name} {part}"
            self._stage.put(body, mesh, np.eye(3), np.zeros(3), casts_shadow=False)
        burners = [thing.box for thing in world.things.values() if thing.kind == "StoveBurner"]
        knobs = [thing.box for thing in world.things.values() if thing.kind == "StoveKnob"]
        if burners:
            self._stage.put(f"{name} stove", stove(burners, knobs, outline), np.eye(3), np.zeros(3))
        self._joinery = Joinery(self._first, seed_of(randomization.materials, name))
        self._meshes.clear()
        self._drawn = {}

    def _illuminate(self, randomization: Randomization) -> None:
        outline = self.room.outline
        x, z = ((a + b) / 2 for a, b in zip(outline.low, outline.high, strict=True))
        width, depth = (b - a for a, b in zip(outline.low, outline.high, strict=True))
        self._stage.light(
            Light(
                (x, outline.ceiling - 0.1, z),
                color=randomization.color,
                strength=randomization.brightness,
                reach=max(4.0, 0.8 * max(width, depth)),
            ),
            sky=_scaled(_SKY, randomization.brightness),
            ground=_scaled(_GROUND, randomization.brightness),
        )

    def _kept(self, world: World, randomization: Randomization) -> dict[object, Mesh]:
        """Where new meshes are kept. Some hang on where the furniture around them stands."""
        still = all(
            name in world.things and world.things[name].box is box
            for name, box in self._furniture.items()
        )
        return self._common if still and randomization.materials == 0 else self._meshes

    def _bring_up_to_date(self, world: World, randomization: Randomization) -> None:
        burning, kept = lit(world), self._kept(world, randomization)
        recorded = any(thing.posed for thing in world.things.values())
        if recorded != self._recorded:
            self._recorded, self._turned = recorded, quarters(world.things, self.room.outline)
        hidden = {thing.id: world.hidden(thing.id) for thing in world.things.values()}
        held = world.in_hands
        in_hand = held.union(*(world.within(name) for name in held))
        self._changed_hands, self._in_hand = in_hand ^ self._in_hand, in_hand
        for gone in [name for name in self._shown if hidden.get(name, True)]:
            self._stage.remove(gone)
            self._trim(gone, None)
            del self._shown[gone]
        shown = [t for t in world.things.values() if t.kind != "Floor" and not hidden[t.id]]
        # A support comes before what it carries, which may be lifted out of it.
        for thing in sorted(self._touched(shown, burning), key=lambda t: _depth(world, t)):
            self._draw(world, thing, randomization, thing.id in burning, kept)
        self._light_lamps(world)
        self._stage.arrange()
        self._drawn, self._burning = dict(world.things), burning

    def _touched(self, shown: Sequence[SimObject], burning: Set[str]) -> Sequence[SimObject]:
        """Those whose shape or place may be another than what is drawn."""
        if self._recorded:
            return shown  # What lies in a tub hangs on boxes that are no parents.
        others = self._changed_hands | (burning ^ self._burning)
        changed = {t.id for t in shown if self._drawn.get(t.id) is not t or t.id in others}
        return [
            t
            for t in shown
            if t.id in changed or t.id not in self._shown or not changed.isdisjoint(t.parents)
        ]

    def _draw(
        self,
        world: World,
        thing: SimObject,
        randomization: Randomization,
        burning: bool,
        kept: dict[object, Mesh],
    ) -> None:
        measured = self._recorded or world.rules.drawn_as_measured
        levels = self._levels(world, thing)
        look = look_of(thing, burning=burning, measured=measured, levels=levels)
        special = thing.kind in _CUT and (measured, self._recorded)
        form = thing.kind in CARCASSES and (self._turned.get(thing.id), self._hollow(world, thing))
        size = tuple(thing.box.half.tolist())
        key = (thing.id, size, look, randomization.materials, special, form)
        mesh = self._meshes.get(key) or self._common.get(key)
        if mesh is None:
            made = self._mesh(world, thing, look, randomization)
            mesh = (kept if self._is_usual(thing, look) else self._meshes).setdefault(key, made)
        supports = self._supports(world, thing) if thing["pickupable"] else ()
        # Everything that determines the height of an object's contents.
        rests = thing.box, *((self._shown.get(on), world.things[on].box) for on, _ in supports)
        if self._shown.get(thing.id) is not mesh or thing.id in self._changed_hands:
            # A held object casts no shadow, which would have to be redrawn at every step.
            center, shadow = self._center(world, thing), thing.id not in self._in_hand
            own, beside = split(thing.kind, mesh)
            self._stage.put(thing.id, own, thing.box.axes, center, casts_shadow=shadow)
            self._trim(thing.id, beside, thing.box.axes, center)
            self._shown[thing.id] = mesh
        elif not _same(self._rests[thing.id], rests):
            self._stage.move(thing.id, thing.box.axes, self._center(world, thing))
        self._rests[thing.id] = rests

    def _is_usual(self, thing: SimObject, look: Look) -> bool:
        """Whether it looks as it can in every episode; of other looks there is no end."""
        half = self._sizes.get(thing.id)
        whole = half is not None and np.array_equal(half, thing.box.half)
        return whole and not look.levels and look.openness in (0.0, 1.0)

    def _levels(self, world: World, thing: SimObject) -> tuple[float, ...]:
        """Heights in metres above its bottom at which things stand in a fridge, or lie on a bed.

        In a fridge only where they were recorded: elsewhere they stand as our shelves are.
        """
        if thing.kind == "Bed":
            return (round(rise(world, thing), 2),) if thing.id in world.rises else ()
        if not self._recorded or thing.kind != "Fridge" or not thing["isOpen"]:
            return ()
        low = float(thing.box.low[1])
        bases = {round(float(world.things[i].box.low[1]) - low, 2) for i in world.put_in(thing.id)}
        return tuple(sorted(bases))

    def _trim(
        self, id: str, mesh: Mesh | None, axes: Array = _UPRIGHT, at: Array = _ORIGIN
    ) -> None:
        """Update the parts outside an object's mask. None of them moves."""
        name = name_of(id)
        if mesh is not None:
            self._stage.put(name, mesh, axes, at)
        elif name in self._stage.names:
            self._stage.remove(name)

    def _center(self, world: World, thing: SimObject) -> Array:
        """The drawn position of an object: moved out of our cushions and walls, which differ
        from THOR's.
        """
        center, base = thing.box.center, float(thing.box.low[1])
        if thing.kind in THROUGH_WALLS:
            return self._before_the_wall(thing)
        if not thing["pickupable"]:
            return center
        lift = 0.0
        for parent, most in self._supports(world, thing):
            if parent in self._shown:
                under = world.things[parent]
                height = height_at(self._shown[parent], under.box, center[[0, 2]], base + most)
                lift = max(lift, height - base)
        return np.asarray(center + np.array((0.0, lift, 0.0)))

    def _supports(self, world: World, thing: SimObject) -> Iterator[tuple[str, float]]:
        """The supports of an object and how deep it may be sunk in them: receptacle, and basin's
        tub.
        """
        for parent in thing.parents:
            cushioned = world.things[parent].kind in _CUSHIONED
            yield parent, _SUNK_IN_CUSHIONS if cushioned else _SUNK
        # A recording was made in THOR's tubs, whose floors differ from ours.
        kinds = {world.things[p].kind for p in thing.parents if self._recorded}
        for other in world.things.values() if kinds else ():
            if f"{other.kind}Basin" in kinds and other.box.holds(thing.box.center, 0.1):
                yield other.id, _SUNK_IN_TUBS

    def _before_the_wall(self, thing: SimObject) -> Array:
        """The drawn position of a window or curtain: not behind the wall."""
        outline, center = self.room.outline, thing.box.center.copy()
        thin = 0 if thing.box.reach[0] < thing.box.reach[2] else 2
        low, high = (side[0 if thin == 0 else 1] for side in (outline.low, outline.high))
        center[thin] = min(max(center[thin], low + _PROUD), high - _PROUD)
        return center

    def _mesh(
        self, world: World, thing: SimObject, look: Look, randomization: Randomization
    ) -> Mesh:
        joinery = self._joinery
        parts = self.room.strips.get(thing.id, ())
        if parts and (thing.kind == "CounterTop" or len(parts) > 1):
            stone = joinery.stone if thing.kind == "CounterTop" else joinery.front
            first = next(one for one in self._first if one.id == thing.id)
            if self._recorded:
                parts = tuple(cut_to_fronts(first, parts, self._first))
            made = counter(first, parts, self._first, self.room.outline, stone, joinery.front)
            made, now, was = into(first.box, made), thing.box.half.max(), first.box.half.max()
            return made if now == was else made.scaled(*(float(now / was),) * 3)
        if thing.kind in THROUGH_WALLS and min(thing.box.half[[0, 2]]) > _AROUND_CORNER:
            return self._around_corner(thing, look)
        x, y, z = (2 * thing.box.half).tolist()
        beyond = self._in_the_wall(thing) if look.measured else 0.0
        z -= beyond
        turn = self._turned.get(thing.id, 0.0)
        size = (x, y, z) if turn % 180.0 == 0.0 else (z, y, x)
        if (board := joinery.board(thing, world.things)) is not None:
            return board
        if joinery.framed(thing) or self._hollow(world, thing):
            made = joinery.frame(thing, rise(world, thing), size)
        else:
            name = f"{self.room.name} {thing.kind}" if thing.kind in _ALIKE else thing["assetId"]
            seed = seed_of(randomization.materials, name or thing.id)
            made = joinery.finish(thing, mesh_of(thing.kind, size, look, seed))
        if self._recorded or world.rules.drawn_as_measured:
            made = around_basins(thing, made, self._first)
        if beyond:
            made = made.shifted(z=beyond / 2)
        return made.turned("y", turn) if turn else made

    def _in_the_wall(self, thing: SimObject) -> float:
        """Metres by which a thing's back is in a wall, which would hide the inside of a fridge."""
        outline, back = self.room.outline, thing.box.to_world((0.0, 0.0, -thing.box.half[2]))
        beyond = np.maximum(outline.low - back[[0, 2]], back[[0, 2]] - outline.high)
        return max(0.0, float(beyond.max()))

    def _hollow(self, world: World, thing: SimObject) -> bool:
        """Whether furniture has an open front: it can't be opened, and things lie below its top."""
        if thing.kind not in CARCASSES or thing["openable"]:
            return False
        top = float(thing.box.high[1]) - _BELOW_TOP
        inside: Iterator[SimObject] = iter(())
        if world.rules.open_is_hollow:
            inside = (first for first in self._first if thing.id in first.parents)
        elif self._recorded:
            there = (world.things[id] for id in thing.contents)
            inside = (t for t in there if t.posed and thing.box.holds(t.box.center))
        return any(one["pickupable"] and one.box.low[1] < top for one in inside)

    def _around_corner(self, thing: SimObject, look: Look) -> Mesh:
        """A window or curtain around a corner of the room: a pane along each wall."""
        panes = []
        for strip in along_walls(thing.box, self.room.outline, _PANE):
            x, y, z = (2 * strip.half).tolist()
            wide = x >= z
            pane = mesh_of(thing.kind, (max(x, z), y, min(x, z)), look, 0)
            middle = strip.center - thing.box.center
            inward = -float(middle[2 if wide else 0])
            turn = (0.0 if wide else 90.0) + (0.0 if inward > 0 else 180.0)
            panes.append(out_of(Box(strip.center, strip.half, yaw(turn)), pane))
        return into(thing.box, join(panes))

    def _light_lamps(self, world: World) -> None:
        for thing in world.things.values():
            if thing.kind in LAMPS:
                x, _, z = thing.box.center
                bulb = (float(x), float(thing.box.high[1]) - 0.1, float(z))
                on = thing["isToggled"] and thing.present
                lamp = Light(bulb, (1.0, 0.85, 0.6), strength=0.6, reach=1.2) if on else None
                self._stage.lamp(thing.id, lamp)


def _depth(world: World, thing: SimObject) -> int:
    """Nesting depth of an object; 0 if it is not pickupable."""
    depth, passed = 0, set[str]()
    while thing["pickupable"] and thing.id not in passed:
        passed.add(thing.id)
        depth += 1
        inner = [world.things[p] for p in thing.parents if world.things[p]["pickupable"]]
        if not inner:
            break
        thing = inner[0]
    return depth


def _same(one: object, other: object) -> bool:
    """Whether two tuples hold the identical objects."""
    if isinstance(one, tuple) and isinstance(other, tuple):
        return len(one) == len(other) and all(map(_same, one, other))
    return one is other


def _scaled(light: Vector, factor: float) -> Vector:
    red, green, blue = (channel * factor for channel in light)
    return red, green, blue
