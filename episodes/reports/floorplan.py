"""Floor plan with the path of the agent, for maps on pages and in videos."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from inhabit.envs.core import UnknownNameError
from inhabit.envs.entries import PluginError
from inhabit.envs.errors import UserError
from inhabit.envs.marks import places
from inhabit.envs.registry import Registration, find
from inhabit.envs.scene_plan import Footprint, ScenePlan
from inhabit.envs.world.words import without_number
from inhabit.episodes.recording.reader import Attempt
from inhabit.episodes.recording.schema import PlacedThing, PoseRecord, RunHeader
from inhabit.episodes.reports.wording import spoken

WIDTH = 400.0
"""Width of the map, in its own units; its height follows from the room."""
_MARGIN = 20.0
_NAMED = 10
"""Things that are named on the map; the others are dots."""
_HIGHEST = 0.75
"""Greatest height of a map, as a share of its width."""
_LINE = 13.0
"""Height of a line of letters on the map."""
_LETTER = 5.0
"""Width of a letter of a name in a piece of furniture."""
_LARGE = 1.3 * _LETTER
"""Width of a letter of a room's name, or of a name beside a dot."""
_BEYOND = 4.0
"""What a name may be wider than its piece of furniture."""
_LEAST = 2.0
"""Metres that a map shows at least, so that an agent that only turns is no speck."""


@dataclass(frozen=True, slots=True)
class Spot:
    """A place on the map."""

    x: float
    y: float


@dataclass(frozen=True, slots=True)
class Stand:
    """Where the agent stood before a step."""

    step: int
    at: Spot
    heading: float
    """Degrees clockwise from the top of the map."""


@dataclass(frozen=True, slots=True)
class Landmark:
    """A thing on the map."""

    name: str
    at: Spot
    named: bool
    """Whether its name is written beside it: it is one of those that were acted on."""
    left: bool
    """Whether the name is written to the left, because there is no room to the right."""


@dataclass(frozen=True, slots=True)
class PlotArea:
    """A room or a piece of furniture on the map."""

    name: str
    corners: tuple[Spot, ...]
    label: str
    """The name as it is written on the map; empty where it does not fit."""
    at: Spot
    """The middle of `label`."""
    used: bool = False
    """Whether the room or the piece of furniture was acted on."""

    @property
    def points(self) -> str:
        """The corners, as SVG has them."""
        return " ".join(f"{spot.x},{spot.y}" for spot in self.corners)


@dataclass(frozen=True, slots=True)
class FloorPlan:
    """A map."""

    height: float
    path: str
    """Points of the way, as SVG has them."""
    stands: tuple[Stand, ...]
    landmarks: tuple[Landmark, ...]
    metre: float
    """Length of a metre on the map."""
    rooms: tuple[PlotArea, ...]
    furniture: tuple[PlotArea, ...]
    doors: tuple[PlotArea, ...]


def floor_plan(attempt: Attempt, scene: ScenePlan | None = None) -> FloorPlan | None:
    """The map of an attempt; None where nothing says where the agent was.

    Recorded poses come before those of `scene`.
    """
    poses = _poses(attempt, scene)
    if not poses:
        return None
    things = attempt.start.things
    frame = _Frame([pose for _, pose in poses], things, scene)
    stands = tuple(Stand(n, frame.spot(p.x, p.z), frame.turned(p.heading)) for n, p in poses)
    acted_on = _acted_on(attempt, scene)
    rooms, furniture, doors = (
        (scene.rooms, scene.furniture, scene.doors) if scene is not None else ((), (), ())
    )
    areas = _labelled(furniture, frame, acted_on)
    named = {area.name for area in areas if area.label}
    landmarks = _landmarks(things, scene, [n for n in acted_on if n not in named], frame)
    areas = tuple(_uncovered(area, landmarks) for area in areas)
    return FloorPlan(
        height=frame.height,
        path=" ".join(f"{s.at.x},{s.at.y}" for s in stands),
        stands=stands,
        landmarks=tuple(landmarks),
        metre=round(frame.scale, 1),
        rooms=_named_rooms(rooms, frame, _written(areas, landmarks)),
        furniture=areas,
        doors=tuple(_area(door, frame, "") for door in doors),
    )


def _poses(attempt: Attempt, scene: ScenePlan | None) -> Sequence[tuple[int, PoseRecord]]:
    recorded = [(s.number, s.see.pose) for s in attempt.steps if s.see.pose is not None]
    if recorded or scene is None:
        return recorded
    told = zip(attempt.steps, scene.poses, strict=False)
    return [(s.number, PoseRecord(x=p.x, z=p.z, heading=p.heading)) for s, p in told]


class _Frame:
    """From metres to the map: z upwards and x to the right, or turned where that fits better."""

    def __init__(
        self, poses: Sequence[PoseRecord], things: Sequence[PlacedThing], scene: ScenePlan | None
    ) -> None:
        corners = [c for room in (scene.rooms if scene is not None else ()) for c in room.corners]
        xs = [p.x for p in poses] + [t.x for t in things] + [x for x, _ in corners]
        zs = [p.z for p in poses] + [t.z for t in things] + [z for _, z in corners]
        width, depth = max(max(xs) - min(xs), _LEAST), max(max(zs) - min(zs), _LEAST)
        self._turned = depth > width
        if self._turned:
            width, depth = depth, width
        room = WIDTH - 2 * _MARGIN
        self.scale = min(room / width, _HIGHEST * room / depth)
        self.height = round(depth * self.scale + 2 * _MARGIN, 1)
        self._middle = (min(xs) + max(xs)) / 2, (min(zs) + max(zs)) / 2

    def spot(self, x: float, z: float) -> Spot:
        right, up = x - self._middle[0], z - self._middle[1]
        if self._turned:
            right, up = up, -right
        at = WIDTH / 2 + right * self.scale, self.height / 2 - up * self.scale
        return Spot(round(at[0], 1), round(at[1], 1))

    def turned(self, heading: float) -> float:
        return round((heading + 90 * self._turned) % 360, 1)


def _area(footprint: Footprint, frame: _Frame, label: str, at: Spot | None = None) -> PlotArea:
    corners = tuple(frame.spot(x, z) for x, z in footprint.corners)
    return PlotArea(footprint.name, corners, label, at or _middle(corners))


def _middle(corners: Sequence[Spot]) -> Spot:
    xs, ys = [c.x for c in corners], [c.y for c in corners]
    return Spot(round((min(xs) + max(xs)) / 2, 1), round((min(ys) + max(ys)) / 2, 1))


def _named_rooms(
    rooms: Sequence[Footprint], frame: _Frame, written: Sequence[_Writing]
) -> tuple[PlotArea, ...]:
    """Rooms, each with its name under the upper wall, or where it writes over no other name."""
    named: list[PlotArea] = []
    for room in rooms:
        label = _plain(room.name)
        corners = tuple(frame.spot(x, z) for x, z in room.corners)
        top, bottom = (pick(c.y for c in corners) for pick in (min, max))
        heights = (top + _LINE - 2, bottom - _LINE + 2, (top + bottom) / 2)
        spots = [Spot(_middle(corners).x, round(y, 1)) for y in heights]
        wide = _LARGE * len(label)
        free = (at for at in spots if not any(one.meets(at, wide) for one in written))
        named.append(_area(room, frame, label, next(free, spots[0])))
    return tuple(named)


def _labelled(
    furniture: Sequence[Footprint], frame: _Frame, acted_on: Sequence[str]
) -> tuple[PlotArea, ...]:
    """Furniture, named where the name fits inside and writes over no other one."""
    written: list[PlotArea] = []
    areas: list[PlotArea] = []
    for one in furniture:
        area, label = _area(one, frame, ""), _plain(one.name)
        xs, ys = [c.x for c in area.corners], [c.y for c in area.corners]
        fits = max(xs) - min(xs) + _BEYOND >= _LETTER * len(label) and max(ys) - min(ys) >= 10
        if label and fits and not any(_over(area.at, label, o.at, o.label) for o in written):
            area = _area(one, frame, label)
            written.append(area)
        areas.append(replace(area, used=one.name in acted_on))
    return tuple(areas)


@dataclass(frozen=True, slots=True)
class _Writing:
    middle: Spot
    wide: float

    def meets(self, at: Spot, wide: float) -> bool:
        """Whether a name `wide` with its middle at `at` would be written over this one."""
        near = abs(self.middle.y - at.y) < _LINE
        return near and abs(self.middle.x - at.x) < (self.wide + wide) / 2


def _written(areas: Sequence[PlotArea], landmarks: Sequence[Landmark]) -> list[_Writing]:
    inside = [_Writing(area.at, _LETTER * len(area.label)) for area in areas if area.label]
    return inside + [_beside(mark) for mark in landmarks if mark.named]


def _beside(mark: Landmark) -> _Writing:
    wide = _LARGE * len(mark.name)
    middle = mark.at.x + (-1 if mark.left else 1) * (8 + wide / 2)
    return _Writing(Spot(middle, mark.at.y), wide)


def _uncovered(area: PlotArea, landmarks: Sequence[Landmark]) -> PlotArea:
    """`area` without its label where the name of a landmark is written over it."""
    wide = _LETTER * len(area.label)
    covered = any(_beside(mark).meets(area.at, wide) for mark in landmarks if mark.named)
    return replace(area, label="") if covered else area


def _over(one: Spot, label: str, other: Spot, beside: str) -> bool:
    wide = _LETTER * (len(label) + len(beside)) / 2
    return abs(one.y - other.y) < _LINE - 3 and abs(one.x - other.x) < wide


def _plain(name: str) -> str:
    """A name without its number, as a person reads it: "countertop" for "countertop_2"."""
    return without_number(name).replace("_", " ")


def _landmarks(
    things: Sequence[PlacedThing], scene: ScenePlan | None, acted_on: Sequence[str], frame: _Frame
) -> Sequence[Landmark]:
    drawn = {one.name: one for one in (scene.furniture if scene is not None else ())}
    spots = {t.name: frame.spot(t.x, t.z) for t in things if t.name not in drawn}
    spots |= {n: _area(one, frame, "").at for n, one in drawn.items() if n in acted_on}
    marks = {n: Landmark(spoken(n), at, True, at.x > 0.65 * WIDTH) for n, at in spots.items()}
    written: dict[str, _Writing] = {}
    for name in acted_on:
        own = _beside(marks[name])
        if len(written) < _NAMED and not any(
            one.meets(own.middle, own.wide) for one in written.values()
        ):
            written[name] = own
    return [replace(mark, named=name in written) for name, mark in marks.items()]


def _acted_on(attempt: Attempt, scene: ScenePlan | None) -> Sequence[str]:
    """Names of things in actions and their feedback, in order of first mention."""
    names = {thing.name for thing in attempt.start.things}
    names |= {one.name for one in (scene.furniture if scene is not None else ()) if one.name}
    told = " ".join(
        f"{s.decide.action or ''} {s.act.feedback}" for s in attempt.steps if s.decide and s.act
    )
    # The longest first: "hand towel_1" is no "towel_1".
    either = "|".join(re.escape(name) for name in sorted(names, key=len, reverse=True))
    found = re.findall(rf"(?<![^ ])(?:{either})(?![^ .,])", told)
    return [name for name in dict.fromkeys(found) if name]


def scene_plan(header: RunHeader, attempt: Attempt) -> ScenePlan | None:
    """Walls, furniture and, where the record lacks them, poses.

    None where the environment has none of these, or the scene lies in files of the user's own: a
    page opens nothing that a record names.
    """
    try:
        registration = find(header.env)
        if header.backend != registration.backends[0] or _own_files(registration, header):
            return None
        actions = [
            step.decide.action if step.decide and step.act else None for step in attempt.steps
        ]
        executed = actions[: sum(step.act is not None for step in attempt.steps)]
        return registration.scene_plan(attempt.start.task, executed)
    except (UnknownNameError, PluginError, UserError):
        return None


def _own_files(registration: Registration, header: RunHeader) -> bool:
    defaults = registration.settings().model_dump(mode="json")
    recorded = header.settings.env
    return any(
        name in recorded and recorded[name] != defaults[name]
        for name in places(registration.settings)
    )
