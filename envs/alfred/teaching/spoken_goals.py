"""Goals in people's own words, from ALFRED's training set."""

from __future__ import annotations

import json
import lzma
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError

from inhabit.envs.alfred.language.naming import word
from inhabit.envs.alfred.language.vocabulary import vocabulary
from inhabit.envs.alfred.scenes.scene import TaskType
from inhabit.envs.alfred.world.rooms import Kind
from inhabit.envs.core import TaskError

_RENAMED: Mapping[str, str] = {"Glassbottle": "Bottle", "Cart": "SideTable"}
"""Types of AI2-THOR 2.1 -> today's."""
_KINDS = (Kind.KITCHEN, Kind.LIVING_ROOM, Kind.BEDROOM, Kind.BATHROOM)
"""Of the rooms 1-30, 201-230, 301-330 and 401-430."""


class _Loose(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")


class _Said(_Loose):
    goal: str
    steps: tuple[str, ...] = ()


class _Params(_Loose):
    object_target: str
    parent_target: str
    mrecep_target: str
    toggle_target: str
    object_sliced: bool


class _Line(_Loose):
    trial: str
    type: TaskType
    params: _Params
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
