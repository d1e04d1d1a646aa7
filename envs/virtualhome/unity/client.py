"""Our client of VirtualHome's Unity simulator, or of any server with its protocol.

Every call has a deadline and a specific error. A script that can't be executed is not an error:
it gives typed failures.
"""

from __future__ import annotations

import base64
import http.client
import io
import json
import socket
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Annotated, Any, TypeVar

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, Field, FiniteFloat, TypeAdapter, ValidationError

from inhabit.envs.core import SimulatorError
from inhabit.envs.entries import first_problem
from inhabit.envs.pictures import read_image
from inhabit.envs.virtualhome.graph.verbs import ScriptLine
from inhabit.envs.virtualhome.graph.world import Failure
from inhabit.envs.virtualhome.unity.protocol import (
    CharacterPlace,
    ImageOptions,
    ProtocolReply,
    ProtocolRequest,
    TimeOfDay,
    VirtualHomeGraph,
    read_script_failure,
)

_READ_ONLY = ("idle", "environment_graph", "camera_count", "character_cameras", "instance_colors")
"""A request without effect, to find out a server's protocol."""
T = TypeVar("T")
_Colour = Annotated[list[FiniteFloat], Field(min_length=3)]
_GRAPH, _NAMES = TypeAdapter(VirtualHomeGraph), TypeAdapter(list[str])
_COLOURS = TypeAdapter(dict[int, _Colour])
_MOST = 1 << 28
"""Bytes of an answer. A longer one means a broken server."""


@dataclass(frozen=True, slots=True)
class Health:
    """A server's description."""

    server: str
    """Name and release of the server, or "Unity" without a known release."""
    cameras: int
    nodes: int
    missing: tuple[str, ...]
    """Read-only actions that the server refuses; if there are any, it is of another release than
    2.3.0."""

    def __str__(self) -> str:
        lacks = f"; it lacks {', '.join(self.missing)}" if self.missing else ""
        return f"{self.server}: {self.nodes} nodes, {self.cameras} cameras{lacks}"


class VirtualHomeClient:
    """A connection to one server. Requests are sequential and stateless."""

    def __init__(self, host: str = "127.0.0.1", port: int = 8080, *, timeout: float = 60.0) -> None:
        self._host, self._port, self._timeout = host, port, timeout
        self._asked = 0

    def ask(
        self,
        action: str,
        *,
        ints: Sequence[int] = (),
        strings: Sequence[str | BaseModel] = (),
        timeout: float | None = None,
    ) -> ProtocolReply:
        """Send any request.

        Args:
            action: of the protocol.
            ints: its `intParams`.
            strings: its `stringParams`; a model goes as JSON.
            timeout: seconds; None for the client's own.

        Raises:
            SimulatorError: no answer, none in time, or none that can be read.
        """
        self._asked += 1
        texts = tuple(s.model_dump_json() if isinstance(s, BaseModel) else s for s in strings)
        request = ProtocolRequest(
            id=str(self._asked), action=action, intParams=tuple(ints), stringParams=texts
        )
        body = self._post(request, self._timeout if timeout is None else timeout)
        try:
            return ProtocolReply.model_validate_json(body)
        except ValidationError as error:
            start = body[:200].decode("utf-8", "replace")
            raise SimulatorError(
                f"{self.address} answered {action!r} outside VirtualHome's protocol: {start!r}"
            ) from error

    @property
    def address(self) -> str:
        """Host and port, as one writes them."""
        return f"{self._host}:{self._port}"

    def health(self) -> Health:
        """Check that a server answers and speaks the protocol. Returns its description.

        Raises:
            SimulatorError: as `ask`.
        """
        replies = {action: self.ask(action) for action in _READ_ONLY}
        missing = tuple(action for action, reply in replies.items() if not reply.success)
        version = self.ask("version")
        nodes = 0 if "environment_graph" in missing else len(self.graph()["nodes"])
        return Health(
            version.message if version.success else "Unity, of a release that it does not tell",
            int(replies["camera_count"].value),
            nodes,
            missing,
        )

    def alive(self, timeout: float = 2.0) -> bool:
        """Whether it answers "idle" within this many seconds."""
        try:
            return self.ask("idle", timeout=timeout).success
        except SimulatorError:
            return False

    def reset(self, scene: int | None = None) -> None:
        """Load a scene; None for the current one.

        Raises:
            SimulatorError: as `ask`, or there is no such scene.
        """
        ints = () if scene is None else (scene,)
        self._must("clear", ints=ints)
        self._must("environment", ints=ints)

    def graph(self) -> Mapping[str, Any]:
        """The environment graph: {"nodes", "edges"}."""
        found: VirtualHomeGraph = self._read(_GRAPH, "environment_graph")
        return dict(found)

    def add_character(self, room: str = "", resource: str = "Chars/Female1") -> None:
        """Put a character into a room; into any if "".

        Raises:
            SimulatorError: as `ask`, or it is refused; gives the reason.
        """
        mode = "fix_room" if room else "random"
        place = CharacterPlace(character_resource=resource, mode=mode, initial_room=room)
        self._must("add_character", strings=(place,))

    def run(self, lines: Sequence[ScriptLine]) -> Failure | None:
        """Execute script lines without recording; None on success."""
        options = {"recording": False, "skip_animation": True, "find_solution": False,
                   "image_synthesis": [], "camera_mode": []}  # fmt: skip
        texts = (json.dumps(options), *map(str, lines))
        reply = self.ask("render_script", strings=texts)
        return None if reply.success else read_script_failure(reply.message)

    def camera_count(self) -> int:
        """Number of cameras of the scene and its characters."""
        return int(self._must("camera_count").value)

    def character_cameras(self) -> Sequence[str]:
        """Names of the cameras of every character."""
        return self._read(_NAMES, "character_cameras")

    def camera_images(
        self, cameras: Sequence[int], *, width: int, height: int, mode: str = "normal"
    ) -> Sequence[NDArray[Any]]:
        """Images: uint8 (H, W, 3), top row first; depth in the server's form.

        Raises:
            SimulatorError: as `ask`, or the reply is not an image.
        """
        options = ImageOptions(mode=mode, image_width=width, image_height=height)
        reply = self._must("camera_image", ints=cameras, strings=(options,))
        if len(reply.message_list) != len(cameras):
            raise SimulatorError(
                f"{self.address} sent {len(reply.message_list)} images of {len(cameras)} cameras."
            )
        return [self._picture(text, mode, (width, height)) for text in reply.message_list]

    def instance_colors(self) -> Mapping[int, Sequence[float]]:
        """Id -> colour in images of the mode "seg_inst", each channel 0..1."""
        return self._read(_COLOURS, "instance_colors")

    def set_time(self, hour: float) -> None:
        """Set the hour of the day, 0 to 24."""
        seconds = round(hour * 3600) % 86400
        time = TimeOfDay(hours=seconds // 3600, minutes=seconds // 60 % 60, seconds=seconds % 60)
        self._must("set_time", strings=(time,))

    def _must(
        self, action: str, *, ints: Sequence[int] = (), strings: Sequence[str | BaseModel] = ()
    ) -> ProtocolReply:
        reply = self.ask(action, ints=ints, strings=strings)
        if not reply.success:
            raise SimulatorError(
                f"{self.address} refused {action!r}: {reply.message or 'no reason given'}"
            )
        return reply

    def _read(self, kind: TypeAdapter[T], action: str, *, ints: Sequence[int] = ()) -> T:
        """The message that answers `action`, which is JSON of this kind."""
        try:
            return kind.validate_json(self._must(action, ints=ints).message)
        except ValidationError as error:
            raise SimulatorError(
                f"{self.address} answered {action!r} outside VirtualHome's protocol: "
                f"{first_problem(error)}"
            ) from error

    def _picture(self, text: str, mode: str, size: tuple[int, int]) -> NDArray[Any]:
        try:
            image = read_image(io.BytesIO(base64.b64decode(text, validate=True)), ("PNG",))
            if image.size != size:
                raise ValueError(f"it has {image.width} x {image.height} pixels")
            return np.asarray(image if mode == "depth" else image.convert("RGB"))
        except ValueError as error:
            raise SimulatorError(f"{self.address} sent an invalid image: {error}") from error

    def _post(self, request: ProtocolRequest, timeout: float) -> bytes:
        line = http.client.HTTPConnection(self._host, self._port, timeout=timeout)
        try:
            line.connect()
            with _ending(line.sock, timeout):
                line.request(
                    "POST", "/", body=request.model_dump_json(),
                    headers={"Content-Type": "application/json", "Connection": "close"},
                )  # fmt: skip
                answer = line.getresponse()
                body = answer.read(_MOST + 1)
            if len(body) > _MOST:
                raise http.client.HTTPException(f"more than {_MOST} bytes")
        except TimeoutError as error:
            raise SimulatorError(
                f"{self.address} did not answer {request.action!r} within {timeout:g} s. It hangs "
                "or is still loading the scene. Increase `timeout`, or restart it."
            ) from error
        except ConnectionRefusedError as error:
            raise SimulatorError(
                f"Nothing listens at {self.address}. Start VirtualHome's Unity build there, set "
                "`executable` to its path, or run `python -m inhabit.envs.virtualhome.server`."
            ) from error
        except (OSError, http.client.HTTPException) as error:
            raise SimulatorError(
                f"{self.address} closed the connection during {request.action!r}: "
                f"{error or type(error).__name__}"
            ) from error
        finally:
            line.close()
        if answer.status != http.client.OK:
            raise SimulatorError(
                f"{self.address} answered {request.action!r} with HTTP {answer.status}: "
                f"{body[:300].decode('utf-8', 'replace')}"
            )
        return body


@contextmanager
def _ending(line: socket.socket, seconds: float) -> Iterator[None]:
    """Hang up when the time is over, whatever arrives meanwhile; that is a TimeoutError then."""
    until = time.monotonic() + seconds
    ending = threading.Timer(seconds, _hang_up, (line,))
    ending.start()
    try:
        yield
    finally:
        ending.cancel()
        # An answer that was cut off may look whole, or be an error of another kind.
        if time.monotonic() >= until:
            raise TimeoutError


def _hang_up(line: socket.socket) -> None:
    with suppress(OSError):  # It is closed already.
        line.shutdown(socket.SHUT_RDWR)
