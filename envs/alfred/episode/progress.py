"""Several goals at once: which conditions hold, and whether the goals were reached in order."""

from __future__ import annotations

from collections.abc import Sequence

from inhabit.envs.alfred.episode.state import EpisodeState
from inhabit.envs.alfred.scenes.goals import conditions, is_wanted
from inhabit.envs.alfred.scenes.scene import AlfredGoal


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
