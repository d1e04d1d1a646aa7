"""The kinds of tasks: what each asks for, how it is worded, and what it is sampled from.

A kind is a combination of the parameters of `AlfredKind`. Sampling, feasibility, the expert, the
reference cost, ALFRED's conditions and EIE's events follow from them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from inhabit.envs.alfred.world.things import LIT, LOADS, PLACES, Kind, that_suit
from inhabit.envs.world.goals import Condition, GoalFacts, at, each, holds, there, together, treated


@dataclass(frozen=True, slots=True)
class Treatment:
    """Something that is done to objects. ALFRED judges it by past actions."""

    name: str
    """Name of the treatment, as in `Thing.suits`, and the unit of people's verbs for it."""
    done: str
    """Participle in the state of an episode: "heated"."""
    says: str
    """The verb of the treatment's event."""
    said: str
    """The participle of `says`."""
    participles: Sequence[str]
    """What people call things that had the treatment, whatever they are."""
    inside: Sequence[str]
    """Types whose contents are treated, the usual one first."""
    verb: str
    """Verb of the action that treats those contents."""
    by: str
    """Type of the object that `verb` acts on; where that is not one of `inside`, the nearest."""
    where: str
    """Noun of the place where the treatment is done."""
    interactions: int
    """Number of ALFRED's interactions for the treatment."""

    @property
    def things(self) -> Sequence[str]:
        """The types that tasks ask it for."""
        return that_suit(self.name)


CLEAN = Treatment(
    name="clean",
    done="cleaned",
    says="wash",
    said="washed",
    participles=("clean", "washed", "rinsed", "cleaned"),
    inside=("SinkBasin", "BathtubBasin"),
    verb="turn on",
    by="Faucet",
    where="sink",
    interactions=4,
)
HEAT = Treatment(
    name="heat",
    done="heated",
    says="heat",
    said="heated",
    participles=("heated", "hot", "warm", "microwaved"),
    inside=("Microwave",),
    verb="turn on",
    by="Microwave",
    where="microwave",
    interactions=7,
)
COOL = Treatment(
    name="cool",
    done="cooled",
    says="cool",
    said="cooled",
    participles=("chilled", "cold", "cooled"),
    inside=("Fridge",),
    verb="close",
    by="Fridge",
    where="fridge",
    interactions=5,
)
TREATMENTS = (HEAT, COOL, CLEAN)


def _held(view: GoalFacts, thing: Any) -> bool:
    return bool(thing.held)


def _lit(view: GoalFacts, thing: Any) -> bool:
    return bool(thing.on and thing.visible)


_TREAT_SHAPES = ("put", "treat put", "treat there put", "get treat put", "before", "after")


@dataclass(frozen=True, slots=True)
class AlfredKind:
    """A kind of task."""

    name: str
    rooms: tuple[Kind, ...]
    """The kinds of rooms that the task is sampled in."""
    goal: tuple[Condition, ...]
    """Conditions on "object", "parent", "movable" and "toggle". Slices add theirs."""
    says: tuple[str, ...]
    """Our wordings of the goal."""
    shapes: tuple[str, ...]
    """Shapes of people's sentences that have the goal's meaning."""
    actions: int
    """Actions that the expert takes at least, exploration not counted."""
    count: int = 1
    """How many objects are wanted."""
    treatment: Treatment | None = None
    """What is done to the objects before."""
    movable: bool = False
    """Whether the objects are carried in or on a movable receptacle."""
    light: bool = False
    """Whether the objects are held in the light of a lamp, and not put anywhere."""
    often: float = 1.0
    """Weight in EIE's sampling. iTHOR's rooms have two of few objects: slices, rolls of toilet
    paper, statues and vases; and three in ten things that can be loaded are a box."""
    harder: tuple[str, ...] = ()
    """Kinds that ask for the same and a treatment."""
    combined: tuple[str, ...] = ()
    """Kinds that ask for the same with more objects."""

    @property
    def needs(self) -> frozenset[str]:
        """The parameters of its goals."""
        more = {"toggle"} if self.light else {"parent"}
        return frozenset({"object"} | more | ({"movable"} if self.movable else set()))

    @property
    def objects(self) -> Sequence[str]:
        """The types of objects that it is sampled for, in the order in which they are drawn."""
        if self.light:
            return LIT
        if self.movable:
            return [type for loads in LOADS.values() for type in loads]
        return tuple(PLACES) if self.treatment is None else self.treatment.things

    def conditions(self, sliced: bool) -> tuple[Condition, ...]:
        """All conditions."""
        return (*self.goal, there("object", self.count)) if sliced else self.goal


def _treating(treatment: Treatment, rooms: tuple[Kind, ...], **row: Any) -> AlfredKind:
    return AlfredKind(
        f"pick_{treatment.name}_then_place_in_recep",
        rooms,
        goal=(each("object", at("parent"), treated(treatment.name)),),
        shapes=_TREAT_SHAPES,
        treatment=treatment,
        **row,
    )


KINDS = (
    AlfredKind(
        "pick_and_place_simple",
        tuple(Kind),
        goal=(each("object", at("parent")),),
        says=(
            "Put {a_thing} {in_the_place}.",
            "Place {a_thing} {in_the_place}.",
            "Find {a_thing} and put it {in_the_place}.",
            "Move {a_thing} so that it ends up {in_the_place}.",
            "I would like {a_thing} to be {in_the_place}.",
            "{A_thing} belongs {in_the_place}. Bring it there.",
        ),
        shapes=("put", "get put"),
        actions=4,
        harder=(
            "pick_clean_then_place_in_recep",
            "pick_heat_then_place_in_recep",
            "pick_cool_then_place_in_recep",
        ),
        combined=("pick_two_obj_and_place", "pick_and_place_with_movable_recep"),
    ),
    AlfredKind(
        "pick_two_obj_and_place",
        tuple(Kind),
        goal=(together("object", "parent", 2),),
        says=(
            "Put two {things} {in_the_place}.",
            "Place two {things} {in_the_place}.",
            "Gather two {things} {in_the_place}.",
            "Find two {things} and put both of them {in_the_place}.",
            "Two {things} should be together {in_the_place}.",
            "Bring one {thing} and then another, and leave both {in_the_place}.",
        ),
        shapes=("put", "get put", "one another"),
        actions=8,
        count=2,
        often=0.4,
    ),
    AlfredKind(
        "look_at_obj_in_light",
        (Kind.LIVING_ROOM, Kind.BEDROOM),
        goal=(each("object", _held), each("toggle", _lit)),
        says=(
            "Look at {a_thing} under {a_lamp}.",
            "Examine {a_thing} by the light of {a_lamp}.",
            "Hold {a_thing} and turn on {a_lamp}.",
            "Pick up {a_thing} and look at it in the light of {a_lamp}.",
            "Switch on {a_lamp} while you hold {a_thing}.",
            "Take {a_thing} to {a_lamp} and light it up.",
        ),
        shapes=(
            "look",
            "look in lamplight",
            "light to look",
            "hold light",
            "light holding",
            "light in hand",
            "hold while",
        ),
        actions=3,
        light=True,
    ),
    _treating(
        CLEAN,
        (Kind.KITCHEN, Kind.BATHROOM),
        says=(
            "Wash {a_thing} and put it {in_the_place}.",
            "Put {a_clean_thing} {in_the_place}.",
            "Rinse {a_thing} under the faucet, then place it {in_the_place}.",
            "Clean {a_thing} and leave it {in_the_place}.",
            "I need {a_clean_thing} {in_the_place}.",
            "Give {a_thing} a wash before you put it {in_the_place}.",
        ),
        actions=9,
        combined=("pick_and_place_with_movable_recep",),
    ),
    _treating(
        HEAT,
        (Kind.KITCHEN,),
        says=(
            "Heat {a_thing} and put it {in_the_place}.",
            "Put {a_hot_thing} {in_the_place}.",
            "Warm {a_thing} in the microwave, then place it {in_the_place}.",
            "Microwave {a_thing} and leave it {in_the_place}.",
            "I need {a_hot_thing} {in_the_place}.",
            "Make {a_thing} hot before you put it {in_the_place}.",
        ),
        actions=13,
    ),
    _treating(
        COOL,
        (Kind.KITCHEN,),
        says=(
            "Cool {a_thing} and put it {in_the_place}.",
            "Put {a_cold_thing} {in_the_place}.",
            "Chill {a_thing} in the fridge, then place it {in_the_place}.",
            "Let {a_thing} get cold in the fridge and move it so that it is {in_the_place}.",
            "I need {a_cold_thing} {in_the_place}.",
            "Make {a_thing} cold before you put it {in_the_place}.",
        ),
        actions=11,
    ),
    AlfredKind(
        "pick_and_place_with_movable_recep",
        (Kind.KITCHEN, Kind.LIVING_ROOM, Kind.BEDROOM),
        goal=(each("movable", holds("object"), at("parent")),),
        says=(
            "Put {a_thing} {in_a_movable} and put both {in_the_place}.",
            "Place {a_movable} with {a_thing} {in_it} {in_the_place}.",
            "Move {a_movable} {in_the_place} once {a_thing} is {in_it}.",
            "Set {a_thing} {in_a_movable}, then set the {movable} {in_the_place}.",
            "There should be {a_movable} {in_the_place} with {a_thing} {in_it}.",
            "Load {a_movable} with {a_thing} and leave it {in_the_place}.",
        ),
        shapes=("put with", "put in on", "load put"),
        actions=7,
        movable=True,
        often=0.8,
    ),
)

BY_NAME: Mapping[str, AlfredKind] = {kind.name: kind for kind in KINDS}
KIND_NAMES: tuple[str, ...] = tuple(BY_NAME)
SIMPLE, CLEANING, LOOKING = (
    BY_NAME["pick_and_place_simple"],
    BY_NAME["pick_clean_then_place_in_recep"],
    BY_NAME["look_at_obj_in_light"],
)
