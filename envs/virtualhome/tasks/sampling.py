"""Samples household tasks of a dozen kinds in our flats, each of 4 to 20 actions.

A task is kept only if the expert solves it in that many actions (the length that EgoPlan-Bench
keeps, section 3 of its paper), and if it is not solved at its start.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from inhabit.envs.core import Task
from inhabit.envs.virtualhome.expert.planner import NoPlanError, solve
from inhabit.envs.virtualhome.flats.plans import plans
from inhabit.envs.virtualhome.graph.goals import ActionGoal, Goal, RelationGoal, StateGoal, met
from inhabit.envs.virtualhome.graph.world import FlatWorld, Node
from inhabit.envs.virtualhome.tasks.scene import CHARACTER, VirtualHomeScene, build_world
from inhabit.envs.virtualhome.world.settings import VirtualHomeSettings

SHORTEST, LONGEST = 4, 20
ROOMS = ("kitchen", "livingroom", "bedroom", "bathroom")
"""Where the character starts."""
_SEEDS = 1000
"""Furnishings per floor plan to sample from."""


@dataclass(frozen=True, slots=True)
class DrawnGoal:
    """A sampled goal, as text and as conditions."""

    words: str
    goals: tuple[Goal, ...]


class _GoalSampler:
    """Samples goals in one flat."""

    def __init__(self, world: FlatWorld, rng: random.Random) -> None:
        self.world, self.rng = world, rng
        self.nodes = list(world.nodes())

    def some(self, *classes: str) -> Node | None:
        """A random node of these classes."""
        fit = [n for n in self.nodes if n.class_name in classes]
        return self.rng.choice(fit) if fit else None

    def several(self, count: int, *classes: str) -> Sequence[Node]:
        """Up to `count` random nodes."""
        fit = [n for n in self.nodes if n.class_name in classes]
        return self.rng.sample(fit, min(count, len(fit)))

    def name(self, node: Node) -> str:
        """The name of a node in goals: with its number if there are several."""
        word = _WORDS.get(node.class_name, node.class_name)
        same = [n.id for n in self.nodes if n.class_name == node.class_name]
        return f"the {word}" if len(same) == 1 else f"{word} {same.index(node.id) + 1}"

    def list(self, nodes: Sequence[Node]) -> str:
        """A list of names: "plate 1, the pan and mug 2"."""
        names = [self.name(n) for n in nodes]
        return " and ".join([", ".join(names[:-1]), names[-1]] if names[1:] else names)

    def pick(self, *wordings: str) -> str:
        """A random wording."""
        return self.rng.choice(wordings)


_Kind = Callable[[_GoalSampler], DrawnGoal | None]


def _put_on(d: _GoalSampler) -> DrawnGoal | None:
    thing = d.some("book", "mug", "apple", "cellphone", "remotecontrol", "magazine", "vase", "toy")
    place = d.some("coffeetable", "kitchentable", "desk", "nightstand", "dresser", "kitchencounter")
    if thing is None or place is None:
        return None
    a, b = d.name(thing), d.name(place)
    words = d.pick(f"Put {a} on {b}.", f"Bring {a} to {b}.", f"I want {a} on {b}.")
    return DrawnGoal(words, (_on(thing, place),))


def _put_away(d: _GoalSampler) -> DrawnGoal | None:
    thing = d.some("apple", "tomato", "pie", "salad", "milk", "juice", "bananas", "cupcake")
    fridge = d.some("fridge")
    if thing is None or fridge is None:
        return None
    a = d.name(thing)
    words = d.pick(f"Put {a} in the fridge and close it.", f"Keep {a} cold: in the closed fridge.")
    return DrawnGoal(words, (_inside(thing, fridge), _state(fridge, "CLOSED")))


def _set_table(d: _GoalSampler) -> DrawnGoal | None:
    table = d.some("kitchentable", "coffeetable")
    things = [d.some(c) for c in ("plate", "cutleryfork", "waterglass")]
    found = [t for t in things if t is not None]
    if table is None or len(found) < len(things):
        return None
    a, b = d.list(found), d.name(table)
    words = d.pick(f"Set {b} for one, with {a}.", f"Put {a} on {b}.")
    return DrawnGoal(words, tuple(_on(t, table) for t in found))


def _clear_table(d: _GoalSampler) -> DrawnGoal | None:
    table, sink = d.some("kitchentable"), d.some("sink")
    if table is None or sink is None:
        return None
    dishes = [
        n
        for n in d.nodes
        if n.class_name in ("plate", "waterglass") and table.id in d.world.targets(n.id, "ON")
    ][:2]
    if not dishes:
        return None
    a, b, c = d.list(dishes), d.name(table), d.name(sink)
    words = d.pick(f"Clear {a} from {b} into {c}.", f"Put {a} in {c}.")
    return DrawnGoal(words, tuple(_inside(n, sink) for n in dishes))


def _do_laundry(d: _GoalSampler) -> DrawnGoal | None:
    machine = d.some("washingmachine")
    clothes = d.several(2, "clothesshirt", "clothespants")
    if machine is None or not clothes:
        return None
    a = d.list(clothes)
    words = d.pick(
        f"Put {a} in the washing machine, close it and start it.",
        f"Let the closed washing machine wash {a}.",
    )
    inside = (_inside(c, machine) for c in clothes)
    return DrawnGoal(words, (*inside, _state(machine, "CLOSED"), _state(machine, "ON")))


def _lights_out(d: _GoalSampler) -> DrawnGoal | None:
    lamps = [n for n in d.nodes if n.class_name == "ceilinglamp" and "ON" in n.states]
    if len(lamps) < 3:
        return None
    words = d.pick(
        "Switch off the lamp on the ceiling of every room.", "Turn out all ceiling lamps."
    )
    return DrawnGoal(words, tuple(_state(lamp, "OFF") for lamp in lamps))


def _watch_tv(d: _GoalSampler) -> DrawnGoal | None:
    tv, sofa = d.some("tv"), d.some("sofa")
    if tv is None or sofa is None:
        return None
    watched = ActionGoal(any_of=("WATCH",), id=tv.id)
    goals = (_state(tv, "ON"), *_upon(sofa, "SITTING"), watched)
    words = d.pick("Watch TV sitting on the sofa.", "Turn on the TV, sit on the sofa, and watch.")
    return DrawnGoal(words, goals)


def _heat_food(d: _GoalSampler) -> DrawnGoal | None:
    oven = d.some("microwave")
    food = d.some("pie", "potato", "salad", "bread", "cupcake")
    if oven is None or food is None:
        return None
    a = d.name(food)
    words = d.pick(
        f"Heat {a} in the microwave, with its door closed.",
        f"Warm up {a}: the microwave must be closed and on.",
    )
    return DrawnGoal(words, (_inside(food, oven), _state(oven, "CLOSED"), _state(oven, "ON")))


def _wash_up(d: _GoalSampler) -> DrawnGoal | None:
    dirty = [
        n
        for n in d.nodes
        if "DIRTY" in n.states and n.class_name in ("plate", "mug", "dishbowl", "waterglass")
    ]
    cabinet = d.some("kitchencabinet")
    if not dirty or cabinet is None:
        return None
    dish = d.rng.choice(dirty)
    a, b = d.name(dish), d.name(cabinet)
    words = d.pick(f"Wash {a} and put it in {b}.", f"Store {a} in {b}, but wash it first.")
    return DrawnGoal(words, (_state(dish, "CLEAN"), _inside(dish, cabinet)))


def _tidy_books(d: _GoalSampler) -> DrawnGoal | None:
    shelf = d.some("bookshelf")
    if shelf is None:
        return None
    shelves = {n.id for n in d.nodes if n.class_name == "bookshelf"}
    astray = [
        n
        for n in d.nodes
        if n.class_name in ("book", "magazine") and shelves.isdisjoint(d.world.targets(n.id, "ON"))
    ]
    if len(astray) < 2:
        return None
    books = d.rng.sample(astray, 2)
    a, b = d.list(books), d.name(shelf)
    words = d.pick(f"Put {a} on {b}.", f"Tidy up: {a} belong on {b}.")
    return DrawnGoal(words, tuple(_on(book, shelf) for book in books))


def _read_in_bed(d: _GoalSampler) -> DrawnGoal | None:
    bed, book = d.some("bed"), d.some("book", "magazine")
    if bed is None or book is None:
        return None
    held = RelationGoal(from_id=CHARACTER, relation="HOLDS_RH", to_id=book.id)
    a, b = d.name(book), d.name(bed)
    words = d.pick(
        f"Read {a} lying on {b}, with it in your right hand.",
        f"Lie down on {b} with {a} in your right hand, and read.",
    )
    return DrawnGoal(words, (held, *_upon(bed, "LYING"), ActionGoal(any_of=("READ",), id=book.id)))


def _go_to_sleep(d: _GoalSampler) -> DrawnGoal | None:
    bed = d.some("bed")
    if bed is None:
        return None
    room = d.world.room(bed.id)
    lamps = [
        _state(n, "OFF")
        for n in d.nodes
        if n.class_name == "ceilinglamp" and "ON" in n.states and d.world.room(n.id) == room
    ]
    b = d.name(bed)
    words = d.pick(
        f"Turn off the lamp above {b}, lie down on {b} and sleep.",
        f"Lie on {b} and sleep, with the lamp above it off.",
    )
    return DrawnGoal(words, (*lamps, *_upon(bed, "LYING"), ActionGoal(any_of=("SLEEP",))))


def _have_a_drink(d: _GoalSampler) -> DrawnGoal | None:
    fridge, drink = d.some("fridge"), d.some("milk", "juice")
    if fridge is None or drink is None:
        return None
    a = d.name(drink)
    drunk = ActionGoal(any_of=("DRINK",), id=drink.id)
    goals = (drunk, _inside(drink, fridge), _state(fridge, "CLOSED"))
    words = d.pick(
        f"Drink some of {a}, put it back in the fridge and close the door.",
        f"Have some of {a} from the fridge, and leave everything as it was.",
    )
    return DrawnGoal(words, goals)


def _work(d: _GoalSampler) -> DrawnGoal | None:
    computer, desk, mug = d.some("computer"), d.some("desk"), d.some("mug")
    if computer is None or desk is None or mug is None:
        return None
    goals = (_on(mug, desk), _state(computer, "ON"), ActionGoal(any_of=("TYPE",), id=computer.id))
    a, b, c = d.name(computer), d.name(mug), d.name(desk)
    words = d.pick(
        f"Turn on {a} and type, with {b} on {c}.",
        f"Put {b} on {c}, turn on {a} and type something.",
    )
    return DrawnGoal(words, goals)


KINDS: Mapping[str, _Kind] = {
    "put_on": _put_on,
    "put_away": _put_away,
    "set_table": _set_table,
    "clear_table": _clear_table,
    "do_laundry": _do_laundry,
    "lights_out": _lights_out,
    "watch_tv": _watch_tv,
    "heat_food": _heat_food,
    "wash_up": _wash_up,
    "tidy_books": _tidy_books,
    "read_in_bed": _read_in_bed,
    "go_to_sleep": _go_to_sleep,
    "have_a_drink": _have_a_drink,
    "work": _work,
}
"""Kind of task -> its sampler, used in turn."""


def kinds(settings: VirtualHomeSettings) -> Sequence[str]:
    """The kinds of sampled tasks."""
    return tuple(KINDS)


def rooms(settings: VirtualHomeSettings) -> Mapping[str, Sequence[str]]:
    """The rooms that the character can start in."""
    return {room: (room,) for room in ROOMS}


def sample(n: int, seed: int, settings: VirtualHomeSettings | None = None) -> Iterator[Task]:
    """`n` tasks, the kinds in turn; the first k tasks do not depend on `n`."""
    kinds = list(KINDS)
    for i in range(n):
        rng = random.Random(f"virtualhome task {seed} {i}")
        yield draw_task(f"virtualhome-{seed}-{i}", kinds[i % len(kinds)], rng)


def draw_task(name: str, kind: str, rng: random.Random) -> Task:
    """Sample a task of that kind with id `name`."""
    while True:
        scene, world = draw_flat(rng)
        wish = KINDS[kind](_GoalSampler(world, rng))
        task = vary(name, kind, scene, wish) if wish is not None else None
        if task is not None:
            return task


def draw_flat(rng: random.Random) -> tuple[VirtualHomeScene, FlatWorld]:
    """A random flat without a goal."""
    flat, furnishing = rng.randrange(len(plans())), rng.randrange(_SEEDS)
    room = rng.choice(ROOMS)
    nothing = StateGoal(id=CHARACTER, state="SITTING")
    scene = VirtualHomeScene(flat=flat, seed=furnishing, room=room, goals=(nothing,))
    return scene, build_world(scene)


def vary(name: str, kind: str, scene: VirtualHomeScene, wish: DrawnGoal) -> Task | None:
    """The task of a goal in a scene; None if it holds already or its plan is too short or long."""
    scene = scene.model_copy(update={"goals": wish.goals})
    world = build_world(scene)
    if met(wish.goals, world, ()) == len(wish.goals):
        return None
    try:
        plan = solve(world, CHARACTER, wish.goals, ())
    except NoPlanError:
        return None
    if not SHORTEST <= len(plan) <= LONGEST:
        return None
    return Task(
        id=name,
        env="virtualhome",
        kind=kind,
        goal=wish.words,
        scene=scene.model_dump(mode="json"),
        max_steps=2 * LONGEST,
        reference_cost=len(plan),
    )


_WORDS: Mapping[str, str] = {
    "cellphone": "cell phone",
    "remotecontrol": "remote control",
    "coffeetable": "coffee table",
    "kitchentable": "kitchen table",
    "kitchencounter": "kitchen counter",
    "kitchencabinet": "kitchen cabinet",
    "waterglass": "water glass",
    "cutleryfork": "cutlery fork",
    "clothesshirt": "clothes shirt",
    "clothespants": "clothes pants",
}


def _on(thing: Node, place: Node) -> RelationGoal:
    return RelationGoal(from_id=thing.id, relation="ON", to_id=place.id)


def _inside(thing: Node, place: Node) -> RelationGoal:
    return RelationGoal(from_id=thing.id, relation="INSIDE", to_id=place.id)


def _state(node: Node, state: str) -> StateGoal:
    return StateGoal(id=node.id, state=state)


def _upon(seat: Node, posture: str) -> tuple[Goal, Goal]:
    """Both are required: VirtualHome's graph keeps ON after getting up."""
    there = RelationGoal(from_id=CHARACTER, relation="ON", to_id=seat.id)
    return there, StateGoal(id=CHARACTER, state=posture)
