"""Prompts made from a view, for models that score or write one action."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Literal
from warnings import warn

from pydantic import Field

from inhabit.agents.core import Step, View
from inhabit.agents.dialogue.frames import PastFrames, frames_of
from inhabit.agents.dialogue.template import PromptTemplate, ToldStep
from inhabit.agents.models.core import Image, Message
from inhabit.envs.core import Observation
from inhabit.envs.settings import SettingsModel


class PromptSettings(SettingsModel):
    """What a prompt for one action holds."""

    history: Annotated[int, Field(ge=0)] | Literal["whole"] = 8
    """Past steps in the prompt, as text; or the whole episode as one conversation that only grows:
    what was observed, and what was answered. A model that keeps what it has read reads it once."""
    pictures: int = Field(default=0, ge=0)
    """Most recent past steps whose images are included: scaled down, or as they were, with their
    clips, in a whole history."""
    thumbnail: int = Field(default=160, ge=16)
    """Longest side of these images, in pixels."""
    keyframes: int | None = Field(default=None, ge=1)
    """Frames taken from each video clip of an observation; all by default."""
    choices: bool = False
    """List the candidates in the prompt."""
    repeats: bool = True
    """Offer actions that were repeated twice with the same feedback as before. Without, they are
    left out until an action works with feedback that is new, which gets small models out of
    loops."""
    prompt: Path | None = None
    """Template file whose blocks replace the package's; `inhabit agents rank --prompt` prints
    them."""


class Prompt:
    """A template with one block for each role.

    The system block is the same for every view, so that a model can cache it; the user block ends
    with what is new. The images follow, and the block `after`, which is empty in the package's
    templates: a small model that reads the goal once more there can compare it with the images.
    """

    def __init__(
        self, name: str, *, history: int = 8, settings: PromptSettings | None = None
    ) -> None:
        """Read the template `name`.

        Args:
            name: of the template.
            history: number of past steps in the prompt, unless `settings` say it.
            settings: what else it holds.

        Raises:
            RequestError: the user's template can't be read.
        """
        self.settings = settings or PromptSettings(history=history)
        self.template = PromptTemplate(name, self.settings.prompt)
        self._warned = False
        self._past = PastFrames(self.settings.pictures, self.settings.thumbnail)

    def messages(
        self, view: View, *, images: bool, choices: Sequence[str] = ()
    ) -> tuple[Message, ...]:
        """The prompt for `view`.

        Args:
            view: what the agent knows.
            images: whether to add images: of past steps as the settings say, the frames of clips,
                in order, and then the current image.
            choices: candidates, listed if the settings say so.
        """
        if not images:
            self.warn_of_films(view)
        if self.settings.history == "whole":
            return self._whole(view, images=images, choices=choices)
        skipped = max(0, len(view.history) - self.settings.history)
        values: dict[str, object] = {
            "goal": view.goal,
            "steps": [ToldStep.of(step) for step in view.history[skipped:]],
            "skipped": skipped,
            "observation": Observation(view.observation.text, None),
        }
        if self.settings.choices:
            values["choices"] = list(choices)
        user: list[str | Image] = [self.template.block("user", **values)]
        if images:
            user += self._images(view)
        user = _ended(user, self.template.block("after", **values))
        return Message("system", (self.template.block("system"),)), Message("user", tuple(user))

    def turn(self, goal: str, last: Step | None, text: str) -> str:
        """What a turn of a whole history says before its images.

        Args:
            goal: of the episode.
            last: the step before; None at the beginning.
            text: of the observation.
        """
        told = None if last is None else ToldStep.of(last)
        return self.template.block("turn", goal=goal, last=told, text=text)

    def ask(self, choices: Sequence[str] = ()) -> str:
        """What it says after its images; `choices` are listed if the settings say so."""
        listed = list(choices) if self.settings.choices else []
        return self.template.block("ask", choices=listed)

    def _whole(self, view: View, *, images: bool, choices: Sequence[str]) -> tuple[Message, ...]:
        system = self.template.block("system")
        messages = [Message("system", (system,))] if system else []
        last: Step | None = None
        for ago, step in zip(range(len(view.history), 0, -1), view.history, strict=True):
            shown = images and ago <= self.settings.pictures
            messages.append(self._turn(view.goal, last, step, shown, ()))
            messages.append(Message("assistant", (step.action,)))
            last = step
        messages.append(self._turn(view.goal, last, view.observation, images, choices))
        return tuple(messages)

    def _turn(
        self,
        goal: str,
        last: Step | None,
        seen: Step | Observation,
        images: bool,
        choices: Sequence[str],
    ) -> Message:
        parts: list[str | Image] = [self.turn(goal, last, seen.text)]
        if images:
            parts += map(Image, frames_of(seen, self.settings.keyframes))
        return Message("user", tuple(_ended(parts, self.ask(choices))))

    def warn_of_films(self, view: View) -> None:
        """Warn once that clips are left out, because the model takes no images."""
        if view.observation.clips and not self._warned:
            self._warned = True
            warn(
                "The model takes no images, so the video clips of observations are left out of its "
                "prompts. Choose a model that does, or say --no-image.",
                stacklevel=2,
            )

    def _images(self, view: View) -> list[str | Image]:
        parts: list[str | Image] = []
        for number, step, image in self._past.of(view):
            said = self.template.block("seen", number=number, action=step.action)
            parts += [f"\n{said}\n", image]
        if parts:
            parts.append(f"\n{self.template.block('look')}\n")
        return [*parts, *map(Image, frames_of(view.observation, self.settings.keyframes))]


def _ended(parts: list[str | Image], text: str) -> list[str | Image]:
    """`parts` with `text` on a line of its own after them, if there is any."""
    if not text:
        return parts
    last = parts[-1]
    if isinstance(last, str):
        return [*parts[:-1], f"{last}\n{text}"]
    return [*parts, f"\n{text}"]
