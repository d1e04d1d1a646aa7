"""The scene of a question, and HOLMES's functions with results that the benchmark has cached."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, JsonValue, model_validator

from inhabit.envs.multiple_choice import answer_is_an_option
from inhabit.envs.settings import SettingsModel


class PcaSettings(SettingsModel):
    """What `--set` may say of PCA-Bench."""

    images: Path | None = None
    """Folder of the images, unless they lie beside the task file or in its imgs or images folder.
    """
    expert: Literal["answers", "recipes"] = "answers"
    """What the expert follows: the released answers; or, in the game, recipes alone, from the
    inventory and the creatures nearby."""


class Domain(StrEnum):
    """Where the decision is made."""

    DRIVING = "autonomous_driving"
    HOME = "domestic_robot"
    GAME = "open_world_game"


class PcaScene(BaseModel):
    """An image, the options, and the right one with its reason. Of all this an agent sees the
    image, the options and the facts; a text-only model may ask for the cached results.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    domain: Domain
    actions: tuple[str, ...] = Field(min_length=2)
    """The options, all different."""
    answer: int = Field(ge=0)
    """Index of the right option in `actions`."""
    reason: str = ""
    key_concepts: tuple[str, ...] = ()
    facts: str = ""
    """What an image can't show, in a sentence: hands and inventory."""
    results: Mapping[str, JsonValue] = Field(default_factory=dict)
    """Function -> its cached result (HOLMES)."""
    image: Path | None = None
    """The image, or the parquet file that holds it; None where there is none."""
    row: int | None = Field(default=None, ge=0)
    """Row of the image in a parquet file; None elsewhere."""

    _answer_is_an_option = model_validator(mode="after")(answer_is_an_option)


@dataclass(frozen=True, slots=True)
class Function:
    """A function for agents without images (PCA-EVAL, HOLMES)."""

    name: str
    domain: Domain
    cached: str
    """The files' name of its result, if it is another."""
    description: str


HANDS, INVENTORY, MOBS = (
    "list_items_in_hands",
    "list_inventory_information",
    "list_nearby_mobs_in_minecraft",
)
_CARS = "Cars, people and bicycles in the picture, each with how many there are."
_OBJECTS = "Names of the objects in the picture."
_OWNED = "What is in your inventory, each thing with how many you have."
_DRIVING, _HOME, _GAME = Domain.DRIVING, Domain.HOME, Domain.GAME
FUNCTIONS = (
    Function("detect_traffic_sign", _DRIVING, "", "Traffic signs in the picture."),
    Function("object_detection", _DRIVING, "", _CARS),
    Function("ocr", _DRIVING, "", "What is written in the picture."),
    Function("image_caption", _DRIVING, "caption", "The picture in one sentence."),
    Function("weather_detection", _DRIVING, "", "The weather in the picture."),
    Function("object_detection", _HOME, "object_detection_alfred", _OBJECTS),
    Function(HANDS, _HOME, "list_items_in_hand_alfred", "Names of the objects in your hands."),
    Function(MOBS, _GAME, "list_nearby_mobs", "Names of the creatures near you."),
    Function(INVENTORY, _GAME, "list_items_in_inventory", _OWNED),
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
