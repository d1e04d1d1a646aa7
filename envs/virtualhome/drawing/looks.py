"""Shapes and looks of the classes, and of objects in their states."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache

from inhabit.envs.plain_data import csv_rows
from inhabit.envs.simulators.render.mesh import Material, Mesh
from inhabit.envs.simulators.render.shapes import Look, shape
from inhabit.envs.virtualhome.graph.world import Node
from inhabit.envs.virtualhome.world.catalogue import catalogue

Size = tuple[float, float, float]

_HUNG = frozenset(
    (
        *("window", "curtains", "wallpictureframe", "standingmirror", "towelrack", "lightswitch"),
        *("bathroomcabinet", "kitchencabinet"),
    )
)
_NOT_DRAWN = frozenset(
    (
        *("wall", "floor", "ceiling", "hands_both", "hair", "face", "teeth", "closetdrawer"),
        *("hanger", "electrical_outlet", "character", "door"),
    )
)
_MIDDLE = frozenset(("kitchentable", "coffeetable"))
_SINKS = frozenset(("sink", "faucet"))


@dataclass(frozen=True, slots=True)
class ClassShape:
    """How a class is drawn."""

    shape: str
    size: Size
    place: str


@cache
def forms() -> Mapping[str, ClassShape]:
    """Every known class, by its name."""
    found = {name: ClassShape("Box", (0.2, 0.2, 0.2), "none") for name in _NOT_DRAWN}
    for name, article in catalogue().items():
        if name not in _NOT_DRAWN:
            found[name] = ClassShape(
                article.shape, article.size, _usual_place(name, article.category)
            )
    for row in csv_rows("inhabit.envs.virtualhome.drawing", "classes.csv"):
        size = float(row["width"]), float(row["height"]), float(row["depth"])
        found.setdefault(row["class_name"], ClassShape(row["shape"], size, row["place"]))
    return found


def form(class_name: str) -> ClassShape:
    """How a class is drawn; an unknown class is a small box."""
    known = forms()
    plain = class_name.replace("_", "")
    return known.get(class_name) or known.get(plain) or ClassShape("Box", (0.2, 0.2, 0.2), "small")


def _usual_place(name: str, category: str) -> str:
    if name in _HUNG:
        return "hung"
    if name == "ceilinglamp":
        return "ceiling"
    if name == "rug":
        return "rug"
    if name in _MIDDLE:
        return "middle"
    if name == "chair":
        return "floor"
    large = category in ("Furniture", "Appliances") and name not in _SINKS
    on_counters = ("microwave", "toaster", "coffeemaker")
    if (large and name not in on_counters) or name in ("garbagecan", "basketforclothes"):
        return "wall"
    return "wall" if name == "floorlamp" else "small"


_BACKWARDS = frozenset(("Bed",))
"""Shapes with their front at -z, as in THOR."""
_ALWAYS_OPEN = frozenset(("Laptop", "Box"))
"""Shapes whose box is that of the open object, which our classes do not describe."""
_OURS = "inhabit_"
_STARLIGHT = 0.14
"""Brightness of the night sky relative to noon."""


def kind_of(node: Node) -> str:
    """The shape of a node: by our prefab's name, by its class, or a plain box."""
    prefab = str(node.source.get("prefab_name") or "")
    return prefab.removeprefix(_OURS) if prefab.startswith(_OURS) else form(node.class_name).shape


def look_of(node: Node) -> Look:
    """The visible part of a node's states."""
    kind, states = kind_of(node), node.states
    shut = "CLOSED" in states if kind == "Box" else False
    opened = "OPEN" in states or (kind in _ALWAYS_OPEN and not shut)
    return Look(
        openness=1.0 if opened else 0.0,
        on="ON" in states,
        dirty="DIRTY" in states,
    )


def mesh_of(kind: str, size: tuple[float, float, float], look: Look, seed: int) -> Mesh:
    """A mesh in its own frame, with its front at +z."""
    mesh = shape(kind, size, look, seed=seed)
    return mesh.turned("y", 180.0) if kind in _BACKWARDS else mesh


def by_light(mesh: Mesh, light: float) -> Mesh:
    """A window's mesh, lit from outside by this much daylight, 0..1."""
    share = _STARLIGHT + (1.0 - _STARLIGHT) * light
    return replace(mesh, palette=tuple(_dimmed(m, share) for m in mesh.palette))


def _dimmed(material: Material, share: float) -> Material:
    if material.glow == 0.0:
        return material
    red, green, blue = material.color
    # At dusk, red is the last colour to fade.
    return replace(material, color=(red * share**1.3, green * share**1.1, blue * share))
