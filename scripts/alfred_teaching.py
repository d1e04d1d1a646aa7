"""What the planner that comes with ALFRED is trained on: spoken goals, labelled images, texts."""

from __future__ import annotations

import json
import lzma
import random
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError

from inhabit.envs.alfred.env import Alfred
from inhabit.envs.alfred.episode import state
from inhabit.envs.alfred.language.verbs import vocabulary, word
from inhabit.envs.alfred.scenes.scene import AlfredGoal, TaskType
from inhabit.envs.alfred.skills.walking import direction
from inhabit.envs.alfred.tasks.sampling import goals_of, instructions
from inhabit.envs.alfred.tasks.trajectories import PddlParams
from inhabit.envs.alfred.thor.body import HIGHEST, HORIZON_STEP, LOWEST, AgentPose
from inhabit.envs.alfred.thor.objects import ThorObject, ThorObjects
from inhabit.envs.alfred.world.kinds import KIND_NAMES
from inhabit.envs.alfred.world.settings import Split
from inhabit.envs.alfred.world.things import Kind, rooms
from inhabit.envs.core import Observation, SceneObject, TaskError
from inhabit.envs.simulators.household.simulator import Simulator
from inhabit.envs.simulators.household.state.agent import EYE_STANDING
from inhabit.envs.template import WordedGoal

_FIELD_OF_VIEW = 60
"""Degrees, as ALFRED's."""
_NEAR = 1.3
"""Maximum distance in metres from which an object is viewed."""
_HORIZONS = (0.0, 30.0)
"""Degrees below the horizontal when looking around."""
_OPEN, _SPAWNED, _PAINTED, _BEFORE = 0.3, 0.5, 0.7, 0.6
"""Probabilities that an openable object is open, objects are moved, colours are randomized, and the
pose faces an object."""


def glimpses(
    split: Split, *, rounds: int, each: int, side: int, seed: int, holds: float = 0.15
) -> Iterator[tuple[Observation, Sequence[SceneObject]]]:
    """Images with masks and the names of their objects.

    Args:
        split: the rooms.
        rounds: how often each room is entered, as another one each time.
        each: images every time.
        side: of the square images, pixels.
        seed: of everything that is drawn.
        holds: probability that an object is held in a round in a room.
    """
    names = [name for kind in Kind for name in rooms(kind, split)]
    simulator = Simulator(names[0], width=side, height=side)
    simulator.act({"action": "Initialize", "fieldOfView": _FIELD_OF_VIEW})
    for turn in range(rounds):
        rng = random.Random(f"glimpses {split} {seed} {turn}")
        for name in rng.sample(names, len(names)):
            simulator.act({"action": "Reset", "sceneName": name})
            _rearrange(simulator, rng, holds)
            places = simulator.act({"action": "GetReachablePositions"}).value
            assert isinstance(places, list), "A room has places to stand in."
            for _ in range(each):
                simulator.act(_pose(simulator, places, rng))
                yield _seen(simulator)


def _rearrange(simulator: Simulator, rng: random.Random, holds: float) -> None:
    """Randomize the room. A change that fails is skipped."""
    if rng.random() < _SPAWNED:
        simulator.act({"action": "InitialRandomSpawn", "randomSeed": rng.randrange(10**6)})
    if rng.random() < _PAINTED:
        simulator.act({"action": "RandomizeMaterials", "randomSeed": rng.randrange(10**6)})
    things = [dict(thing.metadata) for thing in simulator.things.values() if thing.present]
    for thing in things:
        if thing["openable"] and rng.random() < _OPEN:
            simulator.act(_forced("OpenObject", thing))
        if thing["toggleable"] and rng.random() < 0.5:
            off = "ToggleObjectOff" if thing["isToggled"] else "ToggleObjectOn"
            simulator.act(_forced(off, thing))
    carried = [thing for thing in things if thing["pickupable"]]
    if carried and rng.random() < holds:
        simulator.act(_forced("PickupObject", rng.choice(carried)))


def _forced(action: str, thing: Mapping[str, Any]) -> Mapping[str, Any]:
    return {"action": action, "objectId": thing["objectId"], "forceAction": True}


def _pose(simulator: Simulator, places: Sequence[Any], rng: random.Random) -> Mapping[str, Any]:
    """A pose that faces an object, or a random one."""
    pose = None
    if rng.random() < _BEFORE:
        pose = _before(simulator, places, rng)
    if pose is None:
        place = rng.choice(places)
        turn = rng.choice((0, 90, 180, 270)) + rng.choice((0, 60, 120, 180, 240, 300))
        pose = AgentPose(place["x"], place["y"], place["z"], turn % 360, rng.choice(_HORIZONS))
    return {
        "action": "TeleportFull",
        "position": {"x": pose.x, "y": pose.y, "z": pose.z},
        "rotation": {"x": 0, "y": pose.rotation, "z": 0},
        "horizon": pose.horizon,
        "standing": True,
        "forceAction": True,
    }


def _before(simulator: Simulator, places: Sequence[Any], rng: random.Random) -> AgentPose | None:
    """A pose that faces an object; its type is sampled first, so that none is rare."""
    present = [thing for thing in simulator.things.values() if thing.present]
    kind = rng.choice(sorted({thing.kind for thing in present}))
    thing = ThorObject.of(
        {**rng.choice([t for t in present if t.kind == kind]).metadata, "visible": False}
    )
    near = [p for p in places if 0.2 <= thing.reach(p["x"], p["z"]) <= _NEAR]
    if not near:
        return None
    place = rng.choice(near)
    level = AgentPose(place["x"], place["y"], place["z"], 0.0, 0.0)
    bearing, below = direction(level, thing.center, EYE_STANDING)
    tilt = min(max(round(below / HORIZON_STEP) * HORIZON_STEP, HIGHEST), LOWEST)
    return AgentPose(level.x, level.y, level.z, round(bearing / 90) * 90 % 360, float(tilt))


def _seen(simulator: Simulator) -> tuple[Observation, Sequence[SceneObject]]:
    frame = simulator.frame()
    records = [t.metadata for t in simulator.things.values() if t.present]
    world = ThorObjects({**record, "visible": False} for record in records)
    things = [
        SceneObject(
            name=record.id,
            kind=word(record.type),
            states={"open": record.open, "on": record.on},
            held=record.held,
        )
        for record in world
    ]
    seen = Observation("", rgb=frame.rgb, instances=frame.ids, names=frame.names)
    return seen, things


_RENAMED: Mapping[str, str] = {"Glassbottle": "Bottle", "Cart": "SideTable"}
"""Types of AI2-THOR 2.1 -> today's."""
_KINDS = (Kind.KITCHEN, Kind.LIVING_ROOM, Kind.BEDROOM, Kind.BATHROOM)
"""Kinds of the rooms 1-30, 201-230, 301-330 and 401-430."""


class _Loose(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")


class _Said(_Loose):
    goal: str
    steps: tuple[str, ...] = ()


class _Line(_Loose):
    trial: str
    type: TaskType
    params: PddlParams
    scene: str
    said: tuple[_Said, ...]


@dataclass(frozen=True, slots=True)
class SpokenGoal:
    """A goal in a person's words, with its meaning."""

    text: str
    steps: tuple[str, ...]
    """Sentences for each step."""
    kind: str
    """The task type."""
    parts: tuple[str, str, str]
    """The nouns of object, place (or lamp) and movable receptacle; empty if there is none."""
    room: str
    trial: str
    """The trajectory that it describes; several people described each."""


def spoken_goals(file: Path) -> Iterator[SpokenGoal]:
    """The goals in a file of JSON lines, compressed (.xz) or not.

    Each line describes a trajectory: `trial`, `type`, `params` (ALFRED's `pddl_params`), `scene`,
    and `said`, a list of `goal` and `steps` of each annotator.

    Raises:
        TaskError: a line can't be read; names it.
    """
    opened = lzma.open if file.suffix == ".xz" else open
    with opened(file, "rt", encoding="utf-8") as lines:
        for number, line in enumerate(lines, start=1):
            try:
                read = _Line.model_validate(json.loads(line))
            except (ValueError, ValidationError) as error:
                raise TaskError(f"{file}, line {number}: can't be read: {error}") from error
            for said in read.said:
                parts = _parts(read)
                yield SpokenGoal(said.goal, said.steps, read.type, parts, read.scene, read.trial)


def nouns_of_room(scene: str) -> Sequence[str]:
    """The nouns in the vocabulary of a room's kind, given its name such as "FloorPlan301"."""
    number = int(scene.removeprefix("FloorPlan").partition("_")[0])
    kind = _KINDS[max(0, number // 100 - 1)]
    said = {action.arguments[-1] for action in vocabulary(kind) if action.verb == "go to"}
    return sorted(noun for noun in said if not noun[-1].isdigit())


def _parts(line: _Line) -> tuple[str, str, str]:
    params = line.params
    thing = _RENAMED.get(params.object_target, params.object_target)
    place = params.parent_target or params.toggle_target
    if place == "DiningTable" and word(place) not in nouns_of_room(line.scene):
        place = "Desk"  # What these bedrooms have there in AI2-THOR 5.
    movable = params.mrecep_target if "movable" in line.type else ""
    return (
        word(f"{thing}Sliced" if params.object_sliced else thing),
        word(_RENAMED.get(place, place)),
        word(movable) if movable else "",
    )


Parts = tuple[str, str, str]
"""The nouns of object, place (or lamp) and movable receptacle; empty if there is none."""
Forms = Callable[[str], Iterable[str]]
"""Gives the names that people use for a noun, singular and plural; its own name first."""


class Rewording:
    """Says goals in other words."""

    def __init__(self, spoken: Iterable[SpokenGoal], forms: Forms, *, people: float = 0.5) -> None:
        """Say goals in our wordings and in those of people.

        Args:
            spoken: goals of people.
            forms: names that people use for a noun.
            people: probability of a sentence of people where there is one.
        """
        self._people, self._forms = people, forms
        self._said: dict[tuple[str, Parts], list[str]] = {}
        self._frames: dict[tuple[str, bool], list[tuple[str, Parts]]] = {}
        for goal in spoken:
            self._said.setdefault((goal.kind, goal.parts), []).append(goal.text)
            if _with_slots(goal.text, goal.parts, forms) is not None:
                cut = goal.parts[0].endswith(" slice")
                self._frames.setdefault((goal.kind, cut), []).append((goal.text, goal.parts))

    def __call__(self, goal: AlfredGoal, rng: random.Random) -> str:
        """A sentence for `goal`."""
        kind, parts = str(goal.type), parts_of(goal)
        frames = self._frames.get((kind, goal.sliced), ())
        said = self._said.get((kind, parts), ())
        if rng.random() >= self._people or not (frames or said):
            return rng.choice(instructions(goal))
        # Few people spoke of some goals: their sentences would be learned by heart.
        if said and (not frames or rng.random() < len(said) / (len(said) + 5)):
            return rng.choice(said)
        text, theirs = rng.choice(frames)
        pattern = _with_slots(text, theirs, self._forms)
        assert pattern is not None
        names = [_name(part, self._forms, rng) for part in parts]
        return pattern.format(*names)


def parts_of(goal: AlfredGoal) -> Parts:
    """The nouns of `goal`."""
    thing = word(f"{goal.object}Sliced" if goal.sliced else str(goal.object))
    return (
        thing,
        word(goal.parent or str(goal.toggle)),
        word(goal.movable) if goal.movable else "",
    )


def _name(noun: str, forms_of: Forms, rng: random.Random) -> str:
    """A name for `noun`: mostly its own."""
    forms = [form for form in forms_of(noun) if not form.endswith("s") or form == noun]
    return noun if rng.random() < 0.7 or not forms else rng.choice(forms)


@lru_cache(maxsize=65536)
def _with_slots(text: str, parts: Parts, forms: Forms) -> str | None:
    """`text` with "{0}", "{1}" and "{2}" for the names of `parts`; None if one is not named."""
    found = text.lower().replace("{", "(").replace("}", ")")
    for number, part in enumerate(parts):
        if not part:
            continue
        found, count = _names(part, forms).subn(f"{{{number}}}", found)
        if not count:
            return None
    return found


@lru_cache(maxsize=1024)
def _names(noun: str, forms_of: Forms) -> re.Pattern[str]:
    forms: Sequence[str] = sorted(forms_of(noun), key=len, reverse=True)
    return re.compile(rf"(?<!\{{)\b(?:{'|'.join(map(re.escape, forms))})\b")


def goal_of(scene: Mapping[str, object]) -> AlfredGoal:
    """The goal of a task's scene."""
    return AlfredGoal.model_validate(scene["goal"])


def wordings() -> Iterator[WordedGoal]:
    """All pairs of text and goal, whether or not any room has their objects."""
    for type in KIND_NAMES:
        for goal in goals_of(type):
            thing = word(f"{goal.object}Sliced" if goal.sliced else str(goal.object))
            place = word(goal.parent or str(goal.toggle))
            parts = (thing, place, word(goal.movable) if goal.movable else "")
            for text in instructions(goal):
                yield WordedGoal(text, type, parts)


class TextOnlyAlfred(Alfred):
    """An environment whose observations are text only."""

    def observe(self) -> Observation:
        """The objects in view and the held object, as text."""
        return Observation(state.in_words(self._episode(), view=True))
