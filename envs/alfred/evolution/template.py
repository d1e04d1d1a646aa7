"""The ALFRED task template for EIE: vocabulary, sampling, evolution and event graphs."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import replace
from itertools import chain
from typing import Any

from pydantic import JsonValue, ValidationError

from inhabit.envs.alfred.evolution.changes import CHANGES, HARDER, changed
from inhabit.envs.alfred.language.grammar import preposition
from inhabit.envs.alfred.language.naming import word
from inhabit.envs.alfred.language.verbs import BY_NAME
from inhabit.envs.alfred.phrasing.compound import scene_in_words
from inhabit.envs.alfred.phrasing.nouns import called
from inhabit.envs.alfred.scenes.counterparts import SLICED
from inhabit.envs.alfred.scenes.scene import AlfredGoal, AlfredScene
from inhabit.envs.alfred.tasks.reference_cost import reference_cost
from inhabit.envs.alfred.tasks.rehearsal import MAX_STEPS
from inhabit.envs.alfred.tasks.sampling import TYPES, draw_scene
from inhabit.envs.alfred.world.settings import AlfredSettings
from inhabit.envs.alfred.world.states import STATES
from inhabit.envs.alfred.world.things import (
    CLEANED,
    COOLED,
    HEATED,
    IN,
    IN_SLICES,
    LIT,
    LOADS,
    PLACES,
    SYNONYMS,
)
from inhabit.envs.alfred.world.things import TYPES as OBJECT_TYPES
from inhabit.envs.core import Action, SceneObject, Task
from inhabit.envs.simulators.household.types.things import LAMPS
from inhabit.envs.template import ActionKind, Event, Lexicon
from inhabit.envs.world.words import with_article

# The JSON schema of ALFRED's goals for task writers: the forms of each task type.
#
# `AlfredGoal` rejects missing parameters, but its own schema cannot express which type requires
# what. These forms do, and list the usual objects of each type.

_OBJECTS: Mapping[str, Iterable[str]] = {
    "look_at_obj_in_light": LIT,
    "pick_clean_then_place_in_recep": CLEANED,
    "pick_heat_then_place_in_recep": HEATED,
    "pick_cool_then_place_in_recep": COOLED,
    "pick_and_place_with_movable_recep": tuple(chain.from_iterable(LOADS.values())),
}
"""Objects that are valid for task types with a restriction."""


def goal_schema() -> dict[str, Any]:
    """A JSON schema that accepts any one of `forms`."""
    return {
        "description": "What is wanted, in ALFRED's parameters (`pddl_params`).",
        "anyOf": [form for type in TYPES for form in _forms(type)],
    }


def _forms(type: str) -> Iterator[dict[str, Any]]:
    """The form for a whole object and, where the type allows it, the one for slices."""
    objects = {*_OBJECTS.get(type, PLACES)}
    yield _form(type, objects, {})
    sliceable = objects & {*IN_SLICES}
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


_TREATMENTS: Mapping[str, tuple[str, str, ActionKind, str]] = {
    "pick_heat_then_place_in_recep": ("heat", "heated", ActionKind.SWITCH_ON, "microwave"),
    "pick_cool_then_place_in_recep": ("cool", "cooled", ActionKind.CLOSE, "fridge"),
    "pick_clean_then_place_in_recep": ("wash", "washed", ActionKind.SWITCH_ON, "faucet"),
}
"""Task type -> verb, participle, kind of action, and the appliance that is used."""
_TRIES = 40
_OFTEN = {"pick_two_obj_and_place": 0.4, "pick_and_place_with_movable_recep": 0.8}
"""Weights of task types; 1 for the others. iTHOR's rooms have two of few objects: slices, rolls of
toilet paper, statues and vases; and three in ten things that can be loaded are a box."""


class AlfredTemplate:
    """Writes and varies ALFRED's tasks."""

    changes: Sequence[str] = CHANGES
    harder: Set[str] = HARDER

    def __init__(self, settings: AlfredSettings) -> None:
        """A template for the rooms of the settings' split."""
        self._split = settings.split
        self._colors = settings.colors
        self.lexicon = _lexicon()

    def schema(self) -> Mapping[str, JsonValue]:
        """JSON schema of `AlfredScene`, without what only recordings have, and with a goal of
        forms.
        """
        schema: dict[str, Any] = AlfredScene.model_json_schema()
        schema["properties"].pop("recording")
        of_recordings = ("Record", "LowStep")
        for name in [d for d in schema["$defs"] if d.startswith(of_recordings)]:
            del schema["$defs"][name]
        schema["$defs"]["Goal"] = goal_schema()
        return schema

    def prose(self) -> str:
        """The possible objects and goals, for a writer."""
        return (
            "One room of AI2-THOR: FloorPlan1 to 30 are kitchens, 201 to 230 living rooms, 301 to "
            "330 bedrooms, 401 to 430 bathrooms. The goal is one of ALFRED's seven types: "
            f"{', '.join(TYPES)}. Object and receptacle are object types that the room has, such "
            "as Mug and CounterTop; heating asks for a microwave, cooling for a fridge, cleaning "
            "for a sink, slicing (sliced: true) for a knife and one of "
            f"{', '.join(IN_SLICES)}. Looking in the light has a toggle (DeskLamp or FloorLamp) "
            "and no parent; with a movable receptacle there is a movable. Things are named as "
            "mug_1: type in lower case and a number. A thing can be placed elsewhere, or stand "
            "open, on, dirty and so on at the start if it is such as can. The goal must not hold "
            "at the start. Leave out start, held, placements, states and spawn_seed where they "
            "don't matter."
        )

    def seed(self, rng: random.Random, name: str) -> Task:
        """Sample a new task: type, room, object and receptacle."""
        type = rng.choices(TYPES, [_OFTEN.get(type, 1.0) for type in TYPES])[0]
        scene = None
        while scene is None:
            scene = draw_scene(type, rng, self._split)
        return _task(name, scene, rng, self._colors)

    def evolve(self, task: Task, change: str, rng: random.Random, name: str) -> Task | None:
        """Change one aspect of a task. The result is feasible."""
        scene = AlfredScene.model_validate(dict(task.scene))
        for _ in range(_TRIES):
            evolved = changed(scene, change, rng, self._split)
            if evolved is not None:
                return _task(name, evolved, rng, self._colors)
        return None

    def kind(self, scene: Mapping[str, JsonValue]) -> str:
        """The goal's task type."""
        goal = scene.get("goal")
        type = goal.get("type") if isinstance(goal, Mapping) else None
        return type if isinstance(type, str) else ""

    def events(self, task: Task) -> Sequence[Event]:
        """The events of the goal: take, slice, heat (or cool, clean), load, place."""
        try:
            return list(_all_events(AlfredScene.model_validate(dict(task.scene))))
        except ValidationError:
            return []

    def room(self, task: Task) -> str:
        """The floor plan."""
        return str(task.scene.get("room", ""))

    def action_kind(self, action: Action) -> ActionKind:
        """The kind of an action, by its verb."""
        return BY_NAME[action.verb].kind if action.verb in BY_NAME else ActionKind.OTHER

    def unseen(self, text: str, things: Sequence[SceneObject]) -> str:
        """The text, which is about what is held, unless all of that is visible."""
        return "" if all(thing.pixels for thing in things if thing.held) else text


def _task(name: str, scene: AlfredScene, rng: random.Random, colors: bool) -> Task:
    return Task(
        id=name,
        env="alfred",
        kind=scene.goal.type,
        goal=scene_in_words(scene, rng, colors=colors),
        scene=scene.model_dump(mode="json", exclude_defaults=True),
        max_steps=MAX_STEPS,
        reference_cost=reference_cost(scene),
    )


def _lexicon() -> Lexicon:
    products = {word(f"{type}{SLICED}"): word(type) for type in IN_SLICES}
    return Lexicon(
        kinds=frozenset(map(word, OBJECT_TYPES)),
        states={state.name: state.words for state in STATES},
        synonyms={said: word(type) for said, type in SYNONYMS.items()},
        products={**products, word("EggCracked"): word("Egg")},
        containers=frozenset(map(word, IN)),
        called=called(),
    )


def _all_events(scene: AlfredScene) -> Iterator[Event]:
    """The events of all goals; those of later goals have a number."""
    earlier: tuple[str, ...] = ()
    for number, goal in enumerate(scene.goals, start=1):
        found = list(_events(goal))
        mark = f" {number}" if number > 1 else ""
        for at, event in enumerate(found):
            needs = tuple(f"{need}{mark}" for need in event.needs)
            if scene.in_order and not needs:
                needs = earlier
            done = event.done
            if scene.also and at == len(found) - 1 and goal.toggle is None:
                done = f"The {_moved(goal)} is {_in(event.thing)} already."
            yield replace(event, name=f"{event.name}{mark}", needs=needs, done=done)
        earlier = (f"{found[-1].name}{mark}",)


def _moved(goal: AlfredGoal) -> str:
    """What is put in its place in the end."""
    return word(goal.movable or (f"{goal.object}{SLICED}" if goal.sliced else str(goal.object)))


def _events(goal: AlfredGoal) -> Iterator[Event]:
    thing = word(f"{goal.object}{SLICED}" if goal.sliced else str(goal.object))
    whole = word(str(goal.object))
    before: tuple[str, ...] = ()
    if goal.sliced:
        yield Event(
            "slice", f"slice the {whole}", f"The {whole} has been sliced.", ActionKind.CUT, whole
        )
        before = ("slice",)
    yield Event("take", f"pick up {with_article(thing)}", "", ActionKind.TAKE, thing, before)
    before = ("take",)
    if goal.type in _TREATMENTS:
        verb, done, action_kind, by = _TREATMENTS[goal.type]
        yield Event(
            verb, f"{verb} the {thing}", f"The {thing} has been {done}.", action_kind, by, before
        )
        before = (verb,)
    if goal.toggle is not None:
        lamp = word(goal.toggle)
        yield Event("light", f"turn on the {lamp}", "", ActionKind.SWITCH_ON, lamp, before)
        return
    if goal.movable is not None:
        movable = word(goal.movable)
        yield Event("load", f"put the {thing} {_in(movable)}", "", ActionKind.PUT, movable, before)
        yield Event("carry", f"pick up the {movable}", "", ActionKind.TAKE, movable, ("load",))
        before, thing = ("carry",), movable
    place = word(str(goal.parent))
    if goal.type != "pick_two_obj_and_place":
        yield Event("place", f"put the {thing} {_in(place)}", "", ActionKind.PUT, place, before)
        return
    first = f"One {thing} is {_in(place)} already."
    yield Event("place one", f"put one {thing} {_in(place)}", first, ActionKind.PUT, place, before)
    yield Event(
        "take another", f"pick up another {thing}", "", ActionKind.TAKE, thing, ("place one",)
    )
    yield Event(
        "place another",
        f"put another {thing} {_in(place)}",
        "",
        ActionKind.PUT,
        place,
        ("take another",),
    )


def _in(place: str) -> str:
    return f"{preposition(place)} the {place}"
