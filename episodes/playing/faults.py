"""What a run does about a model that only fails."""

from __future__ import annotations

from inhabit.envs.errors import ExitCode, UserError
from inhabit.episodes.recording.schema import Ending, EndLine


class FaultsError(UserError, RuntimeError):
    """A run stopped because its model failed in episode after episode."""

    exit_code = ExitCode.STOPPED


class Faults:
    """The faults of the model that one command meets."""

    def __init__(self, most: int) -> None:
        """Allow fewer than `most` episodes in a row to end by one; any number for 0."""
        self._most, self._row = most, 0
        self.decided = False
        """Whether a model has answered: if not, a refusal is a mistake in the command."""

    def count(self, end: EndLine) -> None:
        """Count an episode that has ended. Raises FaultsError where it was one fault too many."""
        self._row = self._row + 1 if end.ending is Ending.MODEL_FAULT else 0
        if self._row and self._row == self._most:
            raise FaultsError(
                f"The run stopped: {self._row} episodes in a row ended by a fault of the model "
                f"(--set max_faults={self._most}). The last one: {end.error}\nMend this and run "
                "the same command again, with --retry-faults for episodes that had begun."
            )
