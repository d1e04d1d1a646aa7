"""What can be seen from a pose, as the room is now: asked of the simulator, and remembered."""

from __future__ import annotations

from envs.alfred.body import Body, Pose


class Views:
    """Sights from poses. Valid until something in the room changes."""

    def __init__(self, body: Body) -> None:
        self._body = body
        self._known: dict[Pose, frozenset[str]] = {}

    def forget(self) -> None:
        """The room has changed."""
        self._known.clear()

    def at(self, pose: Pose) -> frozenset[str]:
        """Ids of what the agent would notice there. It is set there for a moment, and back."""
        if pose not in self._known:
            before = self._body.pose
            if _stand(self._body, pose):
                near = (thing.id for thing in self._body.world if thing.visible)
                self._known[pose] = frozenset([*self._body.in_view(), *near])
            else:
                self._known[pose] = frozenset()
            _stand(self._body, before)
        return self._known[pose]


def _stand(body: Body, pose: Pose) -> bool:
    return body.tell(
        "TeleportFull",
        position={"x": pose.x, "y": pose.y, "z": pose.z},
        rotation={"x": 0, "y": pose.rotation, "z": 0},
        horizon=pose.horizon,
        standing=True,
        forceAction=True,
    )
