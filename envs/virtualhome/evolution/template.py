"""The VirtualHome task template for EIE: vocabulary, sampling, evolution and event graphs."""

from __future__ import annotations

import random
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence, Set
from typing import Any

from pydantic import JsonValue, ValidationError

from inhabit.envs.core import Action, SceneError, SceneObject, Task
from inhabit.envs.template import ActionKind, Crossing, Event, Lexicon
from inhabit.envs.virtualhome.evolution.goals import both, crossed, part, worded
from inhabit.envs.virtualhome.graph.goals import ActionGoal, Goal, RelationGoal, StateGoal
from inhabit.envs.virtualhome.graph.names import NodeNames
from inhabit.envs.virtualhome.graph.verbs import VERBS
from inhabit.envs.virtualhome.graph.world import FlatWorld, Node
from inhabit.envs.virtualhome.tasks.kinds import KINDS, UNNUMBERED, DrawnGoal
from inhabit.envs.virtualhome.tasks.sampling import draw_flat, draw_task, vary
from inhabit.envs.virtualhome.tasks.scene import CHARACTER, VirtualHomeScene, build_world
from inhabit.envs.virtualhome.world.catalogue import catalogue, in_words, spoken
from inhabit.envs.virtualhome.world.settings import VirtualHomeSettings
from inhabit.envs.world.household_names import called
from inhabit.envs.world.rows import kind_of
from inhabit.envs.world.words import without_number

_SURFACES = """bathroomcounter bed bench bookshelf coffeetable desk dresser kitchencounter
    kitchentable nightstand sofa tvstand"""
_TAKES = {
    "fridge": "Food Drinks",
    "microwave": "Food",
    "dishwasher": "plate mug waterglass wineglass dishbowl cutleryfork cutleryknife fryingpan "
    "cookingpot",
    "washingmachine": "towel clothesshirt clothespants",
    "closet": "Clothes towel clothesshirt clothespants",
}
"""Container -> the classes and categories that are kept in it."""


def draw_wish(world: FlatWorld, rng: random.Random) -> DrawnGoal | None:
    """Sample an object to move and its target; None if the flat has no suitable one."""
    unique = _unique(world)
    things = [n for n in unique if "GRABBABLE" in n.properties]
    places = [n for n in unique if n.class_name in {*_SURFACES.split(), *_TAKES}]
    pairs = [(thing, place) for thing in things for place in places if _fits(thing, place)]
    if not pairs:
        return None
    thing, place = rng.choice(pairs)
    inside = place.class_name in _TAKES
    relation = "INSIDE" if inside else "ON"
    if place.id in world.targets(thing.id, relation):
        return None
    goals: list[Goal] = [RelationGoal(from_id=thing.id, relation=relation, to_id=place.id)]
    if inside:
        goals.append(StateGoal(id=place.id, state="CLOSED"))
    said = worded("put", goals, world, rng)
    assert said is not None
    return DrawnGoal(said, tuple(goals))


def _fits(thing: Node, place: Node) -> bool:
    """Whether the object is plausible there; any object is on a surface."""
    takes = _TAKES.get(place.class_name)
    return takes is None or bool({thing.class_name, thing.category} & set(takes.split()))


def _unique(world: FlatWorld) -> Sequence[Node]:
    """Classes with exactly one object."""
    nodes = list(world.nodes())
    count = Counter(node.class_name for node in nodes)
    return [node for node in nodes if count[node.class_name] == 1]


_BY_STATE: Mapping[str, tuple[ActionKind, str, str]] = {
    "OPEN": (ActionKind.OPEN, "open the {}", "The {} is open."),
    "CLOSED": (ActionKind.CLOSE, "close the {}", "The {} is closed."),
    "ON": (ActionKind.SWITCH_ON, "turn on the {}", "The {} is on."),
    "OFF": (ActionKind.SWITCH_OFF, "turn off the {}", "The {} is off."),
    "CLEAN": (ActionKind.OTHER, "wash the {}", "The {} is clean."),
}
_POSTURES = {"SITTING": "sit down on the {}", "LYING": "lie down on the {}"}
_LOOKALIKES = (
    frozenset(
        ("kitchen cabinet", "bathroom cabinet", "kitchen counter", "bathroom counter", "closet")
    ),
    frozenset(("dresser", "tv stand", "nightstand", "bookshelf", "closet")),
    frozenset(("kitchen table", "coffee table", "desk", "nightstand")),
    frozenset(("armchair", "sofa", "chair")),
    frozenset(("dishwashing liquid", "hair product")),
)
"""What a person may take for one another."""
_OTHER_WORDS = {
    "cutlery fork": "fork",
    "clothes shirt": "shirt",
    "clothes pants": "pants",
    "couch": "sofa",
    "refrigerator": "fridge",
    "television": "tv",
    "lamp": "ceiling lamp",
    "ceiling light": "ceiling lamp",
    "washer": "washing machine",
}
_CHANGES = ("another flat", "another room", "another object", "another hour", "combined goals")
_TRIES = 10
_PAIR = 2
"""Goals that are crossed: two objects exchange their places."""
_FLATS = 7
"""Number of floor plans."""
_KNOWN_KINDS = 0.5
"""Share of sampled tasks that are of the environment's own kinds."""


class VirtualHomeTemplate:
    """Samples and evolves tasks in our flats."""

    changes: Sequence[str] = _CHANGES
    rooms: Sequence[str] = tuple(f"flat {number}" for number in range(_FLATS))
    harder: Set[str] = frozenset({"combined goals"})

    def __init__(self, settings: VirtualHomeSettings | None = None) -> None:
        """Read the catalogue of what flats hold. No setting matters to it."""
        self.lexicon = _lexicon()

    def schema(self) -> Mapping[str, JsonValue]:
        """JSON schema of `VirtualHomeScene`, without the fields of recorded programs."""
        schema: dict[str, Any] = VirtualHomeScene.model_json_schema()
        for name in ("eai", "program"):
            del schema["properties"][name]
        return schema

    def prose(self) -> str:
        """The possible scenes and goals, for a writer."""
        return (
            "A furnished flat: `flat` 0 to 6 is a floor plan, `seed` decides what stands where. "
            "`room` is where the character starts: kitchen, livingroom, bedroom or bathroom. "
            "Goals name objects by the ids of the flat's graph: a state of one (OPEN, CLOSED, ON, "
            "OFF, CLEAN), or two in a relation (ON, INSIDE). Objects are named as mug_2: class and "
            f"number. Classes: {', '.join(sorted(catalogue()))}."
        )

    def seed(self, rng: random.Random, name: str) -> Task:
        """Sample a new task about unique objects; half of them are of the environment's own
        kinds.
        """
        task = None
        while task is None or _numbered(task.goal):
            if rng.random() < _KNOWN_KINDS:
                task = _reworded(draw_task(name, rng.choice(UNNUMBERED), rng), rng)
            else:
                scene, world = draw_flat(rng)
                wish = draw_wish(world, rng)
                task = vary(name, "put", scene, wish) if wish is not None else None
        return task

    def evolve(self, task: Task, change: str, rng: random.Random, name: str) -> Task | None:
        """Change one aspect of a task; None if the expert cannot solve the result."""
        scene = VirtualHomeScene.model_validate(dict(task.scene))
        for _ in range(_TRIES):
            evolved = _changed(task, scene, change, rng, name)
            if evolved is not None and not _numbered(evolved.goal):
                return evolved
        return None

    def crossings(
        self,
        task: Task,
        rows: int,
        things: Sequence[SceneObject],
        rng: random.Random,
        common: bool = False,
    ) -> Iterator[Crossing]:
        """Goals that put the same two objects in different containers."""
        scene = VirtualHomeScene.model_validate(dict(task.scene))
        world = build_world(scene)
        for goals in crossed(world, rng) if rows == _PAIR else ():
            more = _more(goals, world, rng) if common else None
            named = [
                task.model_copy(
                    update={
                        "id": f"{task.id}-{letter}",
                        "kind": "combined",
                        "goal": _all(wants, more, world, rng),
                        "scene": _wanting(scene, (*wants, *(more.goals if more else ()))),
                    }
                )
                for letter, wants in zip("ab", goals, strict=True)
            ]
            parts = [
                task.model_copy(update={"scene": _wanting(scene, part(goal))})
                for wants in goals
                for goal in wants
            ]
            yield Crossing(tuple(named), tuple(parts))

    def undisturbed(self, task: Task) -> Task:
        """The task itself: only the agent changes a flat."""
        return task

    def kind(self, scene: Mapping[str, JsonValue]) -> str:
        """Unknown: a scene does not say."""
        return ""

    def events(self, task: Task) -> Sequence[Event]:
        """The events of the goals: take and put each object, then change states."""
        try:
            scene = VirtualHomeScene.model_validate(dict(task.scene))
            return list(_events(scene, build_world(scene)))
        except (ValidationError, SceneError):
            return []

    def room(self, task: Task) -> str:
        """The floor plan."""
        return f"flat {task.scene.get('flat')}"

    def action_kind(self, action: Action) -> ActionKind:
        """The kind of an action, by its verb."""
        return kind_of(VERBS, action)

    def unseen(self, text: str, things: Sequence[SceneObject]) -> str:
        """The text without what is held, if all of that is visible."""
        if any(thing.held and not thing.pixels for thing in things):
            return text
        return re.sub(r"You hold [^.]*\.\s*", "", text)

    def in_words(self, text: str) -> str:
        """The text with names such as "kitchen table"."""
        return in_words(text)


def _lexicon() -> Lexicon:
    classes = sorted(catalogue())
    words = {spoken(name) for name in classes}
    return Lexicon(
        kinds=frozenset(words),
        lookalikes=_LOOKALIKES,
        states={
            "open": ("open", "closed"),
            "on": ("on", "off"),
            "plugged_in": ("plugged in", "unplugged"),
            "dirty": ("dirty", "clean"),
        },
        synonyms={
            **{name: spoken(name) for name in classes if name not in words},
            **{said: kind for said, kind in _OTHER_WORDS.items() if kind in words},
        },
        called=called(words),
    )


def _more(
    crossed_goals: Sequence[Sequence[RelationGoal]], world: FlatWorld, rng: random.Random
) -> DrawnGoal | None:
    """A wish for other things; None if none was found."""
    taken = {id_ for wants in crossed_goals for goal in wants for id_ in (goal.from_id, goal.to_id)}
    for _ in range(_TRIES):
        wish = draw_wish(world, rng)
        if wish is not None and taken.isdisjoint(
            id_ for g in wish.goals if isinstance(g, RelationGoal) for id_ in (g.from_id, g.to_id)
        ):
            return wish
    return None


def _all(
    wants: Sequence[Goal], more: DrawnGoal | None, world: FlatWorld, rng: random.Random
) -> str:
    first, second = (str(worded("put", [want], world, rng)) for want in wants)
    if more is None:
        return both(first, second, rng)
    return both(f"{first} {second}", more.words, rng)


def _wanting(scene: VirtualHomeScene, goals: Sequence[Goal]) -> dict[str, JsonValue]:
    """The same flat and start with these goals."""
    changed = {"goals": tuple(goals), "program": (), "eai": None}
    return scene.model_copy(update=changed).model_dump(mode="json")


def _numbered(goal: str) -> bool:
    return any(letter.isdigit() for letter in goal)


def _changed(
    task: Task, scene: VirtualHomeScene, change: str, rng: random.Random, name: str
) -> Task | None:
    wish = DrawnGoal(task.goal, scene.goals)
    rooms = [r for r in ("kitchen", "livingroom", "bedroom", "bathroom") if r != scene.room]
    match change:
        case "another flat":
            known = task.kind in KINDS
            return _reworded(draw_task(name, task.kind, rng), rng) if known else None
        case "another room":
            there = {"room": rng.choice(rooms)}
            return vary(name, task.kind, scene.model_copy(update=there), wish)
        case "another hour":
            hour = {"time": float(rng.choice((7, 9, 17, 19, 21)))}
            return vary(name, task.kind, scene.model_copy(update=hour), wish)
    other = draw_wish(build_world(scene), rng)
    if other is None or other.words == task.goal:
        return None
    if change == "another object":
        return vary(name, "put", scene, other)
    if task.kind == "combined":
        return None  # Two goals are enough.
    two = DrawnGoal(both(task.goal, other.words, rng), (*scene.goals, *other.goals))
    return vary(name, "combined", scene, two)


def _reworded(task: Task, rng: random.Random) -> Task:
    """The same task in other words."""
    if _numbered(task.goal):
        return task
    scene = VirtualHomeScene.model_validate(dict(task.scene))
    said = worded(task.kind, scene.goals, build_world(scene), rng)
    return task if said is None else task.model_copy(update={"goal": said})


def _events(scene: VirtualHomeScene, world: FlatWorld) -> Iterator[Event]:
    names = NodeNames(world)

    def event(
        name: str, wish: str, done: str, kind: ActionKind, *ids: int, needs: Sequence[str] = ()
    ) -> Event:
        """An event of the nodes `ids`, whose names are filled in."""
        objects = tuple(map(names.of, ids))
        kinds = [*map(without_number, objects)]
        words = [*map(spoken, kinds)]
        said, after = wish.format(*words), done.format(*words)
        return Event(name, said, after, kind, kinds[-1], tuple(needs), objects)

    placed: dict[int, list[str]] = defaultdict(list)
    for goal in scene.goals:
        if not isinstance(goal, RelationGoal):
            continue
        thing, place = goal.from_id, goal.to_id
        if thing == CHARACTER and goal.relation in ("HOLDS_RH", "HOLDS_LH"):
            yield event(f"hold {place}", "pick up the {}", "", ActionKind.TAKE, place)
        if thing == CHARACTER or goal.relation not in ("ON", "INSIDE"):
            continue
        where = "in" if goal.relation == "INSIDE" else "on"
        put, is_there = f"put the {{}} {where} the {{}}", f"The {{}} is {where} the {{}}."
        takes, puts = f"take {thing}", f"put {thing}"
        yield event(takes, "pick up the {}", "", ActionKind.TAKE, thing)
        yield event(puts, put, is_there, ActionKind.PUT, thing, place, needs=(takes,))
        placed[place].append(puts)
    for goal in scene.goals:
        if isinstance(goal, StateGoal) and goal.state in _BY_STATE and goal.id != CHARACTER:
            kind, wish, done = _BY_STATE[goal.state]
            needs = placed[goal.id] if goal.state in ("CLOSED", "ON") else ()
            yield event(f"{goal.state} {goal.id}", wish, done, kind, goal.id, needs=needs)
    for goal in scene.goals:
        if isinstance(goal, ActionGoal) and goal.id is not None:
            verb = goal.any_of[0].lower()
            yield event(f"{verb} {goal.id}", f"{verb} the {{}}", "", ActionKind.OTHER, goal.id)
    own = [g for g in scene.goals if isinstance(g, RelationGoal) and g.from_id == CHARACTER]
    for state, wish in _POSTURES.items():
        for goal in own if StateGoal(id=CHARACTER, state=state) in scene.goals else ():
            if goal.relation == "ON":
                yield event(f"{state} {goal.to_id}", wish, "", ActionKind.OTHER, goal.to_id)
