"""From a view to what a chat model is told of it: what stays first, and what is new last."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field

from agents.choices import Choices
from agents.core import View
from agents.examples import Examples
from agents.models.core import Image
from agents.prompt import Template
from agents.recap import failures, keyframes, summary, thumbnail

Part = str | Image


class TellingSettings(BaseModel):
    """What a prompt tells of the past and offers for the present."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    history: int = Field(default=8, ge=0)
    """Past steps that are told one by one."""
    summary: bool = True
    """Tell of older ones in a line; otherwise they are only counted."""
    pictures: int = Field(default=0, ge=0)
    """Past steps, of the newest, that come with what was seen before them, made smaller."""
    thumbnail: int = Field(default=160, ge=16)
    """Longest side of these pictures, in pixels."""
    keyframes: int = Field(default=4, ge=1)
    """Pictures from each film that an environment shows."""
    examples: Path | None = None
    """A run whose best episodes are shown as examples. Take one of other tasks than are tried."""
    shots: int = Field(default=2, ge=0)
    """How many of them: those whose goals are worded most alike."""
    listed: int = Field(default=200, ge=0, le=500)
    """Candidates that are listed at the most. Where there are more, there is one for each verb."""
    letters: bool = False
    """Have the model answer with the letter of a candidate; otherwise in words."""
    reflect: bool = True
    """After a failure ask for what stood in the way."""
    stop: bool = True
    """The model may say that it is done."""
    repairs: int = Field(default=1, ge=0)
    """How often it is asked again where no action could be made of what it said."""


class Telling:
    """Writes the user's turn. It begins alike from step to step, as far as it can."""

    def __init__(self, settings: TellingSettings) -> None:
        """Tell as `settings` say.

        Raises:
            TaskError: the examples can't be read.
        """
        self._settings = settings
        self._template = Template("moment")
        source = settings.examples
        self._examples = Examples(()) if source is None else Examples.read(source)

    def parts(
        self, view: View, choices: Choices, *, sees: bool, known: Sequence[str] = ()
    ) -> tuple[Part, ...]:
        """The turn: goal, past, pictures of it, what can be done, what is known, what is seen.

        Args:
            view: the moment.
            choices: what can be done in it.
            sees: whether the model is shown pictures.
            known: sentences that are true now, beside the observation's own.
        """
        parts: list[Part] = [self._template.block("past", **self._past(view)) + "\n"]
        if sees:
            for text, image in self._pictures(view):
                parts += [text, image]
        rgb = view.observation.rgb if sees else None
        now = self._now(view, choices, known)
        parts.append(self._template.block("now", sees=rgb is not None, **now))
        if rgb is not None:
            parts.append(Image(rgb))
        return tuple(_joined(parts))

    def _past(self, view: View) -> dict[str, object]:
        older = max(0, len(view.history) - self._settings.history)
        return {
            "examples": self._examples.nearest(view.goal, self._settings.shots),
            "goal": view.goal,
            "steps": view.history[older:],
            "older": older,
            "summary": summary(view.history[:older]) if self._settings.summary else "",
        }

    def _now(self, view: View, choices: Choices, known: Sequence[str]) -> dict[str, object]:
        return {
            "failed": failures(view.history) if self._settings.reflect else (),
            "choices": choices,
            "known": [view.observation.text, *known] if view.observation.text else known,
        }

    def _pictures(self, view: View) -> Iterator[tuple[str, Image]]:
        """Pictures of the past, oldest first, each with what is said before it."""
        for clip in view.observation.clips:
            text = self._template.block("clip", text=clip.text) + "\n"
            for frame in keyframes(clip.frames, self._settings.keyframes):
                yield text, Image(frame)
                text = ""
        count = self._settings.pictures
        for number, step in list(enumerate(view.history, start=1))[len(view.history) - count :]:
            if count and step.rgb is not None:
                text = self._template.block("seen", number=number, action=step.action) + "\n"
                yield text, Image(thumbnail(step.rgb, self._settings.thumbnail))


def _joined(parts: Sequence[Part]) -> Iterator[Part]:
    """Texts that follow one another are one; empty ones are none."""
    text = ""
    for part in parts:
        if isinstance(part, str):
            text += part
            continue
        if text:
            yield text
        yield part
        text = ""
    if text:
        yield text
