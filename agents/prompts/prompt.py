"""Prompt templates, and prompts made from a view."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import jinja2
import numpy as np
from numpy.typing import NDArray

from inhabit.agents.core import View
from inhabit.agents.models.core import Image, Message
from inhabit.envs.core import Observation


class PromptTemplate:
    """A template of `agents/prompts/templates`, in blocks. Untrusted text goes in as values."""

    def __init__(self, name: str) -> None:
        """Read the file `name`."""
        jinja = jinja2.Environment(
            loader=jinja2.FileSystemLoader(Path(__file__).parent / "templates", encoding="utf-8"),
            undefined=jinja2.StrictUndefined,
            autoescape=False,  # prompts are plain text, never markup
            trim_blocks=True,
            lstrip_blocks=True,
        )
        jinja.filters["line"] = _line
        self._template = jinja.get_template(f"{name}.jinja")

    def block(self, name: str, **values: object) -> str:
        """One block, with `values` filled in."""
        context = self._template.new_context(values)
        return "".join(self._template.blocks[name](context)).strip()


class Prompt:
    """A template with one block for each role.

    The system block is the same for every view, so that a model can cache it; the user block ends
    with what is new, and the image comes last.
    """

    def __init__(self, name: str, *, history: int) -> None:
        """Read the template `name`; prompts include the last `history` steps."""
        self._template = PromptTemplate(name)
        self._history = history

    def messages(self, view: View, *, images: bool) -> tuple[Message, ...]:
        """The prompt for `view`; past steps are given as text only.

        Args:
            view: what the agent knows.
            images: whether to add the frames of clips, in order, and then the current image.
        """
        skipped = max(0, len(view.history) - self._history)
        said = self._template.block(
            "user",
            goal=view.goal,
            steps=view.history[skipped:],
            skipped=skipped,
            observation=view.observation,
        )
        user: tuple[str | Image, ...] = (said,)
        if images:
            user += tuple(map(Image, frames_of(view.observation)))
        return Message("system", (self._template.block("system"),)), Message("user", user)


def frames_of(observation: Observation) -> tuple[NDArray[np.uint8], ...]:
    """The frames of all clips, in order, and then the current image; uint8 (H, W, 3) each."""
    frames = tuple(frame for clip in observation.clips for frame in clip.frames)
    return frames if observation.rgb is None else (*frames, observation.rgb)


def pictures(messages: Iterable[Message]) -> dict[str, NDArray[np.uint8]]:
    """The images in `messages` by digest, as a record names them."""
    return {
        part.digest: part.rgb
        for message in messages
        for part in message.parts
        if isinstance(part, Image)
    }


def _line(text: str) -> str:
    """Put a text on one line, so that untrusted text can't imitate a line of the prompt."""
    return " ".join(text.split())
