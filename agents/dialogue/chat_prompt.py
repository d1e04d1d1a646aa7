"""The user message for a chat model: what stays the same first, and what is new last."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from pydantic import Field

from inhabit.agents.core import Step, View
from inhabit.agents.dialogue.choices import Choices
from inhabit.agents.dialogue.few_shot import Examples
from inhabit.agents.dialogue.frames import PastFrames, keyframes
from inhabit.agents.dialogue.template import PromptTemplate, ToldStep
from inhabit.agents.models.core import Image
from inhabit.envs.settings import SettingsModel

_MOST = 12
"""Maximum number of different actions of each kind in a summary."""
_LONGEST = 200
"""Maximum number of characters of an action."""


def summary(steps: Sequence[Step]) -> str:
    """Summarize `steps` in one line: each action once, the latest ones if there are many.

    The summary is computed from the record, not generated: it needs no call, and is correct.
    """
    worked = Counter(_short(s.action) for s in steps if s.reason is None)
    failed = {_short(s.action): s.feedback for s in steps if s.reason is not None}
    said = []
    if worked:
        named = [f"{text} ({n} times)" if n > 1 else text for text, n in worked.items()]
        said.append(f"done: {'; '.join(_latest(named))}")
    if failed:
        named = [f"{text} ({why})" if why else text for text, why in failed.items()]
        said.append(f"without effect: {'; '.join(_latest(named))}")
    return ". ".join(said)


def failures(steps: Sequence[Step]) -> tuple[Step, ...]:
    """The failed steps at the end of `steps`, oldest first: nothing has changed since."""
    count = 0
    for step in reversed(steps):
        if step.reason is None:
            break
        count += 1
    return tuple(steps[len(steps) - count :])


def _short(action: str) -> str:
    """Shorten an action: one that could not be parsed is a text of any length."""
    return action if len(action) <= _LONGEST else f"{action[:_LONGEST]}..."


def _latest(named: Sequence[str]) -> Sequence[str]:
    return named if len(named) <= _MOST else ["...", *named[-_MOST:]]


Part = str | Image


class ChatPromptSettings(SettingsModel):
    """What a prompt says about past steps and the present choices."""

    history: int = Field(default=8, ge=0)
    """Past steps described one by one in the prompt."""
    summary: bool = True
    """Summarize older steps in one line; otherwise only their number is given."""
    pictures: int = Field(default=0, ge=0)
    """Most recent past steps whose images are included, scaled down."""
    thumbnail: int = Field(default=160, ge=16)
    """Longest side of these images, in pixels."""
    keyframes: int = Field(default=4, ge=1)
    """Frames taken from each video clip of an observation."""
    examples: Path | None = None
    """Few-shot examples: a run folder, whose successful episodes are shown, or a file of JSON lines
    with a `goal` and its `actions`; use other tasks than those of the run."""
    shots: int = Field(default=2, ge=0)
    """Number of few-shot examples: the episodes with the most similar goals."""
    listed: int = Field(default=200, ge=0, le=500)
    """Maximum number of candidates in the prompt. If there are more, one per verb is listed."""
    letters: bool = False
    """Ask for the letter of a candidate instead of its text."""
    reflect: bool = True
    """After a failed action, ask what went wrong."""
    stop: bool = True
    """Allow the model to end the episode."""
    repairs: int = Field(default=1, ge=0)
    """How often to ask again when an answer matches no action."""
    prompt: Path | None = None
    """Template file whose blocks replace the package's; `inhabit agents chat --prompt` prints
    them."""


@dataclass(frozen=True, slots=True)
class ToldChoices:
    """What may be chosen, as a template sees it."""

    lettered: bool
    listed: bool
    stop: bool
    lines: Sequence[str]
    examples: Sequence[str]
    answers: Sequence[str] | None

    @classmethod
    def of(cls, choices: Choices) -> ToldChoices:
        """What may be told of `choices`."""
        return cls(*(getattr(choices, name) for name in cls.__slots__))


class ChatPrompt:
    """Writes the user message. Its beginning stays the same from step to step where possible."""

    def __init__(self, settings: ChatPromptSettings) -> None:
        """Read the template and the examples.

        Raises:
            TaskError: the examples can't be read.
            RequestError: the user's template can't be read.
        """
        self._settings = settings
        self._template = PromptTemplate("moment", settings.prompt)
        self._past_frames = PastFrames(settings.pictures, settings.thumbnail)
        source = settings.examples
        self._examples = Examples(()) if source is None else Examples.read(source)

    def parts(
        self, view: View, choices: Choices, *, sees: bool, known: Sequence[str] = ()
    ) -> tuple[Part, ...]:
        """The message: goal, past steps and their images, choices, facts, and the observation.

        Args:
            view: of the present step.
            choices: actions to choose from.
            sees: whether the model takes images.
            known: facts about the present state, besides the text of the observation.
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
            "steps": [ToldStep.of(step) for step in view.history[older:]],
            "older": older,
            "summary": summary(view.history[:older]) if self._settings.summary else "",
        }

    def _now(self, view: View, choices: Choices, known: Sequence[str]) -> dict[str, object]:
        return {
            "failed": [ToldStep.of(s) for s in failures(view.history)]
            if self._settings.reflect
            else [],
            "choices": ToldChoices.of(choices),
            "known": [view.observation.text, *known] if view.observation.text else known,
        }

    def _pictures(self, view: View) -> Iterator[tuple[str, Image]]:
        """Images of past steps, oldest first, each with the text before it."""
        for clip in view.observation.clips:
            text = self._template.block("clip", text=clip.text) + "\n"
            for frame in keyframes(clip.frames, self._settings.keyframes):
                yield text, Image(frame)
                text = ""
        for number, step, image in self._past_frames.of(view):
            yield self._template.block("seen", number=number, action=step.action) + "\n", image


def _joined(parts: Sequence[Part]) -> Iterator[Part]:
    """Join adjacent texts, and leave out empty ones."""
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
