"""What `--set KEY=VALUE` may say of the ALFRED environment."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from inhabit.envs.alfred.scenes.rooms import Cells, Split
from inhabit.envs.marks import Place


class AlfredSettings(BaseModel):
    """How the environment runs, and which rooms its tasks are drawn from."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    navigation: Literal["walk", "teleport"] = "walk"
    """Whether the agent walks every step, or is moved to where it wants to be."""
    find: Literal["off", "oracle"] = "off"
    """Whether "find the mug" goes to things that were never seen, as in EmbodiedBench."""
    split: Split = "all"
    """Rooms that tasks are sampled in: iTHOR's 1-20, 21-25 or 26-30 of each kind."""
    rooms: Annotated[str, Place()] = ""
    """A folder with rooms of one's own, as scripts/record_room saves them: tasks are sampled in
    these instead, and the embedded household loads them."""
    cells: Cells = "computed"
    """Where one can stand in iTHOR's rooms: where our rule finds room between boxes, the same on
    every machine; or where THOR's agent was recorded to stand (`inhabit setup alfred` brings that).
    Tasks drawn with one are not those drawn with the other."""
    expert: Literal["planner", "searching", "recorded"] = "planner"
    """Who plans: ours, which knows where everything is; the same that knows no more than what was
    seen, and searches, one action at a time: whom one can learn from; or ALFRED's own plan where
    the task was read from a trajectory."""
    replay: Literal["off", "id", "mask"] = "off"
    """Whether the expert is ALFRED's own, low-level step by step: things chosen by their ids, or by
    the masks that it pointed with."""
    text: Literal["hand", "view"] = "hand"
    """What is told: what is in the hand; or what is in view besides, for agents without eyes."""
    clips: bool = False
    """Show what was seen on the way, as a film."""
    film: Literal["around", "whole"] = "around"
    """What such a film shows: where one looks around, or every step of the body."""
    annotator: int = Field(default=0, ge=0, le=9)
    """Whose wording of a trajectory's goal is taken: ALFRED has three or more for each."""
    bad_files: Literal["refuse", "skip"] = "refuse"
    """What a trajectory that can't be read does: end the run before it starts, or be left out."""
    wire: Literal["pipes", "none"] = "pipes"
    """How the embedded household is spoken to: by AI2-THOR's own client through pipes, in a process
    of its own; or directly, in this process, which shows the same several times as quickly."""
    executable: Annotated[str, Place()] = ""
    """Path of a build of Unity, for `--backend unity`."""
    width: int = Field(default=300, ge=64, le=2048)
    height: int = Field(default=300, ge=64, le=2048)
    field_of_view: int = Field(default=60, ge=30, le=120)
    """Degrees, vertical; ALFRED's is 60, THOR's own default 90."""
    antialias: int = Field(default=1, ge=1, le=4)
    """Smooth edges, on the embedded household: pictures are drawn so many times as wide and as
    high, and averaged. 2 takes about three times as long."""
    depth: bool = False
    """Show depth as well."""
    instances: bool = False
    """Show which pixel belongs to what as well."""


def quickest(backend: str, settings: AlfredSettings) -> AlfredSettings:
    """The same, with the embedded household in this process unless `wire` was set."""
    if backend != "embedded" or "wire" in settings.model_fields_set:
        return settings
    return settings.model_copy(update={"wire": "none"})


def filmed(settings: AlfredSettings) -> AlfredSettings:
    """The same, with a clip of every step of the body."""
    return settings.model_copy(update={"clips": True, "film": "whole"})
