"""The embedded household in Unity's stead: `python -m envs.household`.

AI2-THOR's client starts it (by way of `envs/household/launcher.py`) with Unity's own flags, and
says in the environment how it wants to be spoken to.
"""

from __future__ import annotations

import argparse
import os
import sys
import threading
import time
from collections.abc import Mapping
from pathlib import Path

_LOOK = 0.5
"""Seconds between two looks at whether the client is still there."""


def main() -> None:
    """Serve the client until it hangs up or dies."""
    arguments = _arguments()
    threading.Thread(target=_end_with, args=(arguments.client,), daemon=True).start()
    # Imported late: while they load, the client may die already.
    from envs.household import fifo, packing, wsgi
    from envs.household.session import Session
    from envs.household.simulator import Simulator

    said = os.environ
    simulator = Simulator(width=arguments.screen_width, height=arguments.screen_height)
    pictures = said.get("AI2THOR_SERVER_SIDE_SCREENSHOT", "True") == "True"
    if _told(said, "AI2THOR_SERVER_TYPE") == "WSGI":
        session = Session(simulator, packing.Json(), pictures=pictures)
        wsgi.serve(
            session.first(),
            session.answer,
            _told(said, "AI2THOR_HOST"),
            int(_told(said, "AI2THOR_PORT")),
            _told(said, "AI2THOR_CLIENT_TOKEN"),
        )
    else:
        session = Session(simulator, packing.MessagePack(), pictures=pictures)
        fifo.serve(
            session.first(),
            session.answer,
            Path(_told(said, "AI2THOR_FIFO_SERVER_PIPE_PATH")),
            Path(_told(said, "AI2THOR_FIFO_CLIENT_PIPE_PATH")),
        )


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m envs.household", description=__doc__)
    parser.add_argument("-client", type=int, default=os.getppid(), help="its process id")
    parser.add_argument("-screen-width", type=int, default=300, help="of the pictures, pixels")
    parser.add_argument("-screen-height", type=int, default=300, help="of the pictures, pixels")
    known, _ = parser.parse_known_args()  # the others are Unity's affair
    return known


def _told(said: Mapping[str, str], name: str) -> str:
    if name not in said:
        sys.exit(
            f"{name} is not set. This program is started by AI2-THOR's client: "
            "Controller(local_executable_path=...), see envs/household/launcher.py."
        )
    return said[name]


def _end_with(client: int) -> None:
    """End this process when its parent is no longer `client`.

    The end of the pipe or of the connection tells as much, but not while one is waiting for the
    client to open it.
    """
    while os.getppid() == client:
        time.sleep(_LOOK)
    os._exit(0)


if __name__ == "__main__":
    main()
