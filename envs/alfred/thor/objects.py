"""The objects of a room from THOR's metadata, by id and by type."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

from inhabit.envs.simulators.household.types.things import ENCLOSING

Point = tuple[float, float, float]
"""x, y (up), z in metres."""
Arrangement = frozenset[tuple[str, bool | tuple[Point, Point, Point], bool]]
"""Objects of a room: id, position, center and size, or that it is held; and whether it is open."""


class PartlyKnown(Mapping[str, Any]):
    """A record of which a part stays what it is from view to view."""

    __slots__ = ("known",)

    known: Mapping[str, Any]
    """The part that stays: the same mapping as long as the object is not changed."""


class _Flag:
    """A field of THOR's record that is true or false."""

    def __init__(self, key: str) -> None:
        self._key = key

    def __get__(self, thing: ThorObject, owner: type) -> bool:
        return bool(thing.record[self._key])


@dataclass(frozen=True, slots=True)
class ThorObject:
    """One object in one state. Its box is axis-aligned."""

    id: str
    type: str
    position: Point
    """THOR's position: a pivot, not always the center."""
    center: Point
    size: Point
    parents: tuple[str, ...]
    contents: tuple[str, ...]
    record: Mapping[str, Any]
    """THOR's own record."""

    @classmethod
    def of(cls, record: Mapping[str, Any]) -> Self:
        """Read a record of `metadata.objects`."""
        box = record["axisAlignedBoundingBox"]
        return cls(
            id=record["objectId"],
            type=record["objectType"],
            position=point(record["position"]),
            center=point(box["center"]),
            size=point(box["size"]),
            parents=tuple(record["parentReceptacles"] or ()),
            contents=tuple(record["receptacleObjectIds"] or ()),
            record=record,
        )

    def seen_in(self, record: Mapping[str, Any]) -> Self:
        """The same object in another view, of which it has another record."""
        return type(self)(
            self.id,
            self.type,
            self.position,
            self.center,
            self.size,
            self.parents,
            self.contents,
            record,
        )

    visible = _Flag("visible")
    """Whether the object is in the image and within reach, by THOR's rule."""
    pickupable = _Flag("pickupable")
    """Whether the object can be picked up."""
    receptacle = _Flag("receptacle")
    """Whether objects can be put in or on the object."""
    openable = _Flag("openable")
    """Whether the object can be opened."""
    open = _Flag("isOpen")
    """Whether the object is open."""
    toggleable = _Flag("toggleable")
    """Whether the object can be switched."""
    on = _Flag("isToggled")
    """Whether the object is on."""
    sliceable = _Flag("sliceable")
    """Whether the object can be sliced."""
    sliced = _Flag("isSliced")
    """Whether the object has been sliced."""
    held = _Flag("isPickedUp")
    """Whether the object is held."""

    @property
    def shut(self) -> bool:
        """Whether it is closed and encloses its contents (a toilet or a laptop does not)."""
        return self.type in ENCLOSING and self.openable and not self.open

    def reach(self, x: float, z: float) -> float:
        """Metres along the floor from (x, z) to its box."""
        dx = max(0.0, abs(x - self.center[0]) - self.size[0] / 2)
        dz = max(0.0, abs(z - self.center[2]) - self.size[2] / 2)
        return math.hypot(dx, dz)


class ThorObjects:
    """All objects of one state, in THOR's order.

    Without what was cut up: THOR still lists that beside its slices.
    """

    def __init__(
        self, records: Iterable[Mapping[str, Any]], before: ThorObjects | None = None
    ) -> None:
        """Read records.

        Args:
            records: of `metadata.objects`.
            before: an earlier state. Objects that are as they were are not read again.
        """
        things = map(ThorObject.of if before is None else before._again, records)
        self._things = {t.id: t for t in things if not (t.sliceable and t.sliced)}

    def _again(self, record: Mapping[str, Any]) -> ThorObject:
        """The object of a later record."""
        was = self._things.get(record["objectId"])
        if isinstance(record, PartlyKnown) and was is not None:
            earlier = was.record
            if isinstance(earlier, PartlyKnown) and earlier.known is record.known:
                return was.seen_in(record)
        return ThorObject.of(record)

    def __iter__(self) -> Iterator[ThorObject]:
        return iter(self._things.values())

    def __getitem__(self, id: str) -> ThorObject:
        return self._things[id]

    def __contains__(self, id: object) -> bool:
        return id in self._things

    def get(self, id: str) -> ThorObject | None:
        """The object of that id, if it exists."""
        return self._things.get(id)

    def of_type(self, *types: str) -> Sequence[ThorObject]:
        """Every object of these types."""
        return [thing for thing in self if thing.type in types]

    @property
    def held(self) -> ThorObject | None:
        """The held object."""
        return next((thing for thing in self if thing.held), None)

    @property
    def arrangement(self) -> Arrangement:
        """Where everything is that is not held, and what is open: what there is to see."""
        return frozenset(
            (t.id, t.held or (t.position, t.center, t.size), t.open) for t in self._things.values()
        )

    def inside(self, receptacle: ThorObject) -> frozenset[str]:
        """Ids of everything in or on it, at any depth: also a mug on a plate in the sink."""
        found: set[str] = set()
        ahead = list(receptacle.contents)
        while ahead:
            inner = self.get(ahead.pop())
            if inner is not None and inner.pickupable and inner.id not in found:
                found.add(inner.id)
                ahead.extend(inner.contents)
        return frozenset(found - {receptacle.id})

    def around(self, thing: ThorObject) -> Sequence[ThorObject]:
        """Everything it is in or on, at any depth, innermost first.

        Furniture has no parents: THOR's entries for it come from overlapping boxes.
        """
        found: dict[str, ThorObject] = {}
        ahead = list(thing.parents) if thing.pickupable else []
        while ahead:
            outer = self.get(ahead.pop(0))
            if outer is not None and outer.id not in found and outer.id != thing.id:
                found[outer.id] = outer
                ahead.extend(outer.parents if outer.pickupable else ())
        return list(found.values())

    def shut_in(self, thing: ThorObject) -> ThorObject | None:
        """The closed receptacle that holds it, if any."""
        return next((outer for outer in self.around(thing) if outer.shut), None)


def point(xyz: Mapping[str, float]) -> Point:
    """THOR's {"x": ..., "y": ..., "z": ...}."""
    return (float(xyz["x"]), float(xyz["y"]), float(xyz["z"]))


def apart(one: Point, other: Point) -> float:
    """Metres between two points."""
    return math.dist(one, other)
