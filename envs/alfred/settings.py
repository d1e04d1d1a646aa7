"""Settings of the ALFRED environment, as `--set KEY=VALUE` changes them."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from inhabit.envs.alfred.scenes.rooms import Cells, Split
from inhabit.envs.marks import Place


class AlfredSettings(BaseModel):
    """Settings of ALFRED."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    navigation: Literal["walk", "teleport"] = "walk"
    """Walk step by step, or teleport to the target pose."""
    find: Literal["off", "oracle"] = "off"
    """With "oracle", "find the mug" also goes to unseen objects, as in EmbodiedBench."""
    split: Split = "all"
    """iTHOR rooms for sampling tasks: numbers 1-20, 21-25 or 26-30 of each type."""
    rooms: Annotated[str, Place()] = ""
    """A folder of your own rooms, saved by scripts/record_room. Tasks are sampled in them and
    the embedded household loads them."""
    cells: Cells = "computed"
    """Where the agent can stand in iTHOR's rooms: "computed" from the objects' boxes, identical
    on every machine, or "recorded" with THOR's agent (needs `inhabit setup alfred`). Both sample
    different tasks."""
    expert: Literal["planner", "searching", "recorded"] = "planner"
    """The expert: "planner" knows the full state; "searching" knows only what it has seen and
    plans one action at a time, for demonstrations; "recorded" follows ALFRED's plan in tasks
    read from trajectories."""
    replay: Literal["off", "id", "mask"] = "off"
    """Let the expert re-execute ALFRED's low-level actions, with objects chosen by "id" or by
    the recorded "mask"."""
    text: Literal["hand", "view"] = "hand"
    """Text of an observation: the held object ("hand"), or also the objects in view ("view"),
    for agents without images."""
    clips: bool = False
    """Show the images of the last action as a clip."""
    film: Literal["around", "whole"] = "around"
    """Frames of such a clip: only looking around, or every low-level step."""
    annotator: int = Field(default=0, ge=0, le=9)
    """Number of the annotator whose goal text is used; ALFRED has three or more per trajectory."""
    bad_files: Literal["refuse", "skip"] = "refuse"
    """What to do with an unreadable trajectory: stop before the run starts, or skip it with a
    warning."""
    wire: Literal["pipes", "none"] = "pipes"
    """Connection to the embedded household: AI2-THOR's client and "pipes" to a process of its
    own, or "none": called directly in this process, with identical results, several times
    faster."""
    executable: Annotated[str, Place()] = ""
    """Path of a Unity build, for `--backend unity`."""
    width: int = Field(default=300, ge=64, le=2048)
    height: int = Field(default=300, ge=64, le=2048)
    field_of_view: int = Field(default=60, ge=30, le=120)
    """Vertical field of view, degrees; ALFRED's is 60, THOR's default 90."""
    antialias: int = Field(default=1, ge=1, le=4)
    """Supersampling factor of the embedded renderer; 2 takes about three times as long."""
    depth: bool = False
    """Add depth images to observations."""
    instances: bool = False
    """Add instance masks to observations."""


def quickest(backend: str, settings: AlfredSettings) -> AlfredSettings:
    """The same, with the embedded household in this process unless `wire` was set."""
    if backend != "embedded" or "wire" in settings.model_fields_set:
        return settings
    return settings.model_copy(update={"wire": "none"})


def filmed(settings: AlfredSettings) -> AlfredSettings:
    """The same, with a clip of every step of the body."""
    return settings.model_copy(update={"clips": True, "film": "whole"})
