"""The scene of a recorded attempt from above, as its environment knows it."""

from __future__ import annotations

from inhabit.envs.core import UnknownNameError
from inhabit.envs.entries import PluginError
from inhabit.envs.errors import UserError
from inhabit.envs.marks import places
from inhabit.envs.registry import Registration, find
from inhabit.envs.scene_plan import ScenePlan
from inhabit.episodes.recording.reader import Attempt
from inhabit.episodes.recording.schema import RunHeader


def scene_plan(header: RunHeader, attempt: Attempt) -> ScenePlan | None:
    """Walls, furniture and, where the record lacks them, poses.

    None where the environment has none of these, or the scene lies in files of the user's own: a
    page opens nothing that a record names.
    """
    try:
        registration = find(header.env)
        if header.backend != registration.backends[0] or _own_files(registration, header):
            return None
        actions = [
            step.decide.action if step.decide and step.act else None for step in attempt.steps
        ]
        executed = actions[: sum(step.act is not None for step in attempt.steps)]
        return registration.scene_plan(attempt.start.task, executed)
    except (UnknownNameError, PluginError, UserError):
        return None


def _own_files(registration: Registration, header: RunHeader) -> bool:
    defaults = registration.settings().model_dump(mode="json")
    recorded = header.settings.env
    return any(
        name in recorded and recorded[name] != defaults[name]
        for name in places(registration.settings)
    )
