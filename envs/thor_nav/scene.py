"""The scene of a navigation task: a room, a start pose and a target."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field


class NavScene(BaseModel):
    """One navigation task, as EmbodiedBench and VAGEN write it."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    room: str
    """Name of a room, such as "FloorPlan1"."""
    x: float
    """Start position, in metres."""
    z: float
    """Start position, in metres."""
    rotation: float = 0.0
    """Start rotation about the vertical, in degrees; 0 looks along +z."""
    horizon: float = Field(default=0.0, ge=-30.0, le=60.0)
    """Start pitch of the camera, in degrees; positive looks down."""
    target: str
    """THOR's objectId of the target; for the record: success is measured to the position."""
    target_x: float
    """Position of the target, in metres."""
    target_z: float
    """Position of the target, in metres."""
    hidden: tuple[str, ...] = ()
    """THOR's objectIds of objects that are taken out of the room first."""
