"""The ALFRED task template for EIE: vocabulary, sampling, evolution and event graphs."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import replace
from itertools import combinations
from typing import Any

from pydantic import JsonValue, ValidationError

from inhabit.envs.alfred.evolution.changes import CHANGES, HARDER, changed
from inhabit.envs.alfred.language.verbs import BY_NAME, preposition, word
from inhabit.envs.alfred.phrasing import nouns
from inhabit.envs.alfred.phrasing.compound import scene_in_words
from inhabit.envs.alfred.scenes.scene import SLICED, AlfredGoal, AlfredScene
from inhabit.envs.alfred.tasks.feasibility import reference_cost
from inhabit.envs.alfred.tasks.sampling import MAX_STEPS, draw_scene, possible_goals
from inhabit.envs.alfred.world.kinds import KIND_NAMES, KINDS, SIMPLE, AlfredKind
from inhabit.envs.alfred.world.settings import AlfredSettings
from inhabit.envs.alfred.world.things import (
    IN,
    IN_SLICES,
    LOADS,
    PLACES,
    STATES,
    SYNONYMS,
)
from inhabit.envs.alfred.world.things import TYPES as OBJECT_TYPES
from inhabit.envs.core import Action, SceneObject, Task
from inhabit.envs.simulators.household.types.things import LAMPS
from inhabit.envs.template import ActionKind, Crossing, Event, Lexicon
from inhabit.envs.world import household_names
from inhabit.envs.world.rows import kind_of
from inhabit.envs.world.words import number, with_article

_WANTS = {SIMPLE.name: ""} | {
    kind.name: kind.treatment.inside[0]
    for kind in KINDS
    if kind.treatment is not None and kind.count == 1
}
"""What may be wanted of an object, and the appliance that this takes."""
_OPENED = ("Fridge", "Microwave", "Safe", "Cabinet", "Box")
"""Places that are opened, which gives more kinds of answers."""
_SMALL = ("CreditCard", "KeyChain", "Pen", "Pencil", "Watch", "CD", "Fork", "Spoon", "ButterKnife")
"""Objects that are hard to see from afar. They are tried last."""
_MOST = 3
"""Sets of goals that are tried of one room."""
_PAIR = 2
"""Goals that have hardly any square with four pictures if they ask for more than to place things,
or to place them behind a door: whoever stands at that may open it for either goal.
"""

_LOOKALIKES = (
    frozenset(("dresser", "tv stand", "shelf", "side table", "desk", "cabinet", "drawer")),
    frozenset(("dining table", "coffee table", "side table", "desk")),
    frozenset(("armchair", "sofa", "ottoman")),
)
"""Furniture that a person may take for one another."""

_Want = tuple[str, str]
"""Task type and destination."""


def crossed(
    scene: AlfredScene,
    count: int,
    things: Sequence[SceneObject],
    rng: random.Random,
    common: bool,
) -> Iterator[Sequence[tuple[AlfredGoal, ...]]]:
    """Sets of `count` goals with as many parts: in each, the same objects have other wants.

    With objects X and Y and wants 1 and 2, these are "X 1, Y 2" and "X 2, Y 1". In `common`, two
    goals have a third part, which is the same in both.
    """
    there = [kind for kind in sorted(PLACES) if _is_one(kind, things)]
    known = {kind: _wants(scene.room, kind, plain=count == _PAIR) for kind in there}
    groups = [
        (objects, wants)
        for objects in combinations([kind for kind, wants in known.items() if wants], count)
        if (wants := _apart([known[kind] for kind in objects], count, things))
    ]
    tried = rng.sample(groups, min(4 * _MOST, len(groups)))
    tried.sort(key=lambda group: sum(kind in _SMALL for kind in group[0]))
    for objects, some in tried[:_MOST]:
        chosen = rng.choices(some, [_weight(one) for one in some])[0]
        order = rng.sample(chosen, count)
        more = _more(known, objects, chosen, things, rng) if common and count == _PAIR else ()
        yield [
            (*(_goal(kind, order[(n + turn) % count]) for n, kind in enumerate(objects)), *more)
            for turn in range(count)
        ]


def with_goals(scene: AlfredScene, goals: Sequence[AlfredGoal]) -> AlfredScene:
    """The same room and start with these goals, all of which have to hold in the end."""
    changed = {"goal": goals[0], "also": tuple(goals[1:]), "in_order": False}
    return scene.model_copy(update={**changed, "condition": None, "disturbances": ()})


def _wants(room: str, kind: str, *, plain: bool) -> frozenset[_Want]:
    return frozenset(
        (goal.type, str(goal.parent))
        for type_ in ([SIMPLE.name] if plain else _WANTS)
        for goal in possible_goals(type_, room)
        if goal.object == kind and not goal.sliced and not (plain and goal.parent in _OPENED)
    )


def _apart(
    wants: Sequence[frozenset[_Want]], count: int, things: Sequence[SceneObject]
) -> list[tuple[_Want, ...]]:
    """Sets of wants that all objects may have, of which no two begin or end at the same place.

    There is one of each of the places.
    """
    places = {want[1] for some in wants for want in some}
    there = {place for place in places if sum(t.kind == word(place) for t in things) == 1}
    shared = sorted(want for want in frozenset.intersection(*wants) if want[1] in there)
    return [
        some
        for some in combinations(shared, count)
        if len({_first(want) for want in some}) == count
        and (len({want[1] for want in some}) == count or all(_WANTS[want[0]] for want in some))
    ]


def _more(
    known: Mapping[str, frozenset[_Want]],
    objects: Sequence[str],
    wants: Sequence[_Want],
    things: Sequence[SceneObject],
    rng: random.Random,
) -> tuple[AlfredGoal, ...]:
    """A goal for another object at another place, where it is not yet; empty if there is none."""
    taken = {want[1] for want in wants}
    kinds = {thing.name: thing.kind for thing in things}
    stands = {(thing.kind, kinds.get(thing.support or "")) for thing in things}
    found = [
        _goal(kind, want)
        for kind, some in known.items()
        if kind not in objects
        for want in sorted(some)
        if want[1] not in taken and (word(kind), word(want[1])) not in stands
    ]
    return tuple(rng.sample(found, min(1, len(found))))


def _first(want: _Want) -> str:
    """Where an object has to be brought first."""
    return _WANTS[want[0]] or want[1]


def _weight(wants: Sequence[_Want]) -> float:
    return 4.0 ** sum(_first(want) in _OPENED for want in wants)


def _goal(kind: str, want: _Want) -> AlfredGoal:
    return AlfredGoal.model_validate({"type": want[0], "object": kind, "parent": want[1]})


def _is_one(kind: str, things: Sequence[SceneObject]) -> bool:
    """Whether there is one such object, and not behind a door."""
    found = [thing for thing in things if thing.kind == word(kind)]
    closed = {thing.name for thing in things if thing.states.get("open") is False}
    return len(found) == 1 and not (found[0].inside and found[0].support in closed)


def _forms(kind: AlfredKind) -> Iterator[dict[str, Any]]:
    """The form for a whole object and, where the type allows it, the one for slices."""
    objects = {*kind.objects}
    yield _form(kind, objects, {})
    sliceable = objects & {*IN_SLICES}
    if sliceable and not kind.light:
        yield _form(kind, sliceable, {"sliced": {"type": "boolean", "const": True}})


def _form(kind: AlfredKind, objects: Iterable[str], more: Mapping[str, Any]) -> dict[str, Any]:
    fields: dict[str, Any] = {
        "type": {"type": "string", "const": kind.name},
        "object": _one_of(objects, "What is to be placed, or held in the light."),
        **more,
    }
    placed = objects
    if kind.movable:
        placed = LOADS
        fields["movable"] = _one_of(LOADS, "What it lies in when it is placed.")
    if kind.light:
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


_TRIES = 40


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
        schema["$defs"]["Goal"] = {
            "description": "What is wanted, in ALFRED's parameters (`pddl_params`).",
            "anyOf": [form for kind in KINDS for form in _forms(kind)],
        }
        return schema

    def prose(self) -> str:
        """The possible objects and goals, for a writer."""
        return (
            "One room of AI2-THOR: FloorPlan1 to 30 are kitchens, 201 to 230 living rooms, 301 to "
            "330 bedrooms, 401 to 430 bathrooms. The goal is one of ALFRED's "
            f"{number(len(KINDS))} types: {', '.join(KIND_NAMES)}. Object and receptacle are "
            "object types that the room has, such as Mug and CounterTop; heating asks for a "
            "microwave, cooling for a fridge, cleaning for a sink, slicing (sliced: true) for a "
            f"knife and one of {', '.join(IN_SLICES)}. Looking in the light has a toggle (DeskLamp "
            "or FloorLamp) and no parent; with a movable receptacle there is a movable. Things are "
            "named as mug_1: type in lower case and a number. A thing can be placed elsewhere, or "
            "stand open, on, dirty and so on at the start if it is such as can. The goal must not "
            "hold at the start. Leave out start, held, placements, states and spawn_seed where "
            "they don't matter."
        )

    def seed(self, rng: random.Random, name: str) -> Task:
        """Sample a new task: type, room, object and receptacle."""
        type = rng.choices(KIND_NAMES, [kind.often for kind in KINDS])[0]
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

    def crossings(
        self,
        task: Task,
        rows: int,
        things: Sequence[SceneObject],
        rng: random.Random,
        common: bool = False,
    ) -> Iterator[Crossing]:
        """Goals that put the same objects in different places, or treat them differently."""
        scene = AlfredScene.model_validate(dict(task.scene))
        letters = "abcdefgh"
        for goals in crossed(scene, rows, things, rng, common):
            named = [
                _task(
                    f"{task.id}-{letters[n]}", with_goals(scene, one), rng, self._colors, plain=True
                )
                for n, one in enumerate(goals)
            ]
            parts = [
                task.model_copy(update={"scene": _plain(with_goals(scene, (part,)))})
                for part in dict.fromkeys(part for one in goals for part in one[:rows])
            ]
            yield Crossing(tuple(named), tuple(parts))

    def undisturbed(self, task: Task) -> Task:
        """Without the disturbances of its scene."""
        scene = AlfredScene.model_validate(dict(task.scene))
        return task.model_copy(update={"scene": _plain(with_goals(scene, scene.goals))})

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
        return kind_of(BY_NAME, action)

    def unseen(self, text: str, things: Sequence[SceneObject]) -> str:
        """The text, which is about what is held, unless all of that is visible."""
        return "" if all(thing.pixels for thing in things if thing.held) else text


def _task(
    name: str, scene: AlfredScene, rng: random.Random, colors: bool, *, plain: bool = False
) -> Task:
    return Task(
        id=name,
        env="alfred",
        kind=scene.goal.type,
        goal=scene_in_words(scene, rng, colors=colors, plain=plain),
        scene=_plain(scene),
        max_steps=MAX_STEPS,
        reference_cost=reference_cost(scene),
    )


def _plain(scene: AlfredScene) -> dict[str, JsonValue]:
    return scene.model_dump(mode="json", exclude_defaults=True)


def _lexicon() -> Lexicon:
    products = {word(f"{type}{SLICED}"): word(type) for type in IN_SLICES}
    kinds = frozenset(map(word, OBJECT_TYPES))
    called = {**nouns.called()}
    for name, may_be in household_names.called(kinds).items():
        called[name] = called.get(name, frozenset()) | may_be
    return Lexicon(
        kinds=kinds,
        states={state.name: state.words for state in STATES},
        synonyms={said: word(type) for said, type in SYNONYMS.items()},
        products={**products, word("EggCracked"): word("Egg")},
        containers=frozenset(map(word, IN)),
        lookalikes=_LOOKALIKES,
        called=called,
    )


def _all_events(scene: AlfredScene) -> Iterator[Event]:
    """The events of all goals; those of later goals have a number."""
    earlier: tuple[str, ...] = ()
    for nth, goal in enumerate(scene.goals, start=1):
        found = list(_events(goal))
        mark = f" {nth}" if nth > 1 else ""
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
    if (how := goal.kind.treatment) is not None:
        done = f"The {thing} has been {how.said}."
        kind, by = BY_NAME[how.verb].kind, word(how.by)
        yield Event(how.says, f"{how.says} the {thing}", done, kind, by, before)
        before = (how.says,)
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
    if goal.kind.count == 1:
        yield Event("place", f"put the {thing} {_in(place)}", "", ActionKind.PUT, place, before)
        return
    first = f"One {thing} is {_in(place)} already."
    yield Event("place one", f"put one {thing} {_in(place)}", first, ActionKind.PUT, place, before)
    yield Event(
        "take another", f"pick up another {thing}", "", ActionKind.TAKE, thing, ("place one",)
    )
    last = "take another"
    if how is not None:
        also = f"{how.says} another"
        yield Event(also, f"{also} {thing}", "", BY_NAME[how.verb].kind, word(how.by), (last,))
        last = also
    yield Event(
        "place another", f"put another {thing} {_in(place)}", "", ActionKind.PUT, place, (last,)
    )


def _in(place: str) -> str:
    return f"{preposition(place)} the {place}"
