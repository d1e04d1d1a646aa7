"""Replays ALFRED's expert trajectories one low-level action at a time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

from inhabit.envs.alfred.episode.state import EpisodeState
from inhabit.envs.alfred.expert.planner import AlfredPlanner
from inhabit.envs.alfred.language.grammar import say
from inhabit.envs.alfred.language.masks import choose, decode
from inhabit.envs.alfred.language.naming import word
from inhabit.envs.alfred.language.verbs import BY_ACTION
from inhabit.envs.alfred.scenes.counterparts import present
from inhabit.envs.alfred.scenes.scene import LowStep, RecordedThing
from inhabit.envs.alfred.skills.result import Result
from inhabit.envs.alfred.thor.objects import ThorObject
from inhabit.envs.core import Action
from inhabit.envs.world.language import IT

_MOVES: Mapping[str, str] = {
    "MoveAhead": "move ahead",
    "MoveBack": "move back",
    "MoveLeft": "move left",
    "MoveRight": "move right",
    "RotateLeft": "turn left",
    "RotateRight": "turn right",
    "LookUp": "look up",
    "LookDown": "look down",
}


class StepPlanner(AlfredPlanner):
    """Returns the next step of a recording, whether or not the last one succeeded."""

    def __init__(self, steps: Sequence[LowStep], by: Literal["id", "mask"]) -> None:
        super().__init__()
        self._steps = steps
        self._by = by
        self._next = 0
        self._slices: dict[tuple[str, int | None], str] = {}

    def plan(self, episode: EpisodeState) -> Sequence[Action]:
        """The next step; nothing at the end, and where a mask shows nothing that it could mean.

        What has no counterpart here is named by its type, and will not be found.
        """
        if self._next >= len(self._steps):
            return ()
        step = self._steps[self._next]
        if step.thing is None:
            verb = _MOVES.get(step.action)
            return (say(verb),) if verb is not None else ()
        if self._by == "mask" and step.mask:
            thing = choose(episode.body, decode(step.mask), step.action)
            if thing is None:
                return ()
        else:
            thing = self._original(episode, step.thing)
        name = word(step.thing.type) if thing is None else episode.names.of(thing.id)
        verb = BY_ACTION[step.action].name
        return (say(verb, IT, name) if verb == "put" else say(verb, name),)

    def _original(self, episode: EpisodeState, recorded: RecordedThing) -> ThorObject | None:
        whole = episode.recorded_ids.get(recorded)
        if whole is None:
            return None
        taken = {number: id for (cut, number), id in self._slices.items() if cut == whole}
        return present(episode.world, recorded, whole, taken)

    def note(self, episode: EpisodeState, action: Action, result: Result) -> None:
        """Go on to the next step."""
        if self._next >= len(self._steps):
            return
        step = self._steps[self._next]
        self._next += 1
        if step.action == "PickupObject" and step.thing is not None and episode.held is not None:
            whole = episode.recorded_ids.get(step.thing)
            if whole is not None:
                self._slices[whole, step.thing.slice] = episode.held.id

    def copy(self) -> StepPlanner:
        """The same recording at the same step, to go on apart."""
        twin = StepPlanner(self._steps, self._by)
        twin._next, twin._slices = self._next, dict(self._slices)
        return twin
