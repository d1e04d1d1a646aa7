"""Actions that are certainly wrong at each step of an episode, checked in the simulator."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import islice
from typing import Self

from inhabit.agents.core import Decision
from inhabit.eie.examples.context import Trials
from inhabit.eie.export.demonstrations import Demonstration
from inhabit.envs.core import Env, Expert, Forkable, SceneError
from inhabit.episodes.episode import Episode

_MOST = 8
"""Wrong actions of a step."""


class WrongActions:
    """Re-executes episodes, and tries other actions in copies of each state."""

    def __init__(self, make: Callable[[], Env]) -> None:
        """Start the environment that `make` gives.

        Raises:
            SimulatorError, UnavailableError: it can't be started.
        """
        self._env = make()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self._env.close()

    @property
    def can_check(self) -> bool:
        """Whether the environment can be copied and has an expert."""
        return isinstance(self._env, Forkable) and isinstance(self._env, Expert)

    def check(self, one: Demonstration) -> Sequence[tuple[str, ...]] | None:
        """For each step, the episode's other actions that fail, or leave more to do.

        None if the episode does not come out as recorded.

        Raises:
            SimulatorError: the simulator died.
        """
        if not self.can_check:
            return None
        episode = Episode(self._env, one.task, one.seed)
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
