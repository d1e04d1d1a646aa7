"""The grids recorded with THOR's agent by ALFRED's authors, if installed.

They come with the package alfworld (Shridhar et al. 2021), of which only its files are read. They
leave out some cells; what ALFRED's experts walked on in 1,000 of its training trajectories is
added from a file beside this one.
"""

from __future__ import annotations

import json
from functools import cache
from importlib.util import find_spec
from pathlib import Path

import numpy as np

from inhabit.envs.simulators.household.geometry.outline import STEP, Cell

_WALKED = Path(__file__).with_name("walked.json")


@cache
def folder() -> Path | None:
    """Folder of the grids; None if the package is not installed."""
    spec = find_spec("alfworld")  # found, not imported: it would want a game engine
    for place in (spec.submodule_search_locations or ()) if spec else ():
        path = Path(place) / "gen" / "layouts"
        if path.is_dir():
            return path
    return None


def cells(room: str) -> frozenset[Cell] | None:
    """Recorded or visited cells of a room; None if it has no recorded grid."""
    recorded = layout(room)
    return None if recorded is None else recorded | walked().get(room, frozenset())


def layout(room: str) -> frozenset[Cell] | None:
    """The recorded cells of a room alone; None if it has no recorded grid."""
    home = folder()
    file = None if home is None else home / f"{room}-layout.npy"
    if file is None or not file.is_file():
        return None
    recorded = np.rint(np.load(file, allow_pickle=False)[:, :2] / STEP).astype(int).tolist()
    return frozenset((column, row) for column, row in recorded)


@cache
def walked() -> dict[str, frozenset[Cell]]:
    """The cells that ALFRED's experts walked on, by room."""
    rooms = json.loads(_WALKED.read_text(encoding="utf-8"))
    return {room: frozenset((c, r) for c, r in walked) for room, walked in rooms.items()}
