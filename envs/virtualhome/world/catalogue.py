"""The catalogue of classes, and their words."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from inhabit.envs.plain_data import csv_rows
from inhabit.envs.virtualhome.graph.names import squeeze

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
    rows = csv_rows("inhabit.envs.virtualhome.world", "catalogue.csv")
    return {row["class_name"]: _article(row) for row in rows}


def _article(row: Mapping[str, str]) -> Article:
    size = float(row["width"]), float(row["height"]), float(row["depth"])
    properties, states = row["properties"].split(), row["states"].split()
    return Article(
        row["class_name"], row["category"], row["shape"], size, tuple(properties), tuple(states)
    )


def spoken(class_name: str) -> str:
    """A class in English."""
    return _WORDS.get(class_name, class_name.replace("_", " "))


def in_words(text: str) -> str:
    """A text with its class names in words; names with numbers stay."""
    return _NAMED.sub(lambda match: _SAID[match[0]], text)


def class_of(squeezed: str) -> str | None:
    """The class of squeezed words, such as "laundrybasket"; None if they are no name of ours."""
    return _CLASSES.get(squeezed)


_WORDS: Mapping[str, str] = {
    row["class_name"]: row["words"]
    for row in csv_rows("inhabit.envs.virtualhome.world", "words.csv")
}
"""Compound class names of our flats, with their parts."""
_SAID: Mapping[str, str] = {
    **_WORDS,
    "cutleryknife": "cutlery knife",
    "livingroom": "living room",
}
"""Words of classes, for texts in which every name means one class: there is a class "knife" too."""
_NAMED = re.compile(rf"\b(?:{'|'.join(_SAID)})\b")
_CLASSES = {squeeze(said): name for name, said in _SAID.items()}
