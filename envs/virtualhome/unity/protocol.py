"""The messages of VirtualHome's protocol."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, FiniteFloat, JsonValue, field_validator

from inhabit.envs.core import Reason
from inhabit.envs.virtualhome.graph.world import Failure, read_failure


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

    model_config = ConfigDict(frozen=True, extra="ignore", allow_inf_nan=False)

    x: float = 0.0
    y: float = 0.0
    z: float = 0.0


class CharacterPlace(BaseModel):
    """Where a character is put."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    character_resource: str = "Chars/Male1"
    char_index: int = 0
    mode: str = "random"
    """How the place is chosen: random, fix_room or fix_position."""
    character_position: Point = Point()
    initial_room: str = ""


class CameraPlace(BaseModel):
    """A camera of the user's own; for one that goes with a character, seen from that."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    position: Point = Point(y=1.0)
    rotation: Point = Point()
    """Rotation in degrees: x down, y to the right."""
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
        """Hour of the day, 0 to 24."""
        return self.hours + self.minutes / 60 + self.seconds / 3600


_WRAPPINGS = re.compile(
    r"ScriptExcutor \d+:|EXECUTION_GENERAL: Script is impossible to execute|PROCESS \w+:|\s+"
)
_UNITY = (
    (r"No interaction positions|Path|collision", Reason.BLOCKED),
    (r"Can not select object|Not found|not found", Reason.NOT_FOUND),
    (r"impossible to execute", Reason.WRONG_STATE),
    (r"Error parsing script", Reason.UNKNOWN_ACTION),
    (r"[Tt]ime.?out", Reason.DEADLINE),
)
"""Unity's own messages, tried in order after those of the evolving graph."""


def read_script_failure(message: str) -> Failure:
    """The failure in a reply of either form; see `script_messages`."""
    said = script_messages(message)
    text = next((t for t in said.values() if t and t != "Success"), message)
    bare = " ".join(_WRAPPINGS.sub(" ", text).split())
    if not bare:
        bare = "The simulator does not say why; the script is impossible to execute."
    failure = read_failure(bare)
    if failure.reason is not Reason.UNKNOWN_ACTION:
        return failure
    for pattern, reason in _UNITY:
        if re.search(pattern, bare):
            return Failure(reason, bare)
    return failure


def script_messages(message: str) -> Mapping[int, str]:
    """The message of every character in a reply to `render_script`.

    Both forms are understood: 2.3's JSON `{"0": {"message": ...}}`, and the older plain text
    `ScriptExcutor 0: ...` (their spelling), a paragraph for each character that failed. Text of
    neither form is taken to be about character 0.
    """
    given = _as_json(message)
    if isinstance(given, Mapping):
        return {
            int(key): str(value.get("message", "") if isinstance(value, Mapping) else value)
            for key, value in given.items()
            if key.isdigit()
        }
    text = message if given is None else str(given)
    parts = text.split("ScriptExcutor ")
    found: dict[int, str] = {}
    for part in parts[1:]:
        number, _, rest = part.partition(":")
        if number.strip().isdigit():
            found[int(number)] = rest.strip()
    return found or ({0: text.strip()} if text.strip() else {})


def _as_json(text: str) -> JsonValue | Mapping[str, Any] | None:
    try:
        value: JsonValue = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return value
