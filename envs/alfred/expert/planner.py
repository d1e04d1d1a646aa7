"""The expert planners: ours, and the one that follows a plan recorded by ALFRED."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from inhabit.envs.alfred.episode.state import EpisodeState
from inhabit.envs.alfred.expert.plan_actions import to_actions
from inhabit.envs.alfred.expert.plan_draft import HiddenError, NoPlanError, PlanDraft, PlanStep
from inhabit.envs.alfred.expert.recipes import solve
from inhabit.envs.alfred.scenes.counterparts import present
from inhabit.envs.alfred.scenes.scene import RecordedStep
from inhabit.envs.alfred.skills.result import Result
from inhabit.envs.alfred.thor.objects import ThorObject, ThorObjects
from inhabit.envs.core import Action

_MOST_TRIES = 6
"""Plans that fail on a hidden object before the planner gives up."""


class AlfredPlanner:
    """Plans from any state with full knowledge of it."""

    def __init__(self) -> None:
        self._hidden: set[str] = set()

    def plan(self, episode: EpisodeState) -> Sequence[Action]:
        """A plan from the current state; empty if the task is solved or no plan is known."""
        for _ in range(_MOST_TRIES):
            try:
                return to_actions(episode, _to_the_goal(solve(episode, self._hidden)))
            except HiddenError as error:
                self._hidden.add(error.thing.id)
            except NoPlanError:
                break
        return ()

    def note(self, episode: EpisodeState, action: Action, result: Result) -> None:
        """Take note of an executed action."""

    def copy(self) -> AlfredPlanner:
        """An independent copy."""
        twin = AlfredPlanner()
        twin._hidden = set(self._hidden)
        return twin


def _to_the_goal(steps: Sequence[PlanStep]) -> Sequence[PlanStep]:
    """The steps without a last tidying up: no goal is reached by closing a door or by going."""
    wanted = list(steps)
    while len(wanted) > 1 and wanted[-1].verb in ("close", "go to"):
        wanted.pop()
    return wanted


class RecordedPlanner(AlfredPlanner):
    """Follows a recorded plan with our skills. A failed step is not repeated.

    Before each interaction it goes to the object, unless the object is visible and within reach.
    It explores first if the object has not been seen yet: ALFRED's expert knew the room.
    """

    def __init__(self, episode: EpisodeState, plan: Sequence[RecordedStep]) -> None:
        super().__init__()
        things = [episode.recorded_ids.get(step.thing) for step in plan]
        self._left = [
            (step, episode.world[id] if id is not None else None)
            for step, id in zip(plan, things, strict=True)
        ]
        self._slices: dict[tuple[str, int | None], str] = {}

    def plan(self, episode: EpisodeState) -> Sequence[Action]:
        """The remaining steps, up to one whose object has no counterpart or cannot be found."""
        pose = episode.body.pose
        draft = PlanDraft(episode.world, episode.memory, pose.x, pose.z)
        for step, original in self._left:
            thing = self._present(episode.world, step, original)
            if thing is None:
                break
            if not _is_so_already(step.verb, thing, first=not draft.steps):
                draft.uncover(thing)
                draft.do(step.verb, thing)
        return to_actions(episode, draft.steps, as_far_as_possible=True)

    def note(self, episode: EpisodeState, action: Action, result: Result) -> None:
        """Mark a step as done, and the steps before it that had no effect."""
        verbs = [step.verb for step, _ in self._left]
        if action.verb in verbs:
            step, original = self._left[verbs.index(action.verb)]
            if action.verb == "pick up" and original is not None and episode.held is not None:
                self._slices[original.id, step.thing.slice] = episode.held.id
            del self._left[: verbs.index(action.verb) + 1]
        elif action.verb == "go to" and result.reason is not None:
            del self._left[:1]

    def _present(
        self, world: ThorObjects, step: RecordedStep, original: ThorObject | None
    ) -> ThorObject | None:
        """The object of a step now; for a slice, the one picked up or the next free one."""
        if original is None:
            return None
        if step.thing.slice is None or step.thing.type == original.type:
            return world.get(original.id)
        taken = {number: id for (cut, number), id in self._slices.items() if cut == original.id}
        there = present(world, step.thing, original.id, taken)
        if there is not None:
            return there
        future = f"{original.id}|{step.thing.type}_{step.thing.slice}"
        unseen = {**original.record, "visible": False}
        return replace(original, id=future, type=step.thing.type, record=unseen)

    def copy(self) -> RecordedPlanner:
        """An independent copy."""
        twin = RecordedPlanner.__new__(RecordedPlanner)
        twin._hidden = set(self._hidden)
        twin._left, twin._slices = list(self._left), dict(self._slices)
        return twin


def _is_so_already(verb: str, thing: ThorObject, *, first: bool) -> bool:
    """Whether the first step is already satisfied. For later steps this is not known yet."""
    return first and (
        (verb == "open" and thing.open)
        or (verb == "close" and not thing.open)
        or (verb == "turn on" and thing.on)
        or (verb == "turn off" and not thing.on)
    )
