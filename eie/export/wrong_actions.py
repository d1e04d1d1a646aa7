"""Actions that are certainly wrong at each step of an episode, checked in the simulator."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice

from inhabit.agents.core import Decision
from inhabit.eie.examples.context import Trials
from inhabit.eie.export.demonstrations import Demonstration
from inhabit.envs.core import Env, Expert, Forkable, SceneError
from inhabit.episodes.episode import Episode

_MOST = 8
"""Wrong actions of a step."""


def wrong_actions(env: Env, one: Demonstration) -> Sequence[tuple[str, ...]] | None:
    """For each step, the episode's other actions that fail, or leave more to do.

    Each is tried in a copy of the state before the step. None if the environment can't be copied or
    has no expert, or if the episode does not come out as recorded.

    Raises:
        SimulatorError: the simulator died.
    """
    if not (isinstance(env, Forkable) and isinstance(env, Expert)):
        return None
    episode = Episode(env, one.task, one.seed)
    try:
        episode.reset()
    except SceneError:
        return None
    parse = episode.env.parse
    others = dict.fromkeys(step.action for step in one.steps if step.worked)
    found = []
    for step in one.steps:
        if (answer := parse(step.action)) is None:
            return None
        trials = Trials(episode)
        wrong = (
            text
            for text in others
            if (action := parse(text)) and action != answer and trials.is_wrong(action, answer)
        )
        found.append(tuple(islice(wrong, _MOST)))
        if (episode.act(Decision(answer)).reason is None) is not step.worked:
            return None
    return found
