"""HOLMES's functions with the results that the benchmark has cached."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pydantic import JsonValue

from inhabit.envs.pca_bench.tasks import Domain


@dataclass(frozen=True, slots=True)
class Function:
    """A function for agents without images (PCA-EVAL, HOLMES)."""

    name: str
    domain: Domain
    cached: str
    """The files' name of its result."""
    description: str


FUNCTIONS = (
    Function(
        "detect_traffic_sign",
        Domain.DRIVING,
        "detect_traffic_sign",
        "Traffic signs in the picture.",
    ),
    Function(
        "object_detection",
        Domain.DRIVING,
        "object_detection",
        "Cars, people and bicycles in the picture, each with how many there are.",
    ),
    Function("ocr", Domain.DRIVING, "ocr", "What is written in the picture."),
    Function("image_caption", Domain.DRIVING, "caption", "The picture in one sentence."),
    Function(
        "weather_detection", Domain.DRIVING, "weather_detection", "The weather in the picture."
    ),
    Function(
        "object_detection",
        Domain.HOME,
        "object_detection_alfred",
        "Names of the objects in the picture.",
    ),
    Function(
        "list_items_in_hands",
        Domain.HOME,
        "list_items_in_hand_alfred",
        "Names of the objects in your hands.",
    ),
    Function(
        "list_nearby_mobs_in_minecraft",
        Domain.GAME,
        "list_nearby_mobs",
        "Names of the creatures near you.",
    ),
    Function(
        "list_inventory_information",
        Domain.GAME,
        "list_items_in_inventory",
        "What is in your inventory, each thing with how many you have.",
    ),
)
HANDS, INVENTORY, MOBS = (
    "list_items_in_hands",
    "list_inventory_information",
    "list_nearby_mobs_in_minecraft",
)
_NOTHING = {"", "nan", "none"}


def by_function(domain: Domain, cached: Mapping[str, JsonValue]) -> dict[str, JsonValue]:
    """Function -> cached result; "nan" and "None" count as missing."""
    return {
        function.name: _plain(cached[name])
        for function in FUNCTIONS
        if function.domain is domain
        for name in (function.cached, function.name)
        if name in cached
    }


def schemas(domain: Domain, results: Mapping[str, JsonValue]) -> list[Mapping[str, JsonValue]]:
    """Schemas of the functions with results, as `inhabit.envs.core.Tools.tools` returns them."""
    return [
        {
            "name": function.name,
            "description": function.description,
            "parameters": {"type": "object", "properties": {}, "additionalProperties": False},
        }
        for function in FUNCTIONS
        if function.domain is domain and function.name in results
    ]


def facts(results: Mapping[str, JsonValue]) -> str:
    """What an image does not show, as a sentence; empty if unknown."""
    if HANDS in results:
        held = ", ".join(names(results[HANDS]))
        return f"You have {held} in your hands." if held else "You have nothing in your hands."
    if INVENTORY in results:
        items = [f"{n} {name}" for name, n in counts(results[INVENTORY]).items()]
        return f"Currently you have {', '.join(items) or 'nothing'} in your inventory."
    return ""


def names(result: JsonValue) -> Sequence[str]:
    """A list of names from its form in the files."""
    found = result if isinstance(result, list) else [result]
    return [str(name) for name in found if str(name).strip().lower() not in _NOTHING]


def counts(result: JsonValue) -> Mapping[str, int]:
    """Name -> quantity, from [[name, n]]; other entries are ignored."""
    found: dict[str, int] = {}
    for pair in result if isinstance(result, list) else ():
        match pair:
            case [str(name), int() | float() as n]:
                found[name] = found.get(name, 0) + int(n)
    return found


def _plain(result: JsonValue) -> JsonValue:
    if isinstance(result, list) and all(isinstance(one, str) for one in result):
        return list(names(result))
    if isinstance(result, str) and result.strip().lower() in _NOTHING:
        return "nothing"
    return result
