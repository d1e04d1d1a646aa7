"""Examples of a set as labelled prompts for the ranker, with detections in their images."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from inhabit.agents.models.core import Image, Model
from inhabit.agents.prompts.notes import Detections, Notes
from inhabit.eie.tuning.rollouts import LabelledPrompt
from inhabit.eie.tuning.samples import Sample, picture, view_of
from inhabit.envs.core import Action, Observation

KINDS = ("decision", "trajectory", "recovery")
"""Kinds of examples that ask for the next action."""


def moments(samples: Sequence[Sample], eyes: Model | None) -> list[LabelledPrompt]:
    """Each example as a labelled prompt.

    Args:
        samples: of `KINDS`.
        eyes: vision model that detects objects in the images; None for no detections.

    Raises:
        TuneError: an image can't be read.
    """
    notes = Notes()
    return [_moment(sample, notes, eyes) for sample in samples]


def _moment(sample: Sample, notes: Notes, eyes: Model | None) -> LabelledPrompt:
    example = sample.example
    view = view_of(example.goal, Observation(example.text), example.history)
    earlier = [_seen(sample, past.image, eyes) for past in example.history]
    prompt = notes.messages(view, earlier, _seen(sample, example.image, eyes))
    candidates = tuple(map(_action, example.candidates))
    return LabelledPrompt(prompt, candidates, candidates[example.answer])


def _seen(sample: Sample, file: str | None, eyes: Model | None) -> Detections:
    if eyes is None or file is None:
        return {}
    return asyncio.run(eyes.look([Image(picture(sample.folder, file))]))[0]


def _action(text: str) -> Action:
    """An action from its text, which is all that an example holds of it."""
    return Action(text, text)
