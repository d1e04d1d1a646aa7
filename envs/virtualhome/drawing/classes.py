"""The look, size and usual place of every class.

Our flats' classes are in `envs/virtualhome/world/catalogue.csv`; those of other graphs, such as
`eai-eval`'s, in `classes.csv`. Sizes are ours, in metres. Places are "wall" and "middle" for
furniture, "floor", "rug", "hung", "low" and "hood" on walls, "ceiling", "small" for what lies on
something, and "none" for what is not drawn.
"""

from __future__ import annotations

import csv
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

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
    text = files("inhabit.envs.virtualhome.drawing").joinpath("classes.csv").read_text("utf-8")
    for row in csv.DictReader(text.splitlines()):
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
