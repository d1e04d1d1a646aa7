"""Settings of VirtualHome, as `--set KEY=VALUE` changes them."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from inhabit.envs.settings import SettingsModel

from inhabit.envs.marks import NoEffect, Place


class VirtualHomeSettings(SettingsModel):
    """What `--set` may say of VirtualHome."""

    width: int = Field(default=320, ge=16, le=4096)
    """Pixels."""
    height: int = Field(default=240, ge=16, le=4096)
    """Pixels."""
    view: Literal["first_person", "over_the_shoulder", "top_down", "none"] = "first_person"
    """Where the picture is taken from; "none" goes without pictures."""
    verbs: Literal["all", "unity"] = "all"
    """All actions of the evolving graph, or those alone that Unity carries out too."""
    host: Annotated[str, Place(), NoEffect()] = "127.0.0.1"
    """Of a Unity simulator, or a server that speaks its protocol."""
    port: Annotated[int, Place(), NoEffect()] = Field(default=8080, ge=1, le=65535)
    """Of the same. One that is started by `executable` gets a free port of its own instead."""
    executable: Annotated[str | None, Place()] = None
    """Path of VirtualHome's Unity build, started headless; None connects to one that runs."""
    timeout: Annotated[float, NoEffect()] = Field(default=60.0, gt=0.0)
    """Seconds that Unity may take for an answer."""
