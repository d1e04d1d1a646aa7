"""Where AI2-THOR's agent is known to have stood, by room."""

from __future__ import annotations

import json
import tarfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from inhabit.envs.simulators.household.geometry import grid
from inhabit.envs.simulators.household.geometry.boxes import STEP, Cell
from inhabit.envs.simulators.household.rooms.ithor import SCENES

_MOVES = {"MoveAhead": 0, "MoveRight": 90, "MoveBack": 180, "MoveLeft": 270}
_TURNS = {"RotateRight": 90, "RotateLeft": -90}
_AHEAD = {0: (0, 1), 90: (1, 0), 180: (0, -1), 270: (-1, 0)}


@dataclass(slots=True)
class Evidence:
    """What real AI2-THOR showed of one room."""

    layout: frozenset[Cell]
    """The cells of ALFRED's grid."""
    poses: set[tuple[float, float]] = field(default_factory=set)
    """x and z in metres of the start poses of VAGEN's tasks."""
    walks: list[list[Cell]] = field(default_factory=list)
    """The cells that each of ALFRED's experts moved to."""


def read(data: Path) -> Mapping[str, Evidence]:
    """All evidence, by room.

    Args:
        data: a folder with ALFRED's trajectories in `alfred/*.tar.xz` and VAGEN's tasks in
            `navigation/*.tar.xz`.

    Raises:
        SystemExit: an archive or the package alfworld is missing.
    """
    alfred = sorted((data / "alfred").glob("*.tar.xz"))
    vagen = sorted((data / "navigation").glob("*.tar.xz"))
    if not alfred or not vagen:
        raise SystemExit(f"{data} needs alfred/*.tar.xz and navigation/*.tar.xz.")
    rooms = {}
    for room in SCENES:
        layout = grid.recorded_layout(room)
        if layout is None:
            raise SystemExit("The recorded grids are missing. Run `inhabit setup alfred`.")
        rooms[room] = Evidence(layout)
    for archive in vagen:
        for content in _members(archive, ".json"):
            for task in content.get("tasks", ()):
                place = task["agentPose"]["position"]
                rooms[task["scene"]].poses.add((round(place["x"], 2), round(place["z"], 2)))
    for archive in alfred:
        for content in _members(archive, "traj_data.json"):
            rooms[content["scene"]["floor_plan"]].walks.append(list(_walk(content)))
    return rooms


def _members(archive: Path, ending: str) -> Iterator[Any]:
    with tarfile.open(archive) as opened:
        for member in opened:
            stream = opened.extractfile(member) if member.name.endswith(ending) else None
            if stream is not None:
                yield json.load(stream)


def _walk(trajectory: Mapping[str, Any]) -> Iterator[Cell]:
    start = trajectory["scene"]["init_action"]
    column, row = round(start["x"] / STEP), round(start["z"] / STEP)
    turn = round(start["rotation"]) % 360
    for step in trajectory["plan"]["low_actions"]:
        action = step["api_action"]["action"]
        turn = (turn + _TURNS.get(action, 0)) % 360
        if action in _MOVES:
            right, ahead = _AHEAD[(turn + _MOVES[action]) % 360]
            column, row = column + right, row + ahead
            yield column, row
