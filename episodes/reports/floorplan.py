"""Floor plan with the path of the agent, for maps on pages and in videos."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from inhabit.episodes.recording.reader import Attempt
from inhabit.episodes.recording.schema import PlacedThing, PoseRecord

WIDTH = 400.0
"""Of the map, in its own units; its height follows from the room."""
_MARGIN = 24.0
_NAMED = 10
"""Things that are named on the map; the others are dots."""
_HIGHEST = 0.62
"""Of its width, the height that a map has at most."""
_LINE = 13.0
"""Height of a line of letters on it."""
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
    """Whether it is written to the left, because there is no room to the right."""


@dataclass(frozen=True, slots=True)
class FloorPlan:
    """A map."""

    height: float
    path: str
    """Points of the way, as SVG has them."""
    stands: tuple[Stand, ...]
    landmarks: tuple[Landmark, ...]
    metre: float
    """Its length on the map."""


def floor_plan(attempt: Attempt) -> FloorPlan | None:
    """The map of an attempt; None where the record does not say where the agent was."""
    poses = [(s.number, s.see.pose) for s in attempt.steps if s.see.pose is not None]
    if not poses:
        return None
    things = attempt.start.things
    frame = _Frame([pose for _, pose in poses], things)
    stands = tuple(Stand(n, frame.spot(p.x, p.z), frame.turned(p.heading)) for n, p in poses)
    return FloorPlan(
        height=frame.height,
        path=" ".join(f"{s.at.x},{s.at.y}" for s in stands),
        stands=stands,
        landmarks=tuple(_landmarks(things, _acted_on(attempt), frame)),
        metre=round(frame.scale, 1),
    )


class _Frame:
    """From metres to the map: z upwards and x to the right, or turned where that fits better."""

    def __init__(self, poses: Sequence[PoseRecord], things: Sequence[PlacedThing]) -> None:
        xs = [p.x for p in poses] + [t.x for t in things]
        zs = [p.z for p in poses] + [t.z for t in things]
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


def _landmarks(
    things: Sequence[PlacedThing], acted_on: Sequence[str], frame: _Frame
) -> Sequence[Landmark]:
    spots = {thing.name: frame.spot(thing.x, thing.z) for thing in things}
    named: list[str] = []
    for name in acted_on:
        if len(named) < _NAMED and not any(_close(spots[name], spots[o]) for o in named):
            named.append(name)
    return [Landmark(n, at, n in named, at.x > 0.65 * WIDTH) for n, at in spots.items()]


def _close(one: Spot, other: Spot) -> bool:
    """Whether names beside both would be written over one another."""
    return abs(one.y - other.y) < _LINE and abs(one.x - other.x) < WIDTH / 3


def _acted_on(attempt: Attempt) -> Sequence[str]:
    """Names of things that actions, and what came of them, speak of; in the order they come up."""
    told = [
        f"{s.decide.action or ''} {s.act.feedback}" for s in attempt.steps if s.decide and s.act
    ]
    words = [f" {text.replace('.', ' ').replace(',', ' ')} " for text in told]
    names = [thing.name for thing in attempt.start.things]
    return list(dict.fromkeys(n for text in words for n in names if f" {n} " in text))
