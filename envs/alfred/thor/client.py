"""The clients of AI2-THOR: the package's own, and the controller that starts it."""

from __future__ import annotations

import contextlib
import os
import queue
import shlex
import signal
import struct
import threading
from collections.abc import Iterator
from pathlib import Path
from subprocess import Popen, TimeoutExpired
from typing import Any, Literal

from ai2thor.controller import Controller
from ai2thor.fifo_server import FifoServer
from ai2thor.wsgi_server import WsgiServer

from inhabit.envs.core import SimulatorError, UnavailableError
from inhabit.envs.files import expanded
from inhabit.envs.host.credentials import without_credentials
from inhabit.envs.host.pipes import Countdown
from inhabit.envs.host.process_group import ProcessGroup

Wire = Literal["fifo", "wsgi"]

_SERVERS = {"fifo": FifoServer, "wsgi": WsgiServer}
_END_OF_MESSAGE = struct.pack("!BI", 255, 0)
_SHOWN_LINES = 20
_GLANCE = 0.05
"""Seconds between two checks of a starting simulator."""
_LAST_WORDS = 1.0
"""Seconds to wait for a simulator to print its error."""


class Client(Controller):  # type: ignore[misc]
    """AI2-THOR's client, which also detects a failed simulator.

    With a deadline, a simulator that hangs is killed; otherwise the client waits.
    """

    def __init__(
        self,
        executable: str,
        wire: Wire,
        *,
        start_seconds: float = 300.0,
        step_seconds: float | None = None,
        **arguments: Any,
    ) -> None:
        """Start the simulator and load its first scene.

        Args:
            executable: the program to start.
            wire: named pipes ("fifo", faster) or HTTP ("wsgi").
            start_seconds: timeout for starting and loading the first scene.
            step_seconds: timeout of every later request; None for no limit.
            arguments: further arguments of `Controller`.

        Raises:
            SimulatorError: it did not start, or refuses its initialization.
            ValueError: there is no such scene.
        """
        self._group = ProcessGroup("inhabit-thor-")
        self._started = threading.Event()
        self._simulator: Popen[bytes] | None = None
        self._first_server: Any = None
        self._start_seconds, self._step_seconds = start_seconds, step_seconds
        self._hung = ""
        try:
            super().__init__(
                # The client splits it like a shell does.
                local_executable_path=shlex.quote(executable),
                server_class=_SERVERS[wire],
                # Given a number, the client polls a pipe whose writer is dead at full speed until
                # the time is up; given none, it reads, and a death ends that at once.
                server_timeout=None,
                **arguments,
            )
        except BaseException:
            self.stop()
            raise

    @property
    def base_dir(self) -> str:
        """Create a log folder for this simulator.

        So the client writes nothing to the home directory and prunes no builds there.
        """
        return str(self._group.folder)

    def start(self, *arguments: Any, **more: Any) -> Any:
        """Start the simulator, once: the client would silently restart a crashed one.

        Raises:
            SimulatorError: it did not start, or has crashed since.
        """
        if self._started.is_set():
            self.server = self._first_server  # The client has dropped it and will not stop it.
            raise self._failure(f"crashed in {self.last_action.get('action')!r}")
        try:
            with self._watched("start", self._start_seconds):
                event = super().start(*arguments, **more)
        except Exception as error:
            raise self._failure("did not start", error) from error
        self._started.set()
        return event

    def reset(self, scene: Any = None, **initialization: Any) -> Any:
        """Load a scene and initialize it.

        Raises:
            SimulatorError: the simulator died, or refuses the initialization.
            ValueError: there is no such scene.
        """
        try:
            with self._watched(f"reset to {scene!r}", self._step_seconds):
                return super().reset(scene, **initialization)
        except Exception as error:
            # A simulator that is about to end sends an empty message, which is a ValueError too.
            if self._is_an_answer(error, patience=_LAST_WORDS):
                raise
            raise self._failure(f"failed in reset to {scene!r}", error) from error

    def step(self, action: Any = None, **arguments: Any) -> Any:
        """Carry out one action.

        Raises:
            SimulatorError: the simulator died.
            ValueError: there is no such action, or its arguments are wrong.
        """
        try:
            with self._watched(f"{action!r}", self._step_seconds):
                return super().step(action, **arguments)
        except Exception as error:
            if self._is_an_answer(error):
                raise
            raise self._failure(f"failed in {action!r}", error) from error

    def stop(self) -> None:
        """End the simulator. Safe to call twice."""
        self._started.set()  # No request is pending.
        if self.server is not None:
            # After a failure the client may be unable to stop in order.
            with contextlib.suppress(OSError, AssertionError, queue.Full):
                super().stop()
        if self._simulator is not None:
            self._simulator.kill()
            self._simulator.wait()
        self._group.close()

    def printed(self) -> list[str]:
        """The last lines that the simulator has printed, oldest first."""
        log = Path(self.log_dir, "unity.log")
        if not log.exists():
            return []
        return log.read_text(errors="replace").splitlines()[-_SHOWN_LINES:]

    def unity_command(self, *arguments: Any, **more: Any) -> list[str]:
        """The client's process: the simulator, in a group that ends with this process."""
        return self._group.joining(super().unity_command(*arguments, **more))

    def _start_unity_thread(self, env: dict[str, str], *arguments: Any, **more: Any) -> None:
        super()._start_unity_thread(without_credentials(env), *arguments, **more)
        self._first_server, self._simulator = self.server, self.server.unity_proc
        if isinstance(self.server, FifoServer):
            pipe = self.server.server_pipe_path
            threading.Thread(target=self._watch_start, args=(pipe,), daemon=True).start()

    def _watch_start(self, pipe: str) -> None:
        """Wake the client, which waits for a first message, if the simulator ends before that.

        Opening a pipe waits for the other side for ever; an empty message ends that with an error.
        """
        assert self._simulator is not None
        while self._simulator.poll() is None:
            if self._started.wait(_GLANCE):
                return
        while not self._started.wait(_GLANCE):
            with contextlib.suppress(OSError):
                descriptor = os.open(pipe, os.O_WRONLY | os.O_NONBLOCK)
                with os.fdopen(descriptor, "wb") as writing:
                    writing.write(_END_OF_MESSAGE)
                return

    @contextlib.contextmanager
    def _watched(self, what: str, seconds: float | None) -> Iterator[None]:
        """Kill the simulator if it does not answer in time, which wakes the waiting client."""
        if seconds is None:
            yield
            return
        answered = threading.Event()
        waiting = (answered, seconds, f"{what} for {seconds:g} s")
        threading.Thread(target=self._give_up, args=waiting, daemon=True).start()
        try:
            yield
        finally:
            answered.set()

    def _give_up(self, answered: threading.Event, seconds: float, waited: str) -> None:
        countdown = Countdown(seconds)
        while not answered.wait(left := countdown.next_wait()):
            if left == 0:
                self._hung = f"did not answer {waited} and was killed"
                self._group.kill()
                return

    def _is_an_answer(self, error: Exception, patience: float = 0.0) -> bool:
        """Whether it is already a `SimulatorError`, or a running simulator's refusal."""
        if isinstance(error, SimulatorError):
            return True
        # The client's error for an empty last message, which a simulator sends before it ends.
        if not isinstance(error, ValueError) or str(error).startswith("no metadata received"):
            return False
        return self._exit_status(patience) is None

    def _exit_status(self, patience: float) -> int | None:
        """How the simulator has ended; None if it runs even after `patience` seconds."""
        if self._simulator is None:
            return None
        with contextlib.suppress(TimeoutExpired):
            return self._simulator.wait(patience)
        return None

    def _failure(self, what: str, error: BaseException | None = None) -> SimulatorError:
        """An error with the simulator's exit status and output."""
        code = self._exit_status(_LAST_WORDS)
        if self._hung:
            what, code, error = self._hung, -signal.SIGKILL, ValueError()
        # The client raises "Error encountered" with the cause as its context.
        why = error and (error.__context__ or error)
        if code is None:
            what += f" ({type(why).__name__}: {why})"
        elif code != -signal.SIGKILL or not isinstance(why, ValueError):
            what += f" (exit status {code})"
        # Otherwise it reported its own failure, and the client killed it.
        lines = self.printed()
        said = "\n".join(["The last lines it printed:", *lines]) if lines else "It printed nothing."
        return SimulatorError(f"The simulator {what}. {said}")


__all__ = ["Client", "start"]

_NEVER = 86_400.0
"""Seconds of the client's own limit, which the clock alone decides, while ours heeds how busy the
machine is."""
_UNITY_STEP = 120.0
"""Seconds that one step may take in Unity: the slowest scenes take half a minute to load."""


def start(
    backend: str,
    *,
    scene: str,
    executable: str | None = None,
    display: str | None = None,
    wire: Wire = "fifo",
    width: int = 300,
    height: int = 300,
    start_seconds: float = 300.0,
    step_seconds: float | None = None,
    rooms: str = "",
    recorded: bool = False,
    **initialization: Any,
) -> Client:
    """Start a simulator and connect AI2-THOR's client to it.

    Args:
        backend: "embedded", or "unity" for a user's own build.
        scene: the first one to load, such as "FloorPlan1".
        executable: for Unity, the build's executable file.
        display: for Unity, an X display such as ":0"; by default that of the environment.
        wire: named pipes or HTTP.
        width: of the images, pixels.
        height: of the images, pixels.
        start_seconds: timeout for starting the simulator, seconds.
        step_seconds: timeout of each request, seconds; None for two minutes with Unity and no
            limit with the embedded simulator.
        rooms: for the embedded simulator, a folder with the user's rooms.
        recorded: for the embedded simulator, whether the reachable positions in iTHOR's rooms are
            those recorded in THOR.
        initialization: parameters of THOR's `Initialize`, such as `gridSize=0.25`.

    Raises:
        UnavailableError: the build or the display is missing.
        SimulatorError: the simulator did not start.
        ValueError: there is no such scene, or an initialization parameter is wrong.
    """
    arguments = {
        "scene": scene,
        "width": width,
        "height": height,
        # Ours comes first: it says why, and kills.
        "server_start_timeout": _NEVER,
        "start_seconds": start_seconds,
        **initialization,
    }
    display = display or os.environ.get("DISPLAY")
    if backend == "embedded":
        from inhabit.envs.simulators.household.launcher import executable as embedded

        # The client insists on the name of a display; the embedded household opens none. And where
        # it reads the number of a GPU, it runs tools that belong to Unity's build for clusters.
        with _without("CUDA_VISIBLE_DEVICES"):
            path = embedded(rooms=rooms, recorded=recorded, for_tasks=True)
            return Client(
                str(path), wire, x_display=display or ":0", step_seconds=step_seconds, **arguments
            )
    if executable is not None:
        # The client starts it from another folder.
        executable = str(expanded(executable).absolute())
    if executable is None or not os.access(executable, os.X_OK):
        raise UnavailableError(
            f"The unity backend needs the executable of an AI2-THOR build, and {executable!r} is "
            "not a file. Pass --set executable=PATH, or use --backend embedded."
        )
    if not display:
        raise UnavailableError(
            "Unity needs an X display, and DISPLAY is not set. Without a screen, use "
            "`xvfb-run -a inhabit ...`."
        )
    return Client(
        executable, wire, x_display=display, step_seconds=step_seconds or _UNITY_STEP, **arguments
    )


@contextlib.contextmanager
def _without(name: str) -> Iterator[None]:
    value = os.environ.pop(name, None)
    try:
        yield
    finally:
        if value is not None:
            os.environ[name] = value
