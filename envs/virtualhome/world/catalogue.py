"""The classes of objects in our flats, with VirtualHome's names and properties.

The table is `catalogue.csv`. Sizes are ours, in metres: width, height, depth, with the front at
+depth. `shape` names the form that `inhabit.envs.simulators.render.shapes` draws.
"""

from __future__ import annotations

import csv
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

ROOMS: Mapping[str, str] = {
    "kitchen": "kitchen",
    "livingroom": "living_room",
    "bedroom": "bedroom",
    "bathroom": "bathroom",
}
"""VirtualHome's room class -> room type of `inhabit.envs.simulators.render.shell`."""


@dataclass(frozen=True, slots=True)
class Article:
    """One class of object."""

    class_name: str
    category: str
    shape: str
    size: tuple[float, float, float]
    properties: tuple[str, ...]
    states: tuple[str, ...]


@cache
def catalogue() -> Mapping[str, Article]:
    """Every article, by class name."""
    text = files("inhabit.envs.virtualhome.world").joinpath("catalogue.csv").read_text("utf-8")
    return {row["class_name"]: _article(row) for row in csv.DictReader(text.splitlines())}


def _article(row: Mapping[str, str]) -> Article:
    size = float(row["width"]), float(row["height"]), float(row["depth"])
    properties, states = row["properties"].split(), row["states"].split()
    return Article(
        row["class_name"], row["category"], row["shape"], size, tuple(properties), tuple(states)
    )
