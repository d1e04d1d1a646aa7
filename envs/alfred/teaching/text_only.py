"""The household for those who are told what is there: without pictures it takes half the time."""

from __future__ import annotations

from inhabit.envs.alfred import tools
from inhabit.envs.alfred.env import Alfred
from inhabit.envs.core import Observation


class TextOnlyAlfred(Alfred):
    """Shows nothing, and says what the camera shows."""

    def observe(self) -> Observation:
        """What is to be seen and what is in the hand, in words alone."""
        return Observation(tools.in_words(self._episode(), view=True))
