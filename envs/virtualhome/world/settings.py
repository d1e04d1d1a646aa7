"""Settings of VirtualHome, as `--set KEY=VALUE` changes them."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from inhabit.envs.marks import NoEffect, Place
from inhabit.envs.settings import SettingsModel


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
