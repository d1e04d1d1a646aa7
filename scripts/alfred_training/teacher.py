"""The planner as a teacher: its choice is a function of what was seen and done.

So it can label any state, whoever led there, and say what it would do if it had seen less.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from inhabit.agents.alfred_specialist.planner import Planner
from inhabit.agents.alfred_specialist.ranker.model import load
from inhabit.agents.alfred_specialist.ranker.notes import messages
from inhabit.agents.alfred_specialist.reading.reader import load_reader
from inhabit.agents.alfred_specialist.settings import PlannerSettings
from inhabit.agents.core import View
from inhabit.agents.dialogue.history import without_repeated
from inhabit.agents.models.vlm.sight import Table
from inhabit.envs.core import Action


class PlannerTeacher:
    """Says what to do next, as `inhabit.eie.tuning.vlm.episodes.Teacher`."""

    def __init__(self, names: Sequence[str]) -> None:
        self._names, self._ranker = names, load(None, "teacher")
        self._planner = Planner(self._ranker, None, PlannerSettings(), load_reader())

    def choose(self, view: View, looks: Sequence[Table], hidden: int | None = None) -> Action:
        """The best candidate of `view`, given what was detected before each step, and now."""
        *earlier, now = (
            {self._names[int(row[0])]: round(float(row[1]), 3) for row in look if row[0] != hidden}
            for look in looks
        )
        candidates = without_repeated(view)
        task = self._planner.task_step(view, candidates, earlier, now)
        if task.action is not None:
            return task.action
        prompt = messages(view, earlier, now, task.reading)
        scores = self._ranker.scores(prompt, [action.text for action in candidates])
        return candidates[int(np.argmax(scores))]
