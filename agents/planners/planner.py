"""The bundled planner: a small vision model detects objects, and a small ranker chooses actions.

Its prompt is text, `agents/prompts/notes.py`. A model with `Ability.EYES` detects objects in every
image of the episode, once. For one without, or without images, the objects come from the
environment's text (`--set text=view --no-image`), which shows what errors of detection cost.
"""

from __future__ import annotations

from collections.abc import Sequence

from pydantic import Field

from inhabit.agents.core import Agent, Decision, Step, View
from inhabit.agents.models.core import Ability, Image, Model
from inhabit.agents.models.registry import require
from inhabit.agents.planners.model_agent import ModelAgent, calls_kept_on_error
from inhabit.agents.prompts.history import without_repeated
from inhabit.agents.prompts.notes import SURE, Detections, Notes, mentioned_kinds
from inhabit.agents.registry import AgentRegistration
from inhabit.envs.core import Observation
from inhabit.envs.settings import SettingsModel


class PlannerSettings(SettingsModel):
    """How it chooses."""

    width: int = Field(default=4, ge=0)
    """Beam width when ranking the words of candidates; 0 scores every candidate, which takes twice
    as long."""


class Planner(ModelAgent):
    """The likeliest candidate, given notes on the episode.

    The detected objects are the description in the record. Candidates that have just failed are
    left out until an action works, and so are those that were repeated without effect.
    """

    def __init__(self, model: Model, settings: PlannerSettings) -> None:
        super().__init__(model)
        self._settings = settings
        self._notes = Notes()

    async def decide(self, view: View) -> Decision:
        """The likeliest candidate; stops where there is none."""
        candidates = without_repeated(view)
        if not candidates:
            return Decision(None, stop=True)
        *earlier, current = await self._sightings(view)
        prompt = self._notes.messages(view, earlier, current)
        texts = [action.text for action in candidates]
        with calls_kept_on_error((), prompt):
            if self._settings.width:
                ranking = await self._model.beam(prompt, texts, width=self._settings.width)
            else:
                ranking = await self._model.rank(prompt, texts)
        ranked = sorted(ranking.scores, key=lambda score: -score.logprob)[:5]
        return Decision(
            next(action for action in candidates if action.text == ranked[0].text),
            description=", ".join(kind for kind, sure in sorted(current.items()) if sure >= SURE),
            ranked=tuple(ranked),
            calls=(ranking.call,),
        )

    async def _sightings(self, view: View) -> Sequence[Detections]:
        """The objects detected before each step, and now."""
        moments: list[Step | Observation] = [*view.history, view.observation]
        shown = [_pictures(step) for step in moments]
        if Ability.EYES not in self._model.abilities or not any(shown):
            return [mentioned_kinds(step.text) for step in moments]
        seen = iter(await self._model.look([picture for some in shown for picture in some]))
        return [_merged([next(seen) for _ in some]) for some in shown]


def _pictures(step: Step | Observation) -> list[Image]:
    frames = [frame for clip in step.clips for frame in clip.frames]
    frames += [] if step.rgb is None else [step.rgb]
    return [Image(frame) for frame in frames]


def _merged(sightings: Sequence[Detections]) -> Detections:
    kinds = {kind for sighting in sightings for kind in sighting}
    return {kind: max(s.get(kind, 0.0) for s in sightings) for kind in sorted(kinds)}


def _make(settings: PlannerSettings, model: Model | None) -> Agent:
    asked = Ability.BEAM if settings.width else Ability.RANK
    return Planner(require(model, "planner", asked), settings)


REGISTRATION = AgentRegistration(
    name="planner",
    summary="a small detector and a small ranking model that come with this package",
    settings=PlannerSettings,
    make=_make,
    model="local:inhabit",
    wants={"clips": "true"},
)
