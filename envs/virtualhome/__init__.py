"""VirtualHome: its own evolving graph, embedded, or Unity, behind one environment."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from inhabit.envs.entries import lazy
from inhabit.envs.marks import NoEffect, Place
from inhabit.envs.registry import Registration, scene_field
from inhabit.envs.settings import SettingsModel
from inhabit.envs.simulators import render


class VirtualHomeSettings(SettingsModel):
    """What `--set` may say of VirtualHome."""

    width: int = Field(default=320, ge=16, le=4096)
    """Width of the image, in pixels."""
    height: int = Field(default=240, ge=16, le=4096)
    """Height of the image, in pixels."""
    view: Literal["first_person", "over_the_shoulder", "top_down", "none"] = "first_person"
    """Camera of the image; none returns no image."""
    verbs: Literal["all", "unity"] = "all"
    """Actions: all of the evolving graph, or only those that Unity executes as well."""
    host: Annotated[str, Place(), NoEffect()] = "127.0.0.1"
    """Host of a running Unity simulator, or of a server that speaks its protocol."""
    port: Annotated[int, Place(), NoEffect()] = Field(default=8080, ge=1, le=65535)
    """TCP port of that simulator. One that is started by `executable` gets a free port instead."""
    executable: Annotated[str | None, Place()] = None
    """Path of VirtualHome's Unity build, which is started headless. By default a running one is
    used."""
    timeout: Annotated[float, NoEffect()] = Field(default=60.0, gt=0.0)
    """Seconds that Unity may take for one call."""


def video_settings(
    backend: str, settings: VirtualHomeSettings, width: int, height: int
) -> VirtualHomeSettings | None:
    """Settings for images of another size; None where a run has none."""
    if backend != "embedded" or settings.view == "none":
        return None
    return settings.model_copy(update={"width": width, "height": height})


REGISTRATION = Registration(
    name="virtualhome",
    summary="household tasks in seven flats, on VirtualHome's evolving graph or in Unity",
    backends=("embedded", "unity"),
    settings=VirtualHomeSettings,
    make=lazy("inhabit.envs.virtualhome.env:make"),
    sample=lazy("inhabit.envs.virtualhome.tasks.sampling:sample"),
    read=lazy("inhabit.envs.virtualhome.tasks.scene:read"),
    needs=lazy("inhabit.envs.virtualhome.setup:needs"),
    missing_task_data=lazy("inhabit.envs.virtualhome.setup:missing_task_data"),
    domain="Domestic Robot",
    packages=("numba",),
    renderer=render.VERSION,
    prepare=lazy("inhabit.envs.virtualhome.setup:prepare"),
    video_settings=video_settings,
    kinds=lazy("inhabit.envs.virtualhome.tasks.sampling:kinds"),
    scene_plan=lazy("inhabit.envs.virtualhome.plan_view:scene_plan"),
    rooms=lazy("inhabit.envs.virtualhome.tasks.sampling:rooms"),
    room_of=scene_field("room"),
    template=lazy("inhabit.envs.virtualhome.evolution.template:VirtualHomeTemplate"),
)
