"""Frames of real AI2-THOR 5 with their metadata: what is called visible there, and here."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from inhabit.envs.core import SceneError
from inhabit.envs.simulators.household.rooms.user_rooms import Catalog
from inhabit.envs.simulators.household.simulator import Simulator


@dataclass(frozen=True, slots=True)
class Agreement:
    """How often two say that something is visible."""

    both: int = 0
    ours: int = 0
    """Here alone."""
    theirs: int = 0
    """In real THOR alone."""

    def __add__(self, other: Agreement) -> Agreement:
        return Agreement(self.both + other.both, self.ours + other.ours, self.theirs + other.theirs)

    @property
    def f1(self) -> float:
        """Harmonic mean of precision and recall, 0 to 1."""
        return 2 * self.both / max(1, 2 * self.both + self.ours + self.theirs)


def visible(folder: Path) -> Agreement:
    """What THOR and the household call visible in every frame of a folder.

    Args:
        folder: of `metadata` saved as JSON, a file for each frame.

    Raises:
        SceneError: there is no frame in it, or one cannot be read.
    """
    catalog = Catalog(folder)
    return sum((_in_frame(path, catalog) for path in frames(folder)), Agreement())


def frames(folder: Path) -> Iterable[Path]:
    """The frames of a folder, in the order of their names."""
    return sorted(folder.glob("*.json"))


def _in_frame(path: Path, catalog: Catalog) -> Agreement:
    metadata = json.loads(path.read_text(encoding="utf-8"))
    simulator = at_frame(path.stem, metadata, catalog)
    seen = simulator.visibility()
    pairs = [(o["visible"], seen[o["objectId"]].visible) for o in metadata["objects"]]
    return Agreement(
        sum(theirs and ours for theirs, ours in pairs),
        sum(ours and not theirs for theirs, ours in pairs),
        sum(theirs and not ours for theirs, ours in pairs),
    )


def at_frame(room: str, metadata: dict[str, Any], catalog: Catalog) -> Simulator:
    """A simulator in the room of a frame, its agent where the frame was taken.

    Raises:
        SceneError: the frame has no pose that the agent can take up.
    """
    simulator = Simulator(room, catalog=catalog)
    agent = metadata["agent"]
    start = {
        "action": "Initialize",
        "fieldOfView": metadata["fov"],
        "width": metadata["screenWidth"],
        "height": metadata["screenHeight"],
    }
    pose = {
        "action": "TeleportFull",
        **agent["position"],
        "rotation": agent["rotation"]["y"],
        "horizon": agent["cameraHorizon"],
        "standing": agent["isStanding"],
        "forceAction": True,
    }
    for request in (start, pose):
        reply = simulator.act(request)
        if not reply.success:
            raise SceneError(f"{room}: {reply.message}")
    return simulator
