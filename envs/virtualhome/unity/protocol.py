"""What VirtualHome's Unity simulator is asked and answers: JSON over HTTP POST, on port 8080.

Source: `unity_simulator/comm_unity.py` of virtualhome 2.3.0. `message` is often JSON in a string;
images are base64 PNGs in `message_list`.
"""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict, Field, FiniteFloat, field_validator


class ProtocolRequest(BaseModel):
    """A request. Names are the protocol's."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    id: str = ""
    action: str
    intParams: tuple[int, ...] = ()  # noqa: N815
    stringParams: tuple[str, ...] = ()  # noqa: N815

    @field_validator("intParams", "stringParams", mode="before")
    @classmethod
    def _none_is_nothing(cls, value: object) -> object:
        return () if value is None else value


class ProtocolReply(BaseModel):
    """What is answered."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    id: str = ""
    success: bool
    message: str = ""
    value: int | FiniteFloat = 0
    message_list: tuple[str, ...] = Field(default=())

    @field_validator("message", "message_list", mode="before")
    @classmethod
    def _null_is_nothing(cls, value: object) -> object:
        # Unity leaves both out as null where it has nothing to say.
        return "" if value is None else value

    @field_validator("message_list", mode="before")
    @classmethod
    def _no_pictures(cls, value: object) -> object:
        return () if value in (None, "") else value


class VirtualHomeGraph(BaseModel):
    """The environment graph."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    nodes: list[dict[str, Any]]
    edges: list[dict[str, Any]]


class Point(BaseModel):
    """Metres, or degrees about the axes."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    x: float = 0.0
    y: float = 0.0
    z: float = 0.0


class CharacterPlace(BaseModel):
    """Where a character is put."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    character_resource: str = "Chars/Male1"
    char_index: int = 0
    mode: str = "random"
    """random, fix_room or fix_position."""
    character_position: Point = Point()
    initial_room: str = ""


class CameraPlace(BaseModel):
    """A camera of the user's own; for one that goes with a character, seen from that."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    position: Point = Point(y=1.0)
    rotation: Point = Point()
    """Degrees: x down, y to the right."""
    field_view: float = Field(default=40.0, ge=1.0, le=179.0)
    camera_name: str = "new_camera"


class ImageOptions(BaseModel):
    """How an image is taken."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    mode: str = "normal"
    image_width: int = Field(default=640, ge=1, le=4096)
    image_height: int = Field(default=480, ge=1, le=4096)


class ScriptOptions(BaseModel):
    """How a script is carried out: what of Unity's options means something without a video."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    recording: bool = False
    skip_execution: bool = False


class TimeOfDay(BaseModel):
    """Parameters of `set_time`."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    hours: int = Field(default=0, ge=0, le=23)
    minutes: int = Field(default=0, ge=0, le=59)
    seconds: int = Field(default=0, ge=0, le=59)

    @property
    def hour(self) -> float:
        """Of the day, 0 to 24."""
        return self.hours + self.minutes / 60 + self.seconds / 3600
