"""Household objects from numbers: `shape("Mug", size, Look(), seed=3)` is a mug of that size.

A new kind is a builder in the file of its family, named in that file's `KINDS` with its usual size
and its telling states; `scripts/contact_sheet` shows it, and the tests then hold it to
what holds of all.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import isfinite
from random import Random

from inhabit.envs.simulators.render.lathe import box
from inhabit.envs.simulators.render.mesh import Mesh, Vector
from inhabit.envs.simulators.render.shapes import (
    appliances,
    bathroom,
    belongings,
    bottles,
    decor,
    electronics,
    fittings,
    food,
    kitchenware,
    person,
    seats,
    tables,
    toiletries,
    walls,
)
from inhabit.envs.simulators.render.shapes.finishes import CREAM, Form, Look, shards, soiled

__all__ = ["FORMS", "KINDS", "Look", "shape"]

_FAMILIES = (
    appliances,
    bathroom,
    belongings,
    bottles,
    decor,
    electronics,
    fittings,
    food,
    kitchenware,
    person,
    seats,
    tables,
    toiletries,
    walls,
)
FORMS: Mapping[str, Form] = {
    kind: form for family in _FAMILIES for kind, form in family.KINDS.items()
}
"""Type -> its form."""
_FALLS_APART = frozenset(
    ("Bottle", "Bowl", "Cup", "Glassbottle", "Mug", "Plate", "Statue", "Vase", "WineBottle")
)
PRISTINE = Look()
_STAINS = frozenset(("Bowl", "Cloth", "Cup", "Mug", "Pan", "Plate", "Pot"))
"""Dirt discolours all of them; a mirror or a bed shows it in its own way."""
_SUITES: Mapping[str, str] = {
    **dict.fromkeys(
        ("Cabinet", "CounterBase", "CounterTop", "Desk", "Drawer", "Dresser"), "fronts"
    ),
    **dict.fromkeys(("Shelf", "ShelvingUnit", "SideTable", "TVStand"), "fronts"),
    **dict.fromkeys(("Chair", "CoffeeTable", "DiningTable", "Stool"), "table"),
    **dict.fromkeys(("ArmChair", "Ottoman", "Sofa"), "upholstery"),
    **dict.fromkeys(("HandTowel", "Towel"), "towels"),
    **dict.fromkeys(("Sink", "SinkBasin"), "sink"),
    **dict.fromkeys(("PersonSitting", "PersonLying"), "Person"),
}
"""What is bought together, or is one person: with the same seed its members look the same."""
_THINNEST = 0.001

KINDS = tuple(sorted(FORMS))
"""The types that have a form of their own."""


def shape(kind: str, size: Vector, look: Look = PRISTINE, *, seed: int) -> Mesh:
    """An object of a type, filling a box.

    Args:
        kind: its THOR type, such as "Mug" or "AppleSliced". Any other text gives a plain box, so
            that a scene with types of its own can still be seen.
        size: metres along x, y, z in the object's frame, its front to +z. The mesh fills the box
            centred at the origin; what is opened or runs may stick out of it. A side of less than
            a millimetre is drawn as one.
        look: its state.
        seed: picks colours, woods and cloths; the same seed gives the same bytes. Give the fitted
            furniture of a room one seed, and its cabinets, drawers and counters match.

    Raises:
        ValueError: a size that is negative or not finite.
    """
    if not all(isfinite(side) and side >= 0 for side in size):
        raise ValueError(
            f"The size of {kind} must be finite and not negative (metres); got {size}."
        )
    x, y, z = (max(float(side), _THINNEST) for side in size)
    choose = Random(f"{_SUITES.get(kind, kind)} {seed}")
    build = FORMS[kind].build if kind in FORMS else _plain
    mesh = build((x, y, z), look, choose)
    if look.broken and kind in _FALLS_APART:
        mesh = shards(mesh, (x, y, z), Random(f"shards {kind} {seed}"))
    return soiled(mesh) if look.dirty and kind in _STAINS else mesh


def _plain(size: Vector, look: Look, choose: Random) -> Mesh:
    """A box, for a type without a shape of its own."""
    return box(size, CREAM, bevel=0.04 * min(size))
