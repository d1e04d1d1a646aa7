"""`inhabit setup virtualhome`: installs VirtualHome 2.3.0 and the goal tasks of `eai-eval`.

`pip install virtualhome` fails on new Pythons for its old pins, and its names (`environment`,
`evolving_graph`) conflict with common names, so it gets a separate interpreter, with
what it needs in any release, in the cache folder. Done once, half a minute; broken off, it leaves
nothing behind.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from pathlib import Path

from inhabit.envs.cache import made_once
from inhabit.envs.core import UnavailableError
from inhabit.envs.extras import alone, make_interpreter, unpacked
from inhabit.envs.registry import Need
from inhabit.envs.virtualhome.graph.library import VERSION, home, interpreter, simulation
from inhabit.envs.virtualhome.tasks import scene
from inhabit.envs.virtualhome.unity.client import VirtualHomeClient
from inhabit.envs.virtualhome.world.settings import VirtualHomeSettings


def needs(backend: str) -> Sequence[Need]:
    """What a backend lacks. A Unity build is the user's own: it is ready if one answers."""
    try:
        simulation()
    except UnavailableError:
        return [Need("VirtualHome's evolving graph", "inhabit setup virtualhome")]
    settings = VirtualHomeSettings()
    if backend == "unity" and not VirtualHomeClient(settings.host, settings.port).alive():
        return [
            Need(
                f"VirtualHome's Unity build, which you provide (no server answers at port "
                f"{settings.port})",
                "get release 2.3.0 for your system, then --set executable=PATH; or start it and "
                "pass --set port=PORT",
            )
        ]
    return []


_NEEDED = (
    *("numpy", "networkx", "requests", "opencv-python-headless", "pillow", "matplotlib", "tqdm"),
    *("termcolor", "plotly", "ipdb"),
)
"""Dependencies of VirtualHome's client and evolving graph."""
_EAI = "eai-eval==1.0.5"
_EAI_FOLDER = "virtualhome_eval"


def missing_task_data() -> Sequence[Need]:
    """Data that `--tasks eai` needs and that is not installed."""
    try:
        scene.folder()
    except UnavailableError:
        fix = "inhabit setup virtualhome, or set INHABIT_EAI to the folder virtualhome_eval"
        return [Need("the goal tasks of eai-eval (--tasks eai)", fix)]
    return []


def prepare(backend: str, tell: Callable[[str], None]) -> None:
    """Install what is missing. Safe to run twice, also at the same time.

    Args:
        backend: any; both need the same.
        tell: called with a message for each step.

    Raises:
        UnavailableError: pip failed; the message quotes its last output.
    """
    with alone(home()):
        if not interpreter().exists():
            tell(f"VirtualHome {VERSION}: creating its interpreter in {home()} (half a minute).")
            shutil.rmtree(interpreter().parents[1], ignore_errors=True)  # Without its python.
            made_once(interpreter().parents[1], _make_interpreter)
        tell(f"VirtualHome {VERSION}: in {simulation()}.")
        if not (home() / "eai" / _EAI_FOLDER).is_dir():
            tell(f"{_EAI}: downloading its goal tasks (27 MB).")
            unpacked(_EAI, f"{_EAI_FOLDER}/", home() / "eai", str(interpreter()))
        tell(f"{_EAI}: in {home() / 'eai'}.")


def _make_interpreter(venv: Path) -> None:
    own = ("--no-deps", f"virtualhome=={VERSION}")
    make_interpreter(venv, ("--only-binary", ":all:", *_NEEDED), own)
    found = [*venv.glob("lib/python3*/site-packages/virtualhome/simulation/evolving_graph")]
    if not found:
        raise UnavailableError(f"virtualhome=={VERSION} was installed without its evolving graph.")
