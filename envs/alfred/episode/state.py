"""An episode: the room as it is, what the agent knows of it, and the progress to the goal."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from inhabit.envs.alfred.language.verbs import ObjectNames, fits, split_name, squeeze, word
from inhabit.envs.alfred.scenes.scene import (
    AlfredGoal,
    Disturbance,
    History,
    RecordedThing,
    conditions,
    is_wanted,
)
from inhabit.envs.alfred.thor.body import REACH, AgentBody, Cell, Grid, Stand, cell, heading
from inhabit.envs.alfred.thor.objects import ThorObject, ThorObjects
from inhabit.envs.alfred.thor.session import Views
from inhabit.envs.alfred.world.settings import Unnumbered
from inhabit.envs.world.words import with_article


@dataclass(slots=True)
class Memory:
    """What the agent has seen, visited and searched. Objects are THOR ids."""

    seen: dict[str, None] = field(default_factory=dict)
    """Objects seen in an image, in order."""
    visited: dict[str, None] = field(default_factory=dict)
    """Objects that the agent went to or took."""
    focus: str | None = None
    """The object of the last navigation or interaction, which "the mug" refers to."""
    used: str | None = None
    """The receptacle that the agent last went to or acted on. "The mug" is first one that lies in
    or on it, unless the settings say `unnumbered=nearest`."""
    sent: str | None = None
    """What the last feedback told the agent to go to first."""
    searched: dict[Cell, None] = field(default_factory=dict)
    """Cells where the agent looked around."""
    refused: dict[str, None] = field(default_factory=dict)
    """Interactions that the simulator refused unexpectedly, as "verb id id". The expert avoids
    them."""

    def see(self, ids: Iterable[str]) -> None:
        """Add the objects of an image."""
        self.seen.update(dict.fromkeys(ids))

    def go(self, id: str) -> None:
        """Add a visit."""
        self.visited[id] = None
        self.focus = id
        self.refused.pop(f"go to {id}", None)

    def touch(self, thing: ThorObject) -> None:
        """Note an interaction with `thing`."""
        self.focus = thing.id
        if thing.receptacle:
            self.used = thing.id

    def copy(self) -> Memory:
        """An independent copy."""
        return replace(
            self,
            seen=dict(self.seen),
            visited=dict(self.visited),
            searched=dict(self.searched),
            refused=dict(self.refused),
        )


class Reference:
    """The meaning of names in the current state, among objects that the agent has seen."""

    def __init__(
        self,
        world: ThorObjects,
        names: ObjectNames,
        memory: Memory,
        x: float,
        z: float,
        unnumbered: Unnumbered = "used",
    ) -> None:
        self._world = world
        self._names = names
        self._memory = memory
        self._x, self._z = x, z
        self._newer = unnumbered == "used"
        self._used, self._sent = (memory.used, memory.sent) if self._newer else (None, None)

    def known(self) -> Sequence[ThorObject]:
        """Every seen, existing, named object, in the order of the names."""
        found = (thing for alike in self._alike.values() for thing in alike)
        return sorted(found, key=lambda thing: self._order(thing.id))

    @cached_property
    def _alike(self) -> Mapping[str, Sequence[ThorObject]]:
        """The same by noun, without spaces."""
        found: dict[str, list[ThorObject]] = {}
        for id in self._memory.seen:
            if id in self._names and (thing := self._world.get(id)) is not None:
                found.setdefault(squeeze(word(thing.type)), []).append(thing)
        return found

    def _order(self, id: str) -> tuple[str, int]:
        said, _, number = self._names.of(id).rpartition("_")
        return said, int(number)

    def resolve(self, verb: str, name: str) -> ThorObject | None:
        """The object that `name` means after `verb`; None if no such object was seen."""
        squeezed, number = split_name(name)
        if number is not None:
            id = self._names.id(squeezed, number)
            return self._world.get(id) if id in self._memory.seen and id is not None else None
        return self.choose(verb, self._alike.get(squeezed, ()))

    def choose(self, verb: str, things: Sequence[ThorObject]) -> ThorObject | None:
        """The most likely of several objects of one type.

        For navigation, the one that the feedback has just told to go to, or the nearest one that
        was not yet visited or taken; one that could not be reached comes last. Otherwise one to
        which the verb can apply: the one visited last, then those within reach that lie in or on
        what was used last, then those in view, then the nearest.
        """
        rank = self._to_go if verb in ("go to", "find") else self._to_act(verb)
        return min(things, key=lambda t: (*rank(t), self._order(t.id)), default=None)

    def _to_go(self, thing: ThorObject) -> tuple[object, ...]:
        return (
            thing.held,
            self._world.shut_in(thing) is not None,
            self._newer and f"go to {thing.id}" in self._memory.refused,
            thing.id != self._sent,
            thing.id in self._memory.visited,
            thing.id == self._memory.focus,
            round(thing.reach(self._x, self._z), 3),
        )

    def _to_act(self, verb: str) -> Callable[[ThorObject], tuple[object, ...]]:
        return lambda thing: (
            not fits(verb, thing),
            thing.id != self._memory.focus,
            not self._in_used(thing),
            not thing.visible,
            round(thing.reach(self._x, self._z), 3),
        )

    def _in_used(self, thing: ThorObject) -> bool:
        if self._used is None or thing.reach(self._x, self._z) > REACH:
            return False
        inside = any(outer.id == self._used for outer in self._world.around(thing))
        return inside and self._world.shut_in(thing) is None

    def name(self, verb: str, thing: ThorObject) -> str:
        """The shortest name that resolves to the object: "mug", or "mug_2" among several."""
        said = word(thing.type)
        meant = self.resolve(verb, said)
        return said if meant is not None and meant.id == thing.id else self._names.of(thing.id)


@dataclass(slots=True)
class EpisodeState:
    """The state of one episode. The simulator holds the room; everything else is here."""

    body: AgentBody
    goal: AlfredGoal
    names: ObjectNames
    grid: Grid
    views: Views
    memory: Memory = field(default_factory=Memory)
    history: History = field(default_factory=History)
    field_of_view: float = 60
    """Field of view across the narrower side of the image, in degrees."""
    teleport: bool = False
    """Whether navigation teleports instead of walking."""
    unobserved: bool = False
    """Whether images along the way are ignored, when only the result of an action matters."""
    filming: bool = False
    """Whether images along the way are kept."""
    recorded_ids: Mapping[RecordedThing, str] = field(default_factory=dict)
    """Object of a recorded plan -> THOR's id here."""
    film: list[NDArray[np.uint8]] = field(default_factory=list)
    """Images of the last action along the way, (H, W, 3) each."""
    just_seen: dict[str, None] = field(default_factory=dict)
    """Ids of all objects that the last action showed."""
    also: tuple[AlfredGoal, ...] = ()
    """Goals beside `goal`."""
    in_order: bool = False
    """Whether the goals have to be reached one after the other."""
    reached: tuple[int, ...] = ()
    """Numbers of the goals that have held, in the order in which they came to hold."""
    unnumbered: Unnumbered = "used"
    """Which of several things in view a name without a number means."""
    disturbances: tuple[Disturbance, ...] = ()
    """Disturbances that are still to come."""
    actions: int = 0
    """Number of actions so far."""

    @property
    def goals(self) -> tuple[AlfredGoal, ...]:
        """All goals."""
        return (self.goal, *self.also)

    @property
    def world(self) -> ThorObjects:
        """All objects now."""
        return self.body.world

    @property
    def held(self) -> ThorObject | None:
        """The held object."""
        return self.world.held

    @property
    def stand(self) -> Stand:
        """The agent's grid cell and heading."""
        pose = self.body.pose
        return (*cell(pose.x, pose.z), heading(pose.rotation))

    def reference(self) -> Reference:
        """The meaning of names now."""
        pose = self.body.pose
        return Reference(self.world, self.names, self.memory, pose.x, pose.z, self.unnumbered)

    def name(self, thing: ThorObject) -> str:
        """The name of an object in feedback."""
        return f"the {self.names.of(thing.id)}"

    def see(self) -> None:
        """Remember the objects in the image, and name new ones."""
        if self.unobserved:
            return
        self.names.add(self.world)
        self.notice(self.body.noticed())

    def notice(self, ids: Iterable[str]) -> None:
        """Remember objects that have names."""
        known = [id for id in ids if id in self.names]
        self.memory.see(known)
        self.just_seen.update(dict.fromkeys(known))

    def do(self, action: str, thing: ThorObject, **arguments: Any) -> bool:
        """Interact with an object, and update the history for ALFRED's goals."""
        done = self.body.step(action, blind=True, masks=True, objectId=thing.id, **arguments)
        self.views.forget()
        if done:
            self.history = self.history.after(action, thing.id, self.world)
        return done

    def copy(self) -> EpisodeState:
        """An independent copy that shares the body."""
        return replace(
            self,
            names=self.names.copy(),
            grid=self.grid.copy(),
            views=self.views.copy(),
            memory=self.memory.copy(),
            film=list(self.film),
            just_seen=dict(self.just_seen),
        )


def progress(episode: EpisodeState) -> tuple[int, int]:
    """The number of conditions that hold, and their total.

    An order adds one condition for each goal after the first: that no later goal was reached before
    the earlier ones.
    """
    counts = [conditions(goal, episode.world, episode.history) for goal in episode.goals]
    met, total = (sum(numbers) for numbers in zip(*counts, strict=True))
    if episode.in_order:
        steps = len(counts) - 1
        total += steps
        met += steps if not out_of_order(episode) and met == total - steps else 0
    return met, total


def note_reached(episode: EpisodeState) -> None:
    """Remember which goals hold for the first time."""
    if not episode.in_order:
        return
    for number, goal in enumerate(episode.goals):
        if number not in episode.reached and _holds(episode, goal):
            episode.reached = (*episode.reached, number)


def out_of_order(episode: EpisodeState) -> bool:
    """Whether a goal was reached before an earlier one, which can't be undone."""
    return episode.in_order and any(n != i for i, n in enumerate(episode.reached))


def unmet(episode: EpisodeState) -> Sequence[AlfredGoal]:
    """The goals that do not hold, in the order in which to reach them.

    Without an order, the goal whose object is in the hand comes first. A light comes last, because
    its object stays in the hand.
    """
    left = [goal for goal in episode.goals if not _holds(episode, goal)]
    if episode.in_order:
        return left
    held = episode.held
    begun = [goal for goal in left if held is not None and is_wanted(held, goal)]
    return sorted(left, key=lambda goal: (goal.toggle is not None, goal not in begun))


def _holds(episode: EpisodeState, goal: AlfredGoal) -> bool:
    met, total = conditions(goal, episode.world, episode.history)
    return met == total


def in_view(episode: EpisodeState) -> Sequence[str]:
    """Ids of the named objects in the image, except held ones."""
    return [
        id for id in episode.body.in_view() if id in episode.names and not episode.world[id].held
    ]


def in_words(episode: EpisodeState, view: bool) -> str:
    """The text of an observation: the held object.

    With `view` also the objects in view, and further objects that the last action showed, such as
    those seen while looking around.
    """
    held = episode.held
    sentences = []
    if held is not None:
        noun = word(held.type)
        sentences.append(f"You have {with_article(noun)} in your hands.")
    if view:
        seen = in_view(episode)
        sentences.append(f"You see: {_listed(episode, seen) or 'nothing of interest'}.")
        passed = sorted(id for id in episode.just_seen if id in episode.world and id not in seen)
        passed = [id for id in passed if not episode.world[id].held]
        if passed:
            sentences.append(f"You have just seen besides: {_listed(episode, passed)}.")
    return " ".join(sentences)


def _listed(episode: EpisodeState, ids: Sequence[str]) -> str:
    return ", ".join(episode.names.of(id) for id in ids)
