"""The embedded simulator, in place of Unity: `python -m inhabit.envs.simulators.household.wire`.

AI2-THOR's client starts it (through `launcher.py`) with Unity's own flags, and sets
environment variables that select the protocol.
"""

from __future__ import annotations

import argparse
import os
import sys
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING

from inhabit.envs.simulators.household.wire import fifo, wsgi

if TYPE_CHECKING:
    from inhabit.envs.simulators.household.wire.session import ClientSession

RELEASE = "INHABIT_THOR_CLIENT"
"""Environment variable for the client's release, set by `inhabit thor`."""
_LOOK = 0.5
"""Seconds between two checks that the client is alive."""


def main() -> None:
    """Serve the client until it disconnects or ends."""
    arguments = _arguments()
    threading.Thread(target=_end_with, args=(arguments.client,), daemon=True).start()
    # Release 2.1.0 of the client sets no server type: it supports HTTP only.
    wire = os.environ.get("AI2THOR_SERVER_TYPE")
    release = "2.1.0" if wire is None else os.environ.get(RELEASE, "")
    over_http = wire in (None, "WSGI")

    def begin() -> ClientSession:
        # Imported late: it is slow, and errors raised here are reported to the client.
        from inhabit.envs.simulators.household.rooms.user_rooms import Catalog
        from inhabit.envs.simulators.household.simulator import Simulator
        from inhabit.envs.simulators.household.wire.packing import Json, MessagePack
        from inhabit.envs.simulators.household.wire.session import ClientSession

        simulator = Simulator(
            width=arguments.screen_width,
            height=arguments.screen_height,
            catalog=Catalog.of(
                arguments.rooms,
                recorded=arguments.recorded_cells,
                as_thor=not arguments.for_tasks,
            ),
            release="" if arguments.for_tasks else release or "5.0.0",
        )
        pictures = os.environ.get("AI2THOR_SERVER_SIDE_SCREENSHOT", "True") == "True"
        form = Json() if over_http else MessagePack()
        return ClientSession(simulator, form, pictures=pictures, release=release)

    if over_http:
        token = _variable("AI2THOR_CLIENT_TOKEN")
        wsgi.serve(begin, _variable("AI2THOR_HOST"), int(_variable("AI2THOR_PORT")), token)
    else:
        writing = Path(_variable("AI2THOR_FIFO_SERVER_PIPE_PATH"))
        fifo.serve(begin, writing, Path(_variable("AI2THOR_FIFO_CLIENT_PIPE_PATH")))


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m inhabit.envs.simulators.household.wire", description=__doc__
    )
    parser.add_argument("-client", type=int, default=os.getppid(), help="its process id")
    parser.add_argument("-screen-width", type=int, default=300, help="of the images, pixels")
    parser.add_argument("-screen-height", type=int, default=300, help="of the images, pixels")
    parser.add_argument("-rooms", default="", help="a folder with the user's rooms")
    parser.add_argument(
        "-recorded-cells", action="store_true", help="use THOR's recorded reachable positions"
    )
    parser.add_argument(
        "-for-tasks", action="store_true", help="use the rooms and rules of inhabit's own tasks"
    )
    known, _ = parser.parse_known_args()  # the rest are Unity's
    return known


def _variable(name: str) -> str:
    if name not in os.environ:
        sys.exit(
            f"{name} is not set. This program is started by AI2-THOR's client: "
            "Controller(local_executable_path=...), see envs/simulators/household/launcher.py."
        )
    return os.environ[name]


def _end_with(client: int) -> None:
    """End this process when its parent is no longer `client`.

    A closed pipe or connection also shows that the client has ended, but not while this process
    waits for the client to open it.
    """
    while os.getppid() == client:
        time.sleep(_LOOK)
    os._exit(0)


if __name__ == "__main__":
    main()
