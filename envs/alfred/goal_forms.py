"""The JSON schema of ALFRED's goals for those who write tasks: the forms that each type can take.

`scene.Goal` refuses what a type needs and lacks, but its own schema can't say so. Whoever is held
to these forms can't go wrong there, and is told what each type is usually made of.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from typing import Any

from envs.alfred.pairs import CLEANED, COOLED, HEATED, LIT, LOADS, PLACES
from envs.alfred.scene import LAMPS, SLICEABLE
from envs.alfred.tasks import TYPES

_OBJECTS: Mapping[str, Iterable[str]] = {
    "look_at_obj_in_light": LIT,
    "pick_clean_then_place_in_recep": CLEANED,
    "pick_heat_then_place_in_recep": HEATED,
    "pick_cool_then_place_in_recep": COOLED,
    "pick_and_place_with_movable_recep": tuple(chain.from_iterable(LOADS.values())),
}
"""Of types that not everything is good for."""


def goal_schema() -> dict[str, Any]:
    """A JSON schema: any one of the forms, each with what it needs and nothing else."""
    return {
        "description": "What is wanted, in ALFRED's parameters (`pddl_params`).",
        "anyOf": [form for type in TYPES for form in _forms(type)],
    }


def _forms(type: str) -> Iterator[dict[str, Any]]:
    """With a whole object; and with slices of it, where there is what can be sliced."""
    objects = {*_OBJECTS.get(type, PLACES)}
    yield _form(type, objects, {})
    sliceable = objects & {*SLICEABLE}
    if sliceable and type != "look_at_obj_in_light":
        yield _form(type, sliceable, {"sliced": {"type": "boolean", "const": True}})


def _form(type: str, objects: Iterable[str], more: Mapping[str, Any]) -> dict[str, Any]:
    fields: dict[str, Any] = {
        "type": {"type": "string", "const": type},
        "object": _one_of(objects, "What is to be placed, or held in the light."),
        **more,
    }
    placed = objects
    if type == "pick_and_place_with_movable_recep":
        placed = LOADS
        fields["movable"] = _one_of(LOADS, "What it lies in when it is placed.")
    if type == "look_at_obj_in_light":
        fields["toggle"] = _one_of(LAMPS, "The lamp.")
    else:
        places = {place for object in placed for place in PLACES.get(object, ())}
        fields["parent"] = _one_of(places, "Where it belongs in the end.")
    return {
        "type": "object",
        "properties": fields,
        "required": list(fields),
        "additionalProperties": False,
    }


def _one_of(words: Iterable[str], description: str) -> dict[str, Any]:
    return {"type": "string", "vocabulary": sorted(set(words)), "description": description}
