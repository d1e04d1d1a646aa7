"""What is visible from a pose, asked of the simulator and cached."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from inhabit.envs.alfred.thor.body import AgentBody, AgentPose


class Views:
    """Caches visibility by pose until the room changes.

    The agent is teleported to the pose; `away` returns it to its own.
    """

    def __init__(self, body: AgentBody) -> None:
        self._body = body
        self._visible: dict[AgentPose, frozenset[str]] = {}
        self._noticed: dict[AgentPose, frozenset[str]] = {}

    def copy(self) -> Views:
        """An independent copy."""
        twin = Views(self._body)
        twin._visible, twin._noticed = dict(self._visible), dict(self._noticed)
        return twin

    def forget(self) -> None:
        """Drop the cache after a change of the room."""
        self._visible.clear()
        self._noticed.clear()

    @contextmanager
    def away(self) -> Iterator[None]:
        """Allow views inside the block; the agent returns to its pose at the end."""
        before = self._body.pose
        try:
            yield
        finally:
            if self._body.pose != before:
                self._body.place(before, blind=True)

    def visible(self, pose: AgentPose) -> frozenset[str]:
        """Ids of the objects that can be interacted with from a pose; empty if the pose is
        impossible.
        """
        if pose not in self._visible:
            there = self._body.place(pose, blind=True)
            self._visible[pose] = frozenset(self._body.near() if there else ())
        return self._visible[pose]

    def noticed(self, pose: AgentPose) -> frozenset[str]:
        """Ids of the objects that the agent would see from a pose."""
        if pose not in self._noticed:
            there = self._body.place(pose, blind=True, masks=True)
            self._noticed[pose] = frozenset(self._body.noticed()) if there else frozenset()
        return self._noticed[pose]
