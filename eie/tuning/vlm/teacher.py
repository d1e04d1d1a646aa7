"""The teacher: the bundled planner, whose choice is a function of what was seen and done.

So it can label any state, whoever led there (DAgger, Ross et al., 2011), and say what it would do
if it had seen less.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from inhabit.agents.core import View
from inhabit.agents.dialogue.history import without_repeated
from inhabit.agents.models.ranker import BOX
from inhabit.agents.models.ranker.model import load
from inhabit.agents.models.vlm.sight import Table
from inhabit.agents.planners.planner import Planner, PlannerSettings
from inhabit.agents.prompts.notes import Notes
from inhabit.agents.reading.reader import load_reader
from inhabit.envs.core import Action


class Teacher:
    """Says what to do next."""

    def __init__(self, names: Sequence[str]) -> None:
        """Read detections of the classes `names`."""
        self._names, self._notes = names, Notes()
        self._ranker = load(BOX, "local:inhabit")
        self._planner = Planner(self._ranker, PlannerSettings(), load_reader())

    def choose(self, view: View, looks: Sequence[Table], hidden: int | None = None) -> Action:
        """The best candidate of `view`.

        Args:
            view: of the present step.
            looks: what was detected before each step of its history, and now.
            hidden: a class that it is not to know of.
        """
        *earlier, now = (
            {self._names[int(row[0])]: round(float(row[1]), 3) for row in look if row[0] != hidden}
            for look in looks
        )
        candidates = without_repeated(view)
        task = self._planner.task_step(view, candidates, earlier, now)
        if task.action is not None:
            return task.action
        prompt = self._notes.messages(view, earlier, now, task.reading)
        scores = self._ranker.scores(prompt, [action.text for action in candidates])
        return candidates[int(np.argmax(scores))]
