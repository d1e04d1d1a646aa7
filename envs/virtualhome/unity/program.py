"""The Unity program: it is started, and acts for the graph."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from errno import EADDRINUSE
from hashlib import sha256
from typing import Any

import numpy as np
from numpy.typing import NDArray

from inhabit.envs.core import Determinism, SceneError, SimulatorError, UnavailableError
from inhabit.envs.files import expanded
from inhabit.envs.host.process_group import ProcessGroup
from inhabit.envs.host.server_gate import is_our_server
from inhabit.envs.virtualhome.graph.verbs import ScriptLine
from inhabit.envs.virtualhome.graph.world import Failure, FlatWorld
from inhabit.envs.virtualhome.tasks.scene import VirtualHomeScene, build_world
from inhabit.envs.virtualhome.unity.client import VirtualHomeClient
from inhabit.envs.virtualhome.world.settings import VirtualHomeSettings

_PAUSE = 0.2
"""Seconds between questions whether Unity answers yet."""
_GRACE = 1.0
"""Seconds for it to exit after a request: less than the time that a worker has to close."""
_LAST = 15
"""Number of log lines quoted in errors."""


class Unity:
    """A simulator that we started, at a free port of its own. It ends with `close`, or with us."""

    def __init__(self, executable: str, *, graphics: bool, timeout: float) -> None:
        """Start it and wait until it answers.

        Args:
            executable: path of the build, such as linux_exec.v2.3.0.x86_64.
            graphics: False if no images are needed.
            timeout: seconds until it must answer.

        Raises:
            UnavailableError: there is no such build, or it can't be run.
            SimulatorError: it ended or hung; quotes its last output.
        """
        # What is started stands in a folder of its own.
        path = expanded(executable).absolute()
        if not path.is_file() or not os.access(path, os.X_OK):
            raise UnavailableError(
                f"{path} is not an executable file. Set `executable` to VirtualHome's Unity "
                "build (linux_exec.v2.3.0.x86_64), unpacked and made executable."
            )
        self._port = FreePort()
        self._group = ProcessGroup("inhabit-unity-")
        self._log = self._group.folder / "player.log"
        self._output = self._group.folder / "output.txt"
        command = [str(path), "-batchmode", f"-http-port={self.port}", "-logFile", str(self._log)]
        if not graphics:
            command.append("-nographics")
        try:
            with self._output.open("wb") as output:
                self._process = self._group.start(
                    command, stdout=output, stderr=output, cwd=self._group.folder
                )
            self._wait(timeout)
        except OSError as error:
            self.close()
            raise UnavailableError(f"Can't run {path}: {error}.") from error
        except BaseException:
            self.close()
            raise

    @property
    def port(self) -> int:
        """Where it listens, on this machine."""
        return self._port.number

    def last_words(self) -> str:
        """The end of what it wrote."""
        texts = [p.read_text("utf-8", "replace") for p in (self._output, self._log) if p.exists()]
        return "\n".join("\n".join(texts).strip().splitlines()[-_LAST:]) or "(it wrote nothing)"

    @property
    def ended(self) -> int | None:
        """Exit code of Unity; None while it runs."""
        return self._process.poll()

    def close(self) -> None:
        """End it, and what it started. Safe to call twice."""
        if hasattr(self, "_process"):
            self._process.terminate()
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(_GRACE)
            self._group.kill()
            self._process.wait()
        self._group.close()
        self._port.close()

    def _wait(self, timeout: float) -> None:
        client = VirtualHomeClient(port=self.port)
        end = time.monotonic() + timeout
        while True:
            if self.ended is not None:
                raise SimulatorError(
                    f"Unity ended with code {self.ended} while it started. Its last output:\n"
                    f"{self.last_words()}"
                )
            if client.alive():
                if not is_our_server(self.port):
                    raise SimulatorError(f"Another user's program listens at port {self.port}.")
                return
            # Checked last: it may have become ready while this process was stopped.
            if time.monotonic() > end:
                break
            time.sleep(_PAUSE)
        raise SimulatorError(
            f"Unity did not answer at port {self.port} within {timeout:g} s. Its last output:\n"
            f"{self.last_words()}"
        )


class FreePort:
    """A free TCP port of this machine that no other worker uses.

    It has to be free when the simulator opens it, so that it can't be held open meanwhile. What is
    held instead is a socket that is named after it, outside of the file system: the kernel lets go
    of that with the process.
    """

    def __init__(self) -> None:
        """Choose a port.

        Raises:
            SimulatorError: no port is free.
        """
        self._held = socket.socket(socket.AF_UNIX)
        for _ in range(100):
            with socket.socket() as probe:
                probe.bind(("127.0.0.1", 0))
                self.number: int = probe.getsockname()[1]
                with suppress(OSError):
                    self._held.bind(f"\0inhabit-port-{self.number}")
                    return
        self._held.close()
        raise SimulatorError("Found no free port for Unity.")

    def close(self) -> None:
        """Let others have it."""
        self._held.close()


_CAMERAS: Mapping[str, Sequence[str]] = {
    "first_person": ("FIRST_PERSON", "PERSON_FRONT"),
    "over_the_shoulder": ("PERSON_FROM_BACK", "PERSON_BACK"),
    "top_down": ("PERSON_TOP",),
}
"""The character's camera for a view, by the names that releases have for it."""


class Remote:
    """Drives a server. The graph fetched after every line determines what happened."""

    determinism = Determinism.NONE

    def __init__(self, settings: VirtualHomeSettings) -> None:
        """Start the user's Unity build, or connect to what listens.

        Raises:
            UnavailableError: `executable` is not a program.
            SimulatorError: it did not start, nothing answers, or it serves another of us.
        """
        self._settings = settings
        self._unity: Unity | None = None
        if settings.executable is not None:
            self._unity = Unity(
                settings.executable, graphics=settings.view != "none", timeout=settings.timeout
            )
        host, port = settings.host, settings.port
        if self._unity is not None:
            host, port = "127.0.0.1", self._unity.port
        self._client = VirtualHomeClient(host, port, timeout=settings.timeout)
        self._equivalence: Mapping[str, Sequence[str]] = {}
        self._hour = 12.0
        self._camera = 0
        self._held = socket.socket(socket.AF_UNIX)
        try:
            self._claim()
            self._refuse_others()
        except SimulatorError:
            self.close()
            raise

    def reset(self, scene: VirtualHomeScene) -> FlatWorld:
        """Load the flat's plan, and change it to the scene's graph.

        Raises:
            SceneError: the scene cannot be built, or the simulator cannot take its graph.
            SimulatorError: the simulator failed.
        """
        wanted = build_world(scene)
        self._equivalence, self._hour = wanted.equivalence, scene.time
        self._client.reset(scene.flat or 0)
        reply = self._client.ask("expand_scene", strings=("{}", json.dumps(wanted.graph())))
        if not reply.success:
            raise SceneError(f"{self._client.address} can't load this scene: {reply.message}")
        self._client.set_time(scene.time)
        world = self._fetch()
        if not world.characters():
            self._client.add_character(scene.room if scene.eai is None else "")
            world = self._fetch()
        if self._settings.view != "none":
            self._camera = self._camera_of(self._settings.view)
        return world

    def run(self, world: FlatWorld, line: ScriptLine) -> tuple[FlatWorld, Failure | None]:
        """Execute one line there, and fetch what it made of the flat.

        Raises:
            SimulatorError: the simulator failed; with its last output if we started it.
        """
        try:
            failure = self._client.run([line])
            return (world, failure) if failure is not None else (self._fetch(), None)
        except SimulatorError as error:
            raise self._with_last_words(error) from error

    def picture(self, world: FlatWorld) -> NDArray[np.uint8] | None:
        """What its camera shows: the world is where it is, not necessarily where `world` is."""
        if self._settings.view == "none":
            return None
        width, height = self._settings.width, self._settings.height
        (image,) = self._client.camera_images([self._camera], width=width, height=height)
        return np.asarray(image, np.uint8)

    def pixels(self, world: FlatWorld) -> Mapping[int, int]:
        """Counted by colour in its image of instances, taken from the same camera."""
        if self._settings.view == "none":
            return {}
        width, height = self._settings.width, self._settings.height
        (image,) = self._client.camera_images(
            [self._camera], width=width, height=height, mode="seg_inst"
        )
        codes, counts = np.unique(_code(np.asarray(image, np.int64)), return_counts=True)
        shown = dict(zip(codes.tolist(), counts.tolist(), strict=True))
        colors = self._client.instance_colors()
        found = {
            i: shown.get(int(_code(np.round(255 * np.array(c[:3])))), 0) for i, c in colors.items()
        }
        return {i: count for i, count in found.items() if count}

    def close(self) -> None:
        """Stop what we started; leave alone what we found."""
        if self._unity is not None:
            self._unity.close()
            self._unity = None
        self._held.close()

    def _claim(self) -> None:
        """Have the server alone, as `FreePort` does: it has one flat."""
        try:
            address = sha256(self._client.address.encode()).hexdigest()[:32]  # Paths are short.
            self._held.bind(f"\0inhabit-server-{address}")
        except OSError as error:
            if error.errno == EADDRINUSE:
                raise SimulatorError(
                    f"Another worker uses {self._client.address}, which has one flat. Use "
                    "--workers 1, or `executable`, which starts a simulator for each worker."
                ) from error

    def _refuse_others(self) -> None:
        health = self._client.health()
        if health.missing:
            raise SimulatorError(
                f"{self._client.address} is not release 2.3.0: it refuses "
                f"{', '.join(health.missing)} ({health})."
            )

    def _fetch(self) -> FlatWorld:
        return FlatWorld.of(self._client.graph(), self._equivalence, self._hour)

    def _camera_of(self, view: str) -> int:
        names = self._client.character_cameras()
        known = [name for name in _CAMERAS[view] if name in names]
        if not known:
            raise SimulatorError(
                f"{self._client.address} has no camera for the view {view!r}: a character's are "
                f"{', '.join(names) or 'unknown'}."
            )
        return self._client.camera_count() - len(names) + [*names].index(known[0])

    def _with_last_words(self, error: SimulatorError) -> SimulatorError:
        if self._unity is None:
            return error
        ended = self._unity.ended
        state = "still runs" if ended is None else f"has ended with code {ended}"
        return SimulatorError(
            f"{error}\nUnity {state}. Its last words:\n{self._unity.last_words()}"
        )


def _code(rgb: NDArray[Any]) -> NDArray[np.int64]:
    """Colours, 0 to 255 along the last axis, as one number each."""
    return rgb.astype(np.int64) @ np.array((65536, 256, 1), np.int64)
