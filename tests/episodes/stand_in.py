"""A program in the place of a Unity build that is as hard to end as one can be.

It minds no signal that can be minded, and so does a program that it starts. What it serves is ours:
VirtualHome's protocol or AI2-THOR's.
"""

from __future__ import annotations

import stat
import sys
from pathlib import Path

_DEAF = """
import signal, subprocess, sys
for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
    signal.signal(number, signal.SIG_IGN)
subprocess.Popen([sys.executable, "-c", "import time; time.sleep(1000)", "started by a stand-in"])
"""
_VIRTUALHOME = """
from inhabit.envs.virtualhome.server.__main__ import main
port = next(a.split("=")[1] for a in sys.argv if a.startswith("-http-port="))
sys.argv = ["server", "--port", port]
sys.exit(main())
"""
_THOR = """
from inhabit.envs.simulators.household.wire.__main__ import main
main()
"""
_SERVED = {"virtualhome": _VIRTUALHOME, "alfred": _THOR}


def stand_in(folder: Path, env: str) -> Path:
    """Write the program for `env` into `folder`."""
    path = folder / f"stand-in-{env}"
    path.write_text(f"#!{sys.executable}\n{_DEAF}{_SERVED[env]}")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return path
