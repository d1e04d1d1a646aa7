"""The bundled planner: a small vision model detects objects, and a small ranker chooses actions.

Its prompt is text, `ranker/notes.py`. Its model detects objects in each image of an episode, once.
For a model without eyes, or without images, the objects come from the environment's text (`--set
text=view --sight none`), which shows what errors of detection cost.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from inhabit.agents.alfred_specialist.ranker.notes import (
    SURE,
    Detections,
    mentioned_kinds,
    messages,
)
from inhabit.agents.alfred_specialist.ranker.parsing import GO, PUT, TURN_ON, action, uncut
from inhabit.agents.alfred_specialist.ranker.progress import progress
from inhabit.agents.alfred_specialist.reading.reading import ROLES, Reading, Readings
from inhabit.agents.alfred_specialist.settings import PlannerSettings
from inhabit.agents.alfred_specialist.skills.situation import Surroundings, situation
from inhabit.agents.alfred_specialist.skills.tasks import Skills, is_done
from inhabit.agents.alfred_specialist.skills.tries import usual_places
from inhabit.agents.core import Decision, Ranked, Step, View
from inhabit.agents.dialogue.history import without_repeated
from inhabit.agents.models.core import Image, Model
from inhabit.agents.planners.model_agent import ModelAgent, calls_kept_on_error
from inhabit.envs.core import Action, Observation, Reason

_UNSEEN = 0.88
"""Factor of a reading for each step in which its object or its place was not seen."""
_MISSED = 0.35
"""Factor of a reading for each vain attempt to go there."""
_IN_USE = 4.0
"""Odds in favour of a reading whose object is in the hand."""
_REFUTED = 1e-4
"""Factor of a reading if all that it asks for was done, and the task goes on."""


def believed(readings: Readings, now: Surroundings) -> Reading | None:
    """The reading that fits best by now; None where there is none."""
    before = tuple(_moments(now))

    def weight(reading: Reading) -> float:
        refuted = any(is_done(moment, reading) for moment in before)
        return _weight(reading, now) * (_REFUTED if refuted else 1.0)

    return max(readings.ranked, key=weight, default=None)


def _moments(now: Surroundings) -> Iterator[Surroundings]:
    """The situation after every action that may have completed the task."""
    for count, past in enumerate(now.past_actions, start=1):
        if past.reason is None and past.what.verb in (PUT, TURN_ON):
            past_actions = now.past_actions[:count]
            yield replace(
                now,
                past_actions=past_actions,
                held=progress([d.what for d in past_actions]).held[0],
            )


def _weight(reading: Reading, now: Surroundings) -> float:
    weight = reading.probability
    for noun in filter(None, reading.nouns):
        if not _known(noun, now):
            missed = sum(d.reason is Reason.NOT_FOUND for d in now.failures(GO, noun))
            weight *= _UNSEEN ** len(now.past_actions) * _MISSED**missed
    if reading.thing == now.held:
        weight *= _IN_USE
    return weight


def _known(noun: str, now: Surroundings) -> bool:
    """Whether such a thing was recognised, or gone to, or is what one would be cut from."""
    if now.held == noun or any(name[0] == noun for name in now.visits):
        return True
    return any(now.seen.get(kind, 0.0) >= SURE for kind in (noun, uncut(noun)) if kind)


def in_words(reading: Reading, readings: Readings) -> str:
    """The reading for the record, and what could not be read."""
    roles = zip(ROLES, reading.nouns, strict=True)
    said = ", ".join(f"{role}: {noun}" for role, noun in roles if noun)
    text = f"The goal is read as {reading.task.replace('_', ' ')}; {said}"
    text += f" (probability {reading.probability:.2f})."
    if readings.unread:
        text += f" Could not be read: {', '.join(readings.unread)}."
    return text


if TYPE_CHECKING:
    from inhabit.agents.alfred_specialist.reading.reader import InstructionReader
    from inhabit.agents.models.eyes.network import ImageDetector

_GUESS = 0.1
"""Probability of the likeliest reading below which it is a guess: of 13 such goals in held-out
training rooms, 4 were read with the right object."""
_FOLLOWED = 0.9
"""The probability that a skill's action gets; the ranker distributes the rest."""


class Planner(ModelAgent):
    """Follows the skills of the task that it reads in the goal; a ranker scores the candidates.

    The detected objects are the description in the record. Candidates that have just failed are
    left out until an action works, and so are those that were repeated without effect.
    """

    def __init__(
        self,
        model: Model,
        eyes: ImageDetector | None,
        settings: PlannerSettings,
        reader: InstructionReader,
    ) -> None:
        super().__init__(model)
        self._eyes, self._settings, self._reader = eyes, settings, reader

    async def decide(self, view: View) -> Decision:
        """The skill's action, else the likeliest candidate; stops where there is none."""
        candidates = without_repeated(view)
        if not candidates:
            return Decision(None, stop=True)
        *earlier, current = self._sightings(view)
        task = self.task_step(view, candidates, earlier, current)
        if task.unread and self._settings.unread == "stop":
            return Decision(None, stop=True, reasoning=task.text)
        prompt = messages(view, earlier, current, task.reading)
        texts = [action.text for action in candidates]
        with calls_kept_on_error((), prompt):
            if self._settings.width and task.action is None:
                ranking = await self._model.beam(prompt, texts, width=self._settings.width)
            else:
                ranking = await self._model.rank(prompt, texts)
        ranked = _mixed(ranking.scores, task.action)[:5]
        return Decision(
            next(action for action in candidates if action.text == ranked[0].text),
            description=_told(current),
            reasoning=task.text,
            ranked=tuple(ranked),
            calls=(ranking.call,),
        )

    def task_step(
        self,
        view: View,
        candidates: Sequence[Action],
        earlier: Sequence[Detections],
        current: Detections,
    ) -> TaskStep:
        """The task that the goal is read as, and the action of its skill."""
        now = situation(view, earlier, current)
        # Where only what is in view is offered, a held object is no candidate any more.
        texts = [*(a.text for a in view.candidates), *(step.action for step in view.history)]
        named = {parsed.noun for parsed in map(action, texts)}
        readings = self._reader.read(view.goal, frozenset((named | {now.held}) - {""}))
        reading = believed(readings, now)
        if reading is None:
            return TaskStep(None, None, "The goal could not be read.", unread=True)
        wished = Skills(now, reading, usual_places()).actions()
        found = next((action for action in wished if action in candidates), None)
        guessed = readings.ranked[0].probability < _GUESS
        text = in_words(reading, readings) + (" This is a guess." if guessed else "")
        return TaskStep(reading, found, text, guessed or bool(readings.unread))

    def _sightings(self, view: View) -> Sequence[Detections]:
        """The objects detected before each step, and now."""
        moments: list[Step | Observation] = [*view.history, view.observation]
        shown = [_pictures(step) for step in moments]
        if self._eyes is None or not any(shown):
            return [mentioned_kinds(step.text) for step in moments]
        seen = iter(self._eyes.look([picture for some in shown for picture in some]))
        return [_merged([next(seen) for _ in some]) for some in shown]


@dataclass(frozen=True, slots=True)
class TaskStep:
    """How the goal is read at a step, and what is to be done next for it."""

    reading: Reading | None
    action: Action | None
    text: str
    """The reading in words, for the record."""
    unread: bool
    """Whether something in the goal could not be read."""


def _told(detections: Detections) -> str:
    """What was detected, by name. "held" alone names nothing: it stands beside what is held."""
    return ", ".join(k for k, sure in sorted(detections.items()) if sure >= SURE and k != "held")


def _mixed(scores: Sequence[Ranked], chosen: Action | None) -> list[Ranked]:
    """The candidates by probability: a mixture of the skill's action and the ranker."""
    ranked = sorted(scores, key=lambda score: -score.logprob)
    if chosen is None:
        return ranked
    rest = math.log(1 - _FOLLOWED)
    mixed = [
        replace(
            score,
            logprob=math.log(_FOLLOWED + (1 - _FOLLOWED) * math.exp(score.logprob))
            if score.text == chosen.text
            else score.logprob + rest,
        )
        for score in ranked
    ]
    if all(score.text != chosen.text for score in mixed):
        mixed.append(Ranked(chosen.text, math.log(_FOLLOWED), max(1, len(chosen.text.split()))))
    return sorted(mixed, key=lambda score: -score.logprob)


def _pictures(step: Step | Observation) -> list[Image]:
    frames = [frame for clip in step.clips for frame in clip.frames]
    frames += [] if step.rgb is None else [step.rgb]
    return [Image(frame) for frame in frames]


def _merged(sightings: Sequence[Detections]) -> Detections:
    kinds = {kind for sighting in sightings for kind in sighting}
    return {kind: max(s.get(kind, 0.0) for s in sightings) for kind in sorted(kinds)}
