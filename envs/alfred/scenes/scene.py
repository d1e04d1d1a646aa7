"""The scene of a task: its fields, which objects fit its goal, and the goal's conditions."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationInfo, field_validator, model_validator

from inhabit.envs.alfred.language.verbs import BY_NAME as VERBS
from inhabit.envs.alfred.thor.objects import ThorObject, ThorObjects, apart
from inhabit.envs.alfred.world.kinds import BY_NAME, KIND_NAMES, TREATMENTS, AlfredKind, Treatment
from inhabit.envs.alfred.world.things import IN_SLICES, MOVABLE, ROOMS, TYPES
from inhabit.envs.core import Task
from inhabit.envs.plain_data import validated_scene
from inhabit.envs.simulators.household.rooms.as_in_thor import place
from inhabit.envs.simulators.household.types.things import BASINS, LAMPS

TaskType = str
"""The name of one of `KINDS`."""
Liquid = Literal["water", "coffee", "wine"]
Name = Annotated[str, Field(min_length=1, max_length=80, examples=["mug_1", "cabinet_3"])]
ObjectType = Annotated[
    str,
    Field(min_length=1, max_length=40, json_schema_extra={"vocabulary": [*sorted(TYPES)]}),
]
Metres = Annotated[float, Field(ge=-30, le=30, json_schema_extra={"unit": "m"})]
Degrees = Annotated[float, Field(ge=-360, le=360, json_schema_extra={"unit": "degrees"})]


class ScenePart(BaseModel):
    """What all parts of a scene have in common."""

    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)


class AlfredGoal(ScenePart):
    """What is wanted, in ALFRED's parameters (`pddl_params`)."""

    type: Literal[KIND_NAMES]  # type: ignore[valid-type]
    object: ObjectType | None = None
    """What is to be placed, or held in the light: a type that fits a hand."""
    parent: ObjectType | None = None
    """Where it belongs in the end: a type of receptacle. Not for looking in the light."""
    movable: Literal[MOVABLE] | None = None  # type: ignore[valid-type]
    """With a movable receptacle: what it lies in when it is placed."""
    toggle: Literal[LAMPS] | None = None  # type: ignore[valid-type]
    """Looking in the light: the lamp."""
    sliced: bool = False
    """Whether the object is wanted in slices."""

    @model_validator(mode="after")
    def _complete(self) -> AlfredGoal:
        needed = self.kind.needs
        for name in ("object", "parent", "movable", "toggle"):
            if (getattr(self, name) is not None) != (name in needed):
                verb = "needs" if name in needed else "has no use for"
                raise ValueError(f"{self.type} {verb} {name!r}")
        if self.sliced and self.object not in IN_SLICES:
            raise ValueError(f"{self.object!r} can't be sliced; nearest: {', '.join(IN_SLICES)}")
        return self

    @property
    def kind(self) -> AlfredKind:
        """Its kind."""
        return BY_NAME[self.type]


class StartPose(ScenePart):
    """Where the agent stands and looks at the beginning."""

    x: Metres
    """One must be able to stand there: on a place of the room's 0.25 m grid."""
    z: Metres
    y: Metres | None = None
    """Height of its middle, as THOR has it (about 0.9); None for the room's own."""
    rotation: Literal[0, 90, 180, 270] = Field(default=0, json_schema_extra={"unit": "degrees"})
    """0 looks along z, 90 along x."""
    horizon: float = Field(default=30, ge=-30, le=60, json_schema_extra={"unit": "degrees"})
    """How far it looks down; below 0: up."""


class Placement(ScenePart):
    """A thing that is in or on a receptacle at the start, and not where the room has it."""

    object: Name
    """What is moved: something that fits a hand."""
    receptacle: Name
    """What it is put in or on; closed things are opened for it and closed again."""


class ObjectState(ScenePart):
    """States of one thing at the start that differ from the room's own; None leaves as it is."""

    object: Name
    """What is changed; it must be such as can be opened, switched on, and so on."""
    open: bool | None = None
    on: bool | None = None
    dirty: bool | None = None
    filled: Liquid | Literal["empty"] | None = None
    sliced: Literal[True] | None = None
    broken: Literal[True] | None = None
    cooked: Literal[True] | None = None


class RecordedPose(ScenePart):
    """Where ALFRED's generator had put a thing (THOR 2.1 coordinates, metres and degrees)."""

    type: ObjectType
    position: tuple[Metres, Metres, Metres]
    rotation: tuple[Degrees, Degrees, Degrees]


class RecordedThing(ScenePart):
    """A thing as one of ALFRED's plans means it: by type and where it was at the start."""

    type: ObjectType
    position: tuple[Metres, Metres, Metres]
    """For a slice, where the object that it was cut from was."""
    slice: int | None = Field(default=None, ge=0, le=99)
    """Which of the slices."""


class RecordedStep(ScenePart):
    """One interaction of ALFRED's own plan."""

    verb: Literal["pick up", "put", "open", "close", "turn on", "turn off", "slice"]
    thing: RecordedThing
    """What is acted on; for "put" the receptacle."""
    holder: RecordedThing | None = None
    """For "pick up" and "slice": what the thing lies in or on."""


class LowStep(ScenePart):
    """One of ALFRED's low-level actions, as its expert took it."""

    action: str = Field(pattern=r"^[A-Z][A-Za-z]{2,30}$")
    """THOR's name of it."""
    thing: RecordedThing | None = None
    """What is acted on; for "PutObject" the receptacle."""
    mask: tuple[tuple[int, int], ...] = ()
    """Where that was in the expert's image of 300x300: runs of pixels, row after row, each as its
    first pixel and how many follow."""


class Recording(ScenePart):
    """The rest of a scene that was read from a trajectory of ALFRED's."""

    poses: tuple[RecordedPose, ...]
    """Everything that can be moved; what is not listed is not in the room."""
    lamps_on: tuple[ObjectType, ...] = ()
    lamps_off: tuple[ObjectType, ...] = ()
    dirty_and_empty: bool = False
    """All that can be is dirty, and nothing holds a liquid."""
    plan: tuple[RecordedStep, ...] = ()
    """How ALFRED's expert solved it."""
    steps: tuple[LowStep, ...] = ()
    """Low-level steps of ALFRED's expert, where its way is to be acted again."""


class Condition(ScenePart):
    """What decides between two goals: whether a thing is dirty at the start."""

    object: Name
    dirty: AlfredGoal
    """The goal if it is dirty."""
    clean: AlfredGoal
    """The goal if it is not."""


class Disturbance(ScenePart):
    """A change that comes about by itself in the middle of an episode.

    What is held by then stays where it is, and so does everything while the hand is full; what
    finds no room falls down before the agent; what can't get into a state, as an open microwave
    can't run, stays as it is.
    """

    after: int = Field(ge=1, le=40)
    """Number of actions after which it happens."""
    placements: tuple[Placement, ...] = Field(default=(), max_length=4)
    states: tuple[ObjectState, ...] = Field(default=(), max_length=4)


class AlfredScene(ScenePart):
    """A room, what stands how in it, and what is wanted."""

    room: str = Field(json_schema_extra={"vocabulary": [*ROOMS]})
    """FloorPlan1-30 are kitchens, 201-230 living rooms, 301-330 bedrooms, 401-430 bathrooms."""
    goal: AlfredGoal
    also: tuple[AlfredGoal, ...] = Field(default=(), max_length=2)
    """Further goals. All of them have to hold in the end."""
    in_order: bool = False
    """The goals have to be reached one after the other, in this order."""
    condition: Condition | None = None
    """What `goal` was decided by; it has to be the one that the condition says."""
    disturbances: tuple[Disturbance, ...] = Field(default=(), max_length=3)
    start: StartPose | None = None
    """None: a free place and a direction drawn from the episode's seed."""
    held: Name | None = None
    """What the agent has in its hand at the start."""
    placements: tuple[Placement, ...] = Field(default=(), max_length=40)
    """Things that are elsewhere than the room has them, put there in this order."""
    states: tuple[ObjectState, ...] = Field(default=(), max_length=60)
    spawn_seed: int | None = Field(default=None, ge=0, le=2**31 - 1)
    """Scatter all that can be picked up first, by THOR's InitialRandomSpawn with this seed."""
    recording: Recording | None = None

    @field_validator("room")
    @classmethod
    def _room_exists(cls, room: str, known: ValidationInfo) -> str:
        rooms = (known.context or {}).get("rooms", ROOMS)
        if room not in rooms:
            raise ValueError(f"there is no room {room!r}; nearest: {nearest(room, rooms)}")
        return room

    @property
    def goals(self) -> tuple[AlfredGoal, ...]:
        """All goals."""
        return (self.goal, *self.also)

    @model_validator(mode="after")
    def _decided(self) -> AlfredScene:
        decided = self.condition
        if decided is not None and self.goal not in (decided.dirty, decided.clean):
            raise ValueError("the goal is none of the condition's")
        if any(goal.toggle is not None for goal in self.goals[:-1]):
            raise ValueError("looking in the light has to be the last goal: it takes the hand")
        return self

    @model_validator(mode="after")
    def _each_thing_once(self) -> AlfredScene:
        moved = [p.object for p in self.placements] + ([self.held] if self.held else [])
        for name in moved:
            if moved.count(name) > 1:
                raise ValueError(f"{name!r} can't start in two places")
        if self.recording is not None and (moved or self.spawn_seed is not None):
            raise ValueError("a recording says where everything is: leave out the other places")
        return self


def read_scene(task: Task, rooms: Iterable[str] = ROOMS) -> AlfredScene:
    """The validated scene of a task. Object names are checked by `layout.check`.

    Args:
        task: of this environment.
        rooms: names of those that there are.

    Raises:
        SceneError: a field is unknown, missing or out of its range.
    """
    return validated_scene(AlfredScene, task, {"rooms": set(rooms)})


def nearest(name: str, names: Iterable[str]) -> str:
    """The most similar valid names."""
    known = sorted(names)
    return ", ".join(difflib.get_close_matches(name, known, n=3, cutoff=0.4) or known[:3])


SLICED = "Sliced"
"""The suffix that THOR adds to the type of a sliced object."""
_MOVED = ("CoffeeMachine", "Fridge", "GarbageCan", "Microwave")
"""Appliances that some rooms have elsewhere since AI2-THOR 2.1."""
_SAME_PLACE = 0.9
"""Metres within which an object of the same type is taken for the same one."""
_RETYPED = 0.5
"""Metres within which furniture of another type is taken for the same one."""


def counterpart(recorded: RecordedThing, things: Sequence[ThorObject]) -> ThorObject | None:
    """The counterpart of a recorded object, if there is one.

    One of the same type near the same place; else fixed furniture at that place that has another
    type now; else the nearest of the same type, for the few appliances that were moved.
    """
    alike = [t for t in things if t.type == recorded.type]
    near = _nearest(recorded, alike)
    if near is not None and (near.pickupable or _gap(recorded, near) < _SAME_PLACE):
        return near
    furniture = [t for t in things if t.receptacle and not t.pickupable and t.type != "Floor"]
    there = _nearest(recorded, furniture)
    if there is not None and _gap(recorded, there) < _RETYPED and not _was_moved(alike):
        return there
    return near


def counterparts(
    recorded: Iterable[RecordedThing], things: Sequence[ThorObject]
) -> Mapping[RecordedThing, str]:
    """Recorded object -> id of its counterpart. A pickupable object is used at most once.

    A slice stands for what it is cut from.
    """
    found: dict[RecordedThing, str] = {}
    wholes: dict[tuple[object, ...], str] = {}
    for one in dict.fromkeys(recorded):
        whole = one.model_copy(update={"type": one.type.removesuffix(SLICED), "slice": None})
        key = (whole.type, whole.position)
        if key not in wholes:
            taken = set(wholes.values())
            free = [t for t in things if not (t.pickupable and t.id in taken)]
            thing = counterpart(whole, free) or counterpart(whole, things)
            if thing is None:
                continue
            wholes[key] = thing.id
        found[one] = wholes[key]
    return found


def present(
    world: ThorObjects, recorded: RecordedThing, whole: str, taken: Mapping[int | None, str]
) -> ThorObject | None:
    """The current object of a recorded one: for a slice, the one picked up or a free one.

    Args:
        world: as it is now.
        recorded: as a step of a plan means it.
        whole: id of its counterpart, uncut.
        taken: ids of slices of it that were picked up, by their recorded numbers.
    """
    if recorded.slice is None:
        return world.get(whole)
    number = recorded.slice
    if number in taken and taken[number] in world:
        return world[taken[number]]
    slices = [t for t in world.of_type(recorded.type) if t.id.startswith(f"{whole}|")]
    used = set(taken.values())
    return min(slices, key=lambda t: (t.id in used, not t.visible, t.id), default=None)


def moved(recorded: RecordedThing, things: Sequence[ThorObject]) -> ThorObject | None:
    """The only appliance of its type, if it has moved since the recording.

    It stood on what is at that place: its id says where its underside was, give or take.
    """
    alike = [t for t in things if t.type == recorded.type]
    if not _was_moved(alike) or _gap(recorded, alike[0]) < _SAME_PLACE:
        return None
    return alike[0] if alike[0].record["moveable"] else None


def _was_moved(alike: Sequence[ThorObject]) -> bool:
    """Whether the room has exactly one of these, of a type that has moved between versions."""
    return len(alike) == 1 and alike[0].type in _MOVED


def _nearest(recorded: RecordedThing, things: Sequence[ThorObject]) -> ThorObject | None:
    return min(things, key=lambda t: (_gap(recorded, t), t.id), default=None)


def _gap(recorded: RecordedThing, thing: ThorObject) -> float:
    """Metres from a recorded object to one. A basin's id tells the place of its sink."""
    places = [thing.position, thing.center]
    if thing.type in BASINS.values():
        x, y, z = place(thing.id).tolist()
        places.append((x, y, z))
    return min(apart(recorded.position, at) for at in places)


@dataclass(frozen=True, slots=True)
class History:
    """Ids of the objects treated since the start. ALFRED judges a treatment by past actions."""

    treated: Mapping[str, frozenset[str]] = field(default_factory=dict)
    """Ids of the objects that had each treatment, by its name."""

    def of(self, treatment: Treatment | None) -> frozenset[str]:
        """Ids of the objects that had a treatment."""
        return frozenset() if treatment is None else self.treated.get(treatment.name, frozenset())

    def after(self, action: str, object_id: str, world: ThorObjects) -> History:
        """The history after THOR's `action` on an object succeeded; `world` is the state after
        it.
        """
        thing = world.get(object_id)
        for one in TREATMENTS:
            if thing is None or thing.type != one.by or action != VERBS[one.verb].asks:
                continue
            place = thing if one.by in one.inside else basin_of(thing, world)
            inside = world.inside(place) if place is not None else frozenset()
            return History({**self.treated, one.name: self.of(one) | inside})
        return self


def basin_of(faucet: ThorObject, world: ThorObjects) -> ThorObject | None:
    """The nearest basin, into which a faucet's water runs."""

    def gap(basin: ThorObject) -> tuple[float, str]:
        return basin.reach(faucet.position[0], faucet.position[2]), basin.id

    return min(world.of_type(*BASINS.values()), key=gap, default=None)


def is_wanted(thing: ThorObject, goal: AlfredGoal) -> bool:
    """Whether an object is of the target type."""
    if not thing.pickupable:
        return False
    if goal.sliced:
        return thing.type == f"{goal.object}{SLICED}"
    return thing.type in (goal.object, f"{goal.object}{SLICED}")


def conditions(goal: AlfredGoal, world: ThorObjects, history: History) -> tuple[int, int]:
    """The number of conditions that hold, and their total."""
    view = _View(goal, world, history)
    counts = [condition(view) for condition in goal.kind.conditions(goal.sliced)]
    return sum(met for met, _ in counts), sum(total for _, total in counts)


@dataclass(frozen=True, slots=True)
class _View:
    """The parameters of a goal in a state."""

    goal: AlfredGoal
    world: ThorObjects
    history: History

    def fill(self, parameter: str) -> Sequence[ThorObject]:
        if parameter == "object":
            return [thing for thing in self.world if is_wanted(thing, self.goal)]
        found = self.world.of_type(str(getattr(self.goal, parameter)))
        if parameter == "parent":
            return [thing for thing in found if thing.receptacle]
        return [thing for thing in found if thing.pickupable or parameter != "movable"]

    def inside(self, place: ThorObject) -> frozenset[str]:
        return self.world.inside(place)

    def treated(self, treatment: str) -> frozenset[str]:
        return self.history.treated.get(treatment, frozenset())
