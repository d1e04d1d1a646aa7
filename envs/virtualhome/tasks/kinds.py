"""The kinds of sampled tasks: what is drawn in a flat, what is wanted of it, and how it is said."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from inhabit.envs.virtualhome.graph.goals import ActionGoal, Goal, RelationGoal, StateGoal
from inhabit.envs.virtualhome.graph.world import FlatWorld, Node
from inhabit.envs.virtualhome.tasks.scene import CHARACTER


@dataclass(frozen=True, slots=True)
class DrawnGoal:
    """A sampled goal, as text and as conditions."""

    words: str
    goals: tuple[Goal, ...]


class Sampler:
    """Draws nodes of one flat, and names them."""

    def __init__(self, world: FlatWorld, rng: random.Random) -> None:
        self.world, self.rng = world, rng
        self.nodes = list(world.nodes())

    def of(self, classes: str) -> Sequence[Node]:
        """The nodes of these classes."""
        return [n for n in self.nodes if n.class_name in classes.split()]

    def some(self, classes: str, count: int) -> Sequence[Node]:
        """Random nodes of these classes: one, or up to `count`."""
        fit = self.of(classes)
        if count > 1:
            return self.rng.sample(fit, min(count, len(fit)))
        return [self.rng.choice(fit)] if fit else []

    def said(self, nodes: Sequence[Node]) -> str:
        """A list of names: "plate 1, the pan and mug 2"."""
        names = [self._name(n) for n in nodes]
        return " and ".join([", ".join(names[:-1]), names[-1]] if names[1:] else names)

    def _name(self, node: Node) -> str:
        """The name of a node in goals: with its number if there are several."""
        word = _WORDS.get(node.class_name, node.class_name)
        same = [n.id for n in self.nodes if n.class_name == node.class_name]
        return f"the {word}" if len(same) == 1 else f"{word} {same.index(node.id) + 1}"


Drawn = Mapping[str, Sequence[Node]]
"""Name of a parameter -> what was drawn for it."""
Wanted = Callable[[Drawn], Iterable[Goal]]
"""The goals that a form comes to."""


@dataclass(frozen=True, slots=True)
class VirtualHomeKind:
    """A kind of task."""

    name: str
    draws: Mapping[str, str]
    """Parameter -> the classes of which one is drawn; of "2 a b" two are, or as many as there
    are."""
    goal: tuple[Wanted, ...]
    says: tuple[str, ...]
    """Wordings over the parameters."""
    picks: Mapping[str, Callable[[Sampler, Drawn], Sequence[Node] | None]] = field(
        default_factory=dict
    )
    """Parameter -> what is chosen for it when the others are drawn; None if that is not there."""
    reworded: tuple[str, ...] = ()
    """Wordings for training data, with "{a}" for the object, and further terms of their own."""
    unnumbered: int = 0
    """Place of the kind among those whose goals name objects of which a flat has one; 0 if it is
    none of them."""

    def draw(self, sampler: Sampler) -> DrawnGoal | None:
        """A goal in a flat; None if the flat lacks something."""
        found = dict[str, Sequence[Node]]()
        for parameter, classes in self.draws.items():
            count, _, rest = classes.partition(" ")
            two = count.isdigit()
            found[parameter] = sampler.some(rest if two else classes, int(count) if two else 1)
        if not all(found.values()):
            return None
        for parameter, pick in self.picks.items():
            picked = pick(sampler, found)
            if picked is None:
                return None
            found[parameter] = picked
        goals = tuple(goal for wanted in self.goal for goal in wanted(found))
        names = {parameter: sampler.said(nodes) for parameter, nodes in found.items() if nodes}
        return DrawnGoal(sampler.rng.choice(self.says).format(**names), goals)


def _related(things: str, relation: str, place: str) -> Wanted:
    return lambda drawn: (
        RelationGoal(from_id=thing.id, relation=relation, to_id=drawn[place][0].id)
        for thing in drawn[things]
    )


def on(things: str, place: str) -> Wanted:
    """`things` lie on `place`."""
    return _related(things, "ON", place)


def inside(things: str, place: str) -> Wanted:
    """`things` are in `place`."""
    return _related(things, "INSIDE", place)


def are(things: str, state: str) -> Wanted:
    """`things` have a state."""
    return lambda drawn: (StateGoal(id=thing.id, state=state) for thing in drawn[things])


def upon(seat: str, posture: str) -> Wanted:
    """The character sits or lies on it. VirtualHome's graph keeps ON after getting up."""
    return lambda drawn: (
        RelationGoal(from_id=CHARACTER, relation="ON", to_id=drawn[seat][0].id),
        StateGoal(id=CHARACTER, state=posture),
    )


def held(thing: str) -> Wanted:
    """The character holds it in the right hand."""
    return lambda drawn: [
        RelationGoal(from_id=CHARACTER, relation="HOLDS_RH", to_id=drawn[thing][0].id)
    ]


def done(verb: str, thing: str | None = None) -> Wanted:
    """An action was executed, with that object if one is named."""
    return lambda drawn: [
        ActionGoal(any_of=(verb,), id=None if thing is None else drawn[thing][0].id)
    ]


def _on_the_table(sampler: Sampler, drawn: Drawn) -> Sequence[Node] | None:
    table = drawn["table"][0].id
    dishes = sampler.of("plate waterglass")
    return [n for n in dishes if table in sampler.world.targets(n.id, "ON")][:2] or None


def _lit(sampler: Sampler, drawn: Drawn) -> Sequence[Node] | None:
    lamps = [n for n in sampler.of("ceilinglamp") if "ON" in n.states]
    return lamps if len(lamps) >= 3 else None


def _above_the_bed(sampler: Sampler, drawn: Drawn) -> Sequence[Node]:
    room = sampler.world.room(drawn["bed"][0].id)
    lamps = [n for n in sampler.of("ceilinglamp") if "ON" in n.states]
    return [n for n in lamps if sampler.world.room(n.id) == room]


def _dirty(sampler: Sampler, drawn: Drawn) -> Sequence[Node] | None:
    dishes = [n for n in sampler.of("plate mug dishbowl waterglass") if "DIRTY" in n.states]
    return [sampler.rng.choice(dishes)] if dishes else None


def _astray(sampler: Sampler, drawn: Drawn) -> Sequence[Node] | None:
    shelves = {n.id for n in sampler.of("bookshelf")}
    books = sampler.of("book magazine")
    astray = [n for n in books if shelves.isdisjoint(sampler.world.targets(n.id, "ON"))]
    return sampler.rng.sample(astray, 2) if len(astray) >= 2 else None


_KINDS = (
    VirtualHomeKind(
        "put_on",
        {
            "thing": "book mug apple cellphone remotecontrol magazine vase toy",
            "place": "coffeetable kitchentable desk nightstand dresser kitchencounter",
        },
        goal=(on("thing", "place"),),
        says=(
            "Put {thing} on {place}.",
            "Bring {thing} to {place}.",
            "I want {thing} on {place}.",
        ),
    ),
    VirtualHomeKind(
        "put_away",
        {"food": "apple tomato pie salad milk juice bananas cupcake", "fridge": "fridge"},
        goal=(inside("food", "fridge"), are("fridge", "CLOSED")),
        says=(
            "Put {food} in the fridge and close it.",
            "Keep {food} cold: in the closed fridge.",
        ),
        unnumbered=1,
    ),
    VirtualHomeKind(
        "set_table",
        {
            "table": "kitchentable coffeetable",
            "plate": "plate",
            "fork": "cutleryfork",
            "glass": "waterglass",
        },
        goal=(on("plate", "table"), on("fork", "table"), on("glass", "table")),
        says=(
            "Set {table} for one, with {plate}, {fork} and {glass}.",
            "Put {plate}, {fork} and {glass} on {table}.",
        ),
    ),
    VirtualHomeKind(
        "clear_table",
        {"table": "kitchentable", "sink": "sink"},
        picks={"dishes": _on_the_table},
        goal=(inside("dishes", "sink"),),
        says=("Clear {dishes} from {table} into {sink}.", "Put {dishes} in {sink}."),
    ),
    VirtualHomeKind(
        "do_laundry",
        {"machine": "washingmachine", "clothes": "2 clothesshirt clothespants"},
        goal=(inside("clothes", "machine"), are("machine", "CLOSED"), are("machine", "ON")),
        says=(
            "Put {clothes} in the washing machine, close it and start it.",
            "Let the closed washing machine wash {clothes}.",
        ),
    ),
    VirtualHomeKind(
        "lights_out",
        {},
        picks={"lamps": _lit},
        goal=(are("lamps", "OFF"),),
        says=("Switch off the lamp on the ceiling of every room.", "Turn out all ceiling lamps."),
        reworded=(
            "switch off the lamp on the ceiling of every room",
            "turn out all ceiling lamps",
            "turn off every ceiling lamp that is on",
            "go through all rooms and switch the ceiling lamps off",
            "make it dark: no ceiling lamp may stay on",
            "turn the ceiling lamps off in each room",
        ),
    ),
    VirtualHomeKind(
        "watch_tv",
        {"tv": "tv", "sofa": "sofa"},
        goal=(are("tv", "ON"), upon("sofa", "SITTING"), done("WATCH", "tv")),
        says=("Watch TV sitting on the sofa.", "Turn on the TV, sit on the sofa, and watch."),
        reworded=(
            "watch tv sitting on the {sofa}",
            "turn on the tv, sit on the {sofa}, and watch",
            "sit down on the {sofa} and watch something on the tv",
            "switch the tv on and watch it from the {sofa}",
            "have a seat on the {sofa} and watch tv",
        ),
        unnumbered=3,
    ),
    VirtualHomeKind(
        "heat_food",
        {"oven": "microwave", "food": "pie potato salad bread cupcake"},
        goal=(inside("food", "oven"), are("oven", "CLOSED"), are("oven", "ON")),
        says=(
            "Heat {food} in the microwave, with its door closed.",
            "Warm up {food}: the microwave must be closed and on.",
        ),
        reworded=(
            "heat the {a} in the microwave, with its door closed",
            "warm up the {a} in the closed microwave",
            "put the {a} in the microwave, {close} it and turn it on",
            "{get} the {a} and microwave it: the door has to be closed",
            "place the {a} inside the microwave. Then {close} it and switch it on",
            "microwave the {a}, and leave the microwave closed and running",
        ),
        unnumbered=4,
    ),
    VirtualHomeKind(
        "wash_up",
        {"cabinet": "kitchencabinet"},
        picks={"dish": _dirty},
        goal=(are("dish", "CLEAN"), inside("dish", "cabinet")),
        says=(
            "Wash {dish} and put it in {cabinet}.",
            "Store {dish} in {cabinet}, but wash it first.",
        ),
    ),
    VirtualHomeKind(
        "tidy_books",
        {"shelf": "bookshelf"},
        picks={"books": _astray},
        goal=(on("books", "shelf"),),
        says=("Put {books} on {shelf}.", "Tidy up: {books} belong on {shelf}."),
    ),
    VirtualHomeKind(
        "read_in_bed",
        {"bed": "bed", "book": "book magazine"},
        goal=(held("book"), upon("bed", "LYING"), done("READ", "book")),
        says=(
            "Read {book} lying on {bed}, with it in your right hand.",
            "Lie down on {bed} with {book} in your right hand, and read.",
        ),
    ),
    VirtualHomeKind(
        "go_to_sleep",
        {"bed": "bed"},
        picks={"lamps": _above_the_bed},
        goal=(are("lamps", "OFF"), upon("bed", "LYING"), done("SLEEP")),
        says=(
            "Turn off the lamp above {bed}, lie down on {bed} and sleep.",
            "Lie on {bed} and sleep, with the lamp above it off.",
        ),
        unnumbered=2,
    ),
    VirtualHomeKind(
        "have_a_drink",
        {"fridge": "fridge", "drink": "milk juice"},
        goal=(done("DRINK", "drink"), inside("drink", "fridge"), are("fridge", "CLOSED")),
        says=(
            "Drink some of {drink}, put it back in the fridge and close the door.",
            "Have some of {drink} from the fridge, and leave everything as it was.",
        ),
        reworded=(
            "drink some of the {a}, put it back in the fridge and {close} the door",
            "have some of the {a} from the fridge, and leave everything as it was",
            "{get} the {a}, drink from it and return it to the fridge, which should be closed in "
            "the end",
            "drink a little of the {a}. Then put it back into the fridge and {close} it",
            "open the fridge, drink some of the {a}, and put it away again behind a closed door",
        ),
        unnumbered=5,
    ),
    VirtualHomeKind(
        "work",
        {"computer": "computer", "desk": "desk", "mug": "mug"},
        goal=(on("mug", "desk"), are("computer", "ON"), done("TYPE", "computer")),
        says=(
            "Turn on {computer} and type, with {mug} on {desk}.",
            "Put {mug} on {desk}, turn on {computer} and type something.",
        ),
    ),
)

KINDS: Mapping[str, VirtualHomeKind] = {kind.name: kind for kind in _KINDS}
"""Every kind, in the order in which tasks are sampled."""
UNNUMBERED = tuple(
    kind.name for kind in sorted(_KINDS, key=lambda kind: kind.unnumbered) if kind.unnumbered
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
