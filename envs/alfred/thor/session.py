"""One simulator for many episodes, and what is seen in it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from inhabit.envs.alfred.thor.body import REACH, STEP, AgentBody, AgentPose, Controller
from inhabit.envs.alfred.thor.objects import Arrangement
from inhabit.envs.alfred.world.settings import AlfredSettings
from inhabit.envs.core import SimulatorError, UnavailableError

if TYPE_CHECKING:
    from inhabit.envs.simulators.household.rooms.user_rooms import Catalog


class SharedSimulator:
    """A simulator that starts on first use and stops with its last owner.

    Every owner has a number. Before it acts, `enter` restores its state in the simulator. The
    states of other owners are kept as snapshots, which owners with equal states share.
    """

    def __init__(
        self, backend: str, settings: AlfredSettings, *, catalog: Catalog | None = None
    ) -> None:
        """Start nothing yet.

        Args:
            backend: the simulator's name.
            settings: of the environment.
            catalog: the rooms, if they are not those of the settings; needs `wire=none`.
        """
        self._backend = backend
        self._catalog = catalog
        self._settings = settings
        self._client: Controller | None = None
        self._body: AgentBody | None = None
        self._kept: dict[int, int] = {}
        self._now: tuple[int, int] | None = None
        self._snapshots: set[int] = set()
        self._inside: int | None = None
        self._owners = 0
        self._joined: set[int] = set()

    def join(self) -> int:
        """A number for a new owner."""
        self._owners += 1
        self._joined.add(self._owners)
        return self._owners

    def leave(self, owner: int) -> None:
        """Release a number. The last one stops the simulator."""
        self._joined.discard(owner)
        self._drop(owner)
        if self._inside == owner:
            self._inside = None
        if not self._joined:
            self._end()

    def _end(self) -> None:
        """Stop the simulator. All its snapshots are lost."""
        if self._client is not None:
            self._client.stop()
        self._client = self._body = self._inside = self._now = None
        self._kept.clear()
        self._snapshots.clear()

    def start(self, owner: int, room: str) -> AgentBody:
        """A body for an owner that is about to load a room.

        Raises:
            SimulatorError: the simulator did not start.
            UnavailableError: this machine lacks something for it.
        """
        if self._body is not None and self._body.broken:
            self._end()
        if self._body is None:
            self._client = self._started(room)
            self._body = AgentBody(self._client, self._settings.least_pixels)
        if self._inside != owner:
            self._keep()
        self._drop(owner)
        self._inside = owner
        return self._body

    def _started(self, room: str) -> Controller:
        """A simulator in a room."""
        settings, embedded = self._settings, self._backend == "embedded"
        ours: dict[str, Any] = {"antialias": settings.antialias} if embedded else {}
        arguments = {
            "scene": room,
            "width": settings.width,
            "height": settings.height,
            "rooms": settings.rooms,
            "recorded": settings.cells == "recorded",
            "gridSize": STEP,
            "rotateStepDegrees": 90,
            "snapToGrid": True,
            "visibilityDistance": REACH,
            "fieldOfView": settings.field_of_view,
            "renderDepthImage": settings.depth,
            "renderInstanceSegmentation": True,
            **ours,
        }
        if settings.wire == "none":
            if not embedded:
                raise UnavailableError(
                    f"wire=none works with the embedded backend only, and the backend is "
                    f"{self._backend}: leave out wire=none."
                )
            from inhabit.envs.alfred.thor.direct import Direct

            return Direct(**arguments, catalog=self._catalog)
        from inhabit.envs.alfred.thor import client

        return client.start(self._backend, executable=settings.executable or None, **arguments)

    def enter(self, owner: int) -> None:
        """Restore an owner's state in the simulator.

        Raises:
            SimulatorError: it cannot.
        """
        if self._inside == owner or self._body is None:
            return
        self._keep()
        self._inside = owner
        token = self._kept.pop(owner)
        if token != self._present():
            if not self._body.tell("Restore", blind=True, snapshot=token):
                raise SimulatorError(
                    f"The simulator can't restore the snapshot: {self._body.error[1]}"
                )
            self._now = token, self._body.changes
        self._tidy()

    def copy(self, owner: int, twin: int) -> None:
        """Keep an owner's state for a second owner.

        Raises:
            SimulatorError: this simulator has no snapshots.
        """
        self.enter(owner)
        self._kept[twin] = self._snapshot()

    def _keep(self) -> None:
        if self._inside is not None:
            self._kept[self._inside] = self._snapshot()

    def _drop(self, owner: int) -> None:
        self._kept.pop(owner, None)
        self._tidy()

    def _snapshot(self) -> int:
        """A snapshot of the current state; reused until an action changes it."""
        assert self._body is not None
        token = self._present()
        if token is None:
            taken = self._body.ask("Snapshot")
            if taken is None:
                raise SimulatorError(
                    "This simulator has no snapshots, so the environment can't be forked."
                )
            token = int(taken)
            self._snapshots.add(token)
            self._now = token, self._body.changes
        return token

    def _present(self) -> int | None:
        """The snapshot of exactly the current state, if there is one."""
        if self._now is None or self._body is None or self._now[1] != self._body.changes:
            return None
        return self._now[0]

    def _tidy(self) -> None:
        """Delete the snapshots that no owner needs."""
        used = {*self._kept.values(), self._present()}
        for token in sorted(self._snapshots - used):
            if self._body is not None:
                self._body.ask("Forget", snapshot=token)
            self._snapshots.discard(token)


@dataclass(frozen=True, slots=True)
class _Known:
    """What is known of one arrangement of a room."""

    visible: dict[AgentPose, frozenset[str]] = field(default_factory=dict)
    noticed: dict[AgentPose, frozenset[str]] = field(default_factory=dict)
    fits: dict[tuple[str, str], bool] = field(default_factory=dict)


class Views:
    """Caches visibility by pose, and what fits where, for each arrangement of the room.

    The agent is teleported to the pose; `away` returns it to its own.
    """

    def __init__(self, body: AgentBody) -> None:
        self._body = body
        self._known: dict[Arrangement, _Known] = {}
        self._now: _Known | None = None

    def copy(self) -> Views:
        """An independent copy. What is found in the same arrangement is known to both."""
        twin = Views(self._body)
        twin._known, twin._now = self._known, self._now
        return twin

    def forget(self) -> None:
        """Take note that the room was changed."""
        self._now = None

    @property
    def fits(self) -> dict[tuple[str, str], bool]:
        """Ids of an object and a receptacle -> whether it fits, as far as that was tried."""
        return self._here.fits

    @property
    def _here(self) -> _Known:
        if self._now is None:
            self._now = self._known.setdefault(self._body.world.arrangement, _Known())
        return self._now

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
        known = self._here.visible
        if pose not in known:
            there = self._body.place(pose, blind=True)
            known[pose] = frozenset(self._body.near() if there else ())
        return known[pose]

    def noticed(self, pose: AgentPose) -> frozenset[str]:
        """Ids of the objects that the agent would see from a pose."""
        known = self._here.noticed
        if pose not in known:
            there = self._body.place(pose, blind=True, masks=True)
            known[pose] = frozenset(self._body.noticed()) if there else frozenset()
        return known[pose]
