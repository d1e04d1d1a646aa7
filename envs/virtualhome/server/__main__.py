"""`python -m inhabit.envs.virtualhome.server`: VirtualHome's Unity protocol, over the evolving
graph.
"""

from __future__ import annotations

import argparse
import sys

from inhabit.envs.core import SceneError, SimulatorError, UnavailableError
from inhabit.envs.virtualhome.server.flat import Flat
from inhabit.envs.virtualhome.server.listen import LOOPBACK, Server


def main() -> int:
    """Serve until interrupted. 0, or 3 where something is lacking or the port is taken."""
    parser = argparse.ArgumentParser(
        prog="python -m inhabit.envs.virtualhome.server", description=__doc__
    )
    parser.add_argument("--port", type=_port, default=8080, help="0 for any that is free")
    parser.add_argument("--flat", type=int, default=0, help="the first scene: 0 to 6")
    parser.add_argument("--seed", type=int, default=0, help="what stands where in the flats")
    chosen = parser.parse_args()
    try:
        flat = Flat(chosen.flat, chosen.seed)
        # Compiles the renderer where that was not done: clients wait 30 seconds for an image.
        for rgb in (True, False):
            flat.take(0, 64, 64, rgb=rgb)
        with Server(flat, chosen.port) as server:
            sys.stderr.write(f"Listening at {LOOPBACK}:{server.server_port}, flat {chosen.flat}.\n")
            sys.stderr.flush()
            server.serve_forever()
    except (UnavailableError, SimulatorError, SceneError) as error:
        sys.stderr.write(f"{error}\n")
        return 3
    except KeyboardInterrupt:
        pass
    return 0


def _port(text: str) -> int:
    if not text.isdecimal() or int(text) > 65535:
        raise argparse.ArgumentTypeError(f"{text!r} is not a port (0 to 65535)")
    return int(text)


if __name__ == "__main__":
    sys.exit(main())
