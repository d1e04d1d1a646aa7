"""What an agent would have seen where an example was made."""

from __future__ import annotations

import re
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from inhabit.agents.core import Step, View
from inhabit.agents.dialogue.prompt import Prompt
from inhabit.agents.models.core import Image, Message
from inhabit.eie.examples.example import Example
from inhabit.eie.examples.wording import plain
from inhabit.envs.core import Action, Clip, Observation, Reason

Look = Callable[[str], NDArray[np.uint8]]
"""Reads an image, (H, W, 3), given its name in the set."""
_SENTENCES = re.compile(r"(?<=[.!?]) ")


def view_of(example: Example, look: Look | None, *, past: bool) -> View:
    """The view that an example was made from.

    Args:
        example: a moment of an episode.
        look: reads its images; None leaves them out.
        past: whether to read those of earlier steps, too.
    """
    observation = Observation(example.text)
    if look is not None and example.image:
        frames = [look(name) for name in example.frames]
        clips = (Clip(np.stack(frames)),) if frames else ()
        observation = Observation(example.text, look(example.image), clips)
    history = tuple(
        Step(
            step.action,
            Reason.BLOCKED if step.failed else None,
            step.feedback,
            look(step.image) if look is not None and past and step.image else None,
        )
        for step in example.history
    )
    candidates = tuple(Action(text, verb="") for text in example.candidates)
    return View(example.goal, observation, candidates, history)


def facts_of(example: Example) -> tuple[str, ...]:
    """What the question tells besides the goal, the text and what history tells, if anything.

    Such as "The mug has been washed." where neither image nor history shows it, and what was just
    tried in vain.
    """
    rest = example.question
    for told in (example.goal, plain(example.text)):
        rest = rest.strip().removeprefix(told)
    *facts, _ = _SENTENCES.split(rest.strip())
    return tuple(facts)


def question_of(example: Example, look: Look | None, prompt: Prompt) -> tuple[Message, Message]:
    """The prompt of a question that agents don't ask, with all images at the end."""
    nothing = Observation(example.text)
    view = View(example.question, nothing, (), ())
    system, user = prompt.messages(view, images=False)
    seen = [Image(look(name)) for name in example.images] if look is not None else []
    return system, Message("user", (*user.parts, *seen))
