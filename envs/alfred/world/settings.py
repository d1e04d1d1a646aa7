"""Settings of the ALFRED environment, as `--set KEY=VALUE` changes them."""

from __future__ import annotations

import math
from typing import Annotated, Literal

from pydantic import Field

from inhabit.envs.marks import Formerly, Place, Words
from inhabit.envs.settings import SettingsModel

Split = Literal["all", "train", "val", "test"]
Cells = Literal["computed", "recorded"]
Unnumbered = Literal["nearest", "used"]
_ALFRED_PIXELS = 10
"""An object with this many pixels counts as seen in ALFRED, whatever the image's size."""


class AlfredSettings(SettingsModel):
    """Settings of ALFRED."""

    navigation: Literal["walk", "teleport"] = "walk"
    """How the agent moves: it walks every low-level step, or is teleported to its destination."""
    least_cost: Annotated[Literal[0, 1], Formerly(0)] = 1
    """Low-level steps that an action without effect counts. ALFRED counts failed actions too."""
    least_seen: Annotated[float, Field(ge=0, le=1), Formerly(0.0)] = 0.0008
    """Smallest share of the image that an object takes up to count as seen: 72 pixels of 300x300,
    and never less than 10, which is ALFRED's bound. Objects within reach always count."""
    unnumbered: Annotated[Unnumbered, Formerly("nearest")] = "used"
    """Which of several objects a name without a number means, if the agent has not just gone to
    one. nearest: the nearest in view. used: one that lies in or on the receptacle that was used
    last, such as the sink in which a slice was washed. "Go to" then means first the object of the
    feedback "Go to it first", and one that could not be reached only if there is no other."""
    find: Literal["off", "oracle"] = "off"
    """Whether "find the mug" may go to objects that were never observed, as in EmbodiedBench."""
    split: Split = "all"
    """Rooms that tasks are sampled in, per room type: iTHOR's 1-20 (train), 21-25 (val) or 26-30
    (test)."""
    rooms: Annotated[str, Place()] = ""
    """Folder of additional rooms, as scripts/record_room saves them. Tasks are sampled in these
    rooms only, and the embedded household loads them."""
    cells: Cells = "computed"
    """Where the agent can stand in iTHOR's rooms: computed from the free space between bounding
    boxes, the same on every machine; or recorded in AI2-THOR (needs `inhabit setup alfred`). The
    two give different tasks."""
    expert: Literal["planner", "searching", "recorded"] = "planner"
    """Expert that solves tasks: one that knows the whole scene (planner); one that knows only what
    was observed and searches, which an agent can imitate (searching); or ALFRED's recorded plan,
    for tasks read from a trajectory (recorded)."""
    replay: Literal["off", "id", "mask"] = "off"
    """Whether the expert repeats ALFRED's recorded low-level actions, and how they name objects: by
    object id or by mask."""
    text: Literal["hand", "view"] = "hand"
    """What the text observation says: what is in the hand, or also what is in view, for text-only
    agents."""
    clips: bool = False
    """Show the frames seen during the last action as a video clip."""
    film: Literal["around", "whole"] = "around"
    """What a clip shows: the frames of looking around, or of every low-level step."""
    annotator: int = Field(default=0, ge=0, le=9)
    """Which annotator's wording of a trajectory's goal is used; ALFRED has at least three."""
    trajectories: Annotated[str, Place()] = ""
    """Folder of ALFRED trajectories that a split file of EB-ALFRED (--tasks splits.json) names."""
    eval_set: Annotated[str, Words()] = ""
    """Which set of a split file is read, such as base; empty reads all of them."""
    goal: Literal["sentence", "steps"] = "sentence"
    """What the goal of a trajectory says: one sentence; or also what the annotator wrote for each
    step, on lines of their own, as ALFRED's agents are given it."""
    colors: bool = True
    """Whether synthesised goals (EIE) may tell the colours and materials of the embedded household;
    off by default with --backend unity, whose rooms look different."""
    bad_files: Literal["refuse", "skip"] = "refuse"
    """What to do with a trajectory that cannot be read: stop before the run starts, or skip it."""
    wire: Literal["pipes", "none"] = "pipes"
    """How the embedded household is called: through AI2-THOR's client and pipes, in a process of
    its own; or directly, in the same process, several times faster."""
    executable: Annotated[str, Place()] = ""
    """Path of a Unity build of AI2-THOR, for --backend unity."""
    width: int = Field(default=300, ge=64, le=2048)
    """Width of the image, in pixels."""
    height: int = Field(default=300, ge=64, le=2048)
    """Height of the image, in pixels."""
    field_of_view: int = Field(default=60, ge=30, le=120)
    """Vertical field of view, in degrees. ALFRED uses 60, AI2-THOR itself 90."""
    antialias: int = Field(default=1, ge=1, le=4)
    """Supersampling factor of the embedded renderer along each side. 2 takes about three times as
    long."""
    depth: bool = False
    """Also return a depth image."""
    instances: bool = False
    """Also return an instance segmentation image."""

    @property
    def narrow_view(self) -> float:
        """Field of view across the narrower side of the image, in degrees."""
        if self.width >= self.height:
            return self.field_of_view
        up = math.tan(math.radians(self.field_of_view) / 2)
        return 2 * math.degrees(math.atan(up * self.width / self.height))

    @property
    def least_pixels(self) -> int:
        """Pixels from which an object counts as seen."""
        return max(_ALFRED_PIXELS, math.ceil(round(self.least_seen * self.width * self.height, 6)))


def fastest_settings(backend: str, settings: AlfredSettings) -> AlfredSettings:
    """Copy the settings; the embedded simulator runs in this process unless `wire` was set.

    With Unity, goals tell no colours unless `colors` was set.
    """
    if backend != "embedded" and "colors" not in settings.model_fields_set:
        return settings.model_copy(update={"colors": False})
    if backend != "embedded" or "wire" in settings.model_fields_set:
        return settings
    return settings.model_copy(update={"wire": "none"})


def recording_settings(settings: AlfredSettings) -> AlfredSettings:
    """Copy the settings; every observation has clips of the whole last action."""
    return settings.model_copy(update={"clips": True, "film": "whole"})


class FilmSettings(AlfredSettings):
    """Settings for rendering a recorded episode again. Records do not contain them."""

    film_width: int = Field(default=640, ge=64, le=2048)
    """Width of the images of clips, in pixels."""
    film_height: int = Field(default=480, ge=64, le=2048)
    """Height of the images of clips, in pixels."""


def video_settings(
    backend: str, settings: AlfredSettings, width: int, height: int
) -> FilmSettings | None:
    """Settings for clips of every low-level step at another size.

    What the agent sees keeps its size, since that decides which objects count as seen.

    Returns:
        None for Unity, which does not repeat itself.
    """
    if backend != "embedded":
        return None
    whole = {"wire": "none", "clips": True, "film": "whole"}
    size = {"film_width": width, "film_height": height}
    return FilmSettings.model_validate({**settings.model_dump(), **whole, **size})
