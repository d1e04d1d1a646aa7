"""The only writer of prompts: a view as messages.

`Prompt` is for models that score or write one action and nothing else, `ChatPrompt` for chat
models. Agents, training and exports use the same ones, so that a model is asked as it was taught.

A prompt only grows from step to step: what stays stands before what is new, and past steps and
images are dropped many at a time. So a model that keeps what it has read reads little anew.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, ClassVar, Literal, Self
from warnings import warn

from pydantic import Field, model_validator

from inhabit.agents.core import Step, View
from inhabit.agents.dialogue.answer import ParsedReply
from inhabit.agents.dialogue.choices import Choices
from inhabit.agents.dialogue.few_shot import Examples
from inhabit.agents.dialogue.history import dropped, failures, frames_of, keyframes, summary
from inhabit.agents.dialogue.template import PromptTemplate, told
from inhabit.agents.models.core import Image, Message
from inhabit.envs.core import Observation
from inhabit.envs.settings import SettingsModel

_LISTED = 200
"""Candidates in the prompt of a chat model, at most. If there are more, one per verb is listed."""


class PromptSettings(SettingsModel):
    """What a prompt for one action holds."""

    gone: ClassVar[Mapping[str, object]] = {"thumbnail": 160}

    history: Annotated[int, Field(ge=0)] | Literal["whole"] = 8
    """Past steps in the prompt, as text: at least so many, and fewer than twice as many, because
    the oldest are dropped so many at a time; or (whole) the episode as one conversation: what was
    observed, and what was answered."""
    pictures: int = Field(default=0, ge=0)
    """Steps of `history` that are shown with their images and clips, as they were when they were
    new: at least so many, and fewer than twice as many."""
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


class ChatPromptSettings(SettingsModel):
    """What a prompt says about past steps and the present choices."""

    gone: ClassVar[Mapping[str, object]] = {"thumbnail": 160, "summary": True, "listed": 200}

    history: int = Field(default=8, ge=0)
    """Past steps described one by one in the prompt: at least so many, and fewer than twice as
    many; older ones are summarized in one line."""
    pictures: int = Field(default=0, ge=0)
    """Steps of `history` that are shown with their images as well: at least so many, and fewer than
    twice as many."""
    keyframes: int = Field(default=4, ge=1)
    """Frames taken from each video clip of an observation."""
    examples: Path | None = None
    """Few-shot examples: a run folder, whose successful episodes are shown, or a file of JSON lines
    with a `goal` and its `actions`; use other tasks than those of the run."""
    shots: int = Field(default=2, ge=0)
    """Number of few-shot examples: the episodes with the most similar goals."""
    letters: bool = False
    """Ask for the letter of a candidate instead of its text: A to Z, then AA, AB and so on."""
    reflect: bool = True
    """After a failed action, ask what went wrong."""
    stop: bool = True
    """Allow the model to end the episode."""
    repairs: int = Field(default=1, ge=0)
    """How often to ask again when an answer matches no action."""
    prompt: Path | None = None
    """Template file whose blocks replace the package's; `inhabit agents chat --prompt` prints
    them."""


class ChatAnswerSettings(ChatPromptSettings):
    """How a chat model answers."""

    reason: bool = True
    """Ask for a description and reasoning before the action. Without it, and with letters for 26
    choices at most, a model that returns token probabilities generates one token, and the record
    keeps the letters' probabilities."""
    votes: int = Field(default=1, ge=1)
    """Answers sampled per step; the most frequent action is taken. Needs a temperature above 0,
    such as --set temperature=0.7."""
    actions: int = Field(default=1, ge=1, le=50)
    """Actions asked for in one answer. They are executed, each as a step of its own, until one has
    no effect or is no candidate; then the model is asked again, as in EmbodiedBench."""

    @model_validator(mode="after")
    def _in_words(self) -> Self:
        if self.actions > 1 and (self.letters or not self.reason):
            raise ValueError(
                "several actions are named in words and as JSON: with actions above 1 leave out "
                "letters and reason"
            )
        return self


class Prompt:
    """A template with one block for each role.

    The system block is the same for every view, and the user's turn only grows, but for its last
    text: that is the block `now`, and `after`, which is empty in the package's templates. A small
    model that reads the goal once more there can compare it with the images.
    """

    def __init__(self, name: str, settings: PromptSettings | None = None) -> None:
        """Read the template `name`; `settings` say what the prompt holds.

        Raises:
            RequestError: the user's template can't be read.
        """
        self.settings = settings or PromptSettings()
        self.template = PromptTemplate(name, self.settings.prompt)
        self._warned = False

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
        told = self.settings
        if told.history == "whole":
            return self._whole(view, images=images, choices=choices)
        skipped = dropped(len(view.history), told.history)
        pictures = told.pictures if images else 0
        before = self.template.block(
            "past", goal=view.goal, skipped=skipped, pictures=bool(pictures)
        )
        user: list[str | Image] = [f"{before}\n"] if before else []
        user += _steps(self.template, view, skipped, pictures, told.keyframes)
        if images:
            user += map(Image, frames_of(view.observation, told.keyframes))
        listed = list(choices) if told.choices else []
        seen = Observation(view.observation.text, None)
        now = self.template.block("now", goal=view.goal, choices=listed, observation=seen)
        last = _ended([now], self.template.block("after", goal=view.goal))
        first = "\n" if user and isinstance(user[-1], Image) else ""
        parts = (*_joined(user), f"{first}{last[0]}")
        return Message("system", (self.template.block("system"),)), Message("user", parts)

    def turn(self, goal: str, last: Step | None, text: str) -> str:
        """What a turn of a whole history says before its images; `last` is None at the start."""
        return self.template.block("turn", goal=goal, last=last and told(last), text=text)

    def ask(self, choices: Sequence[str] = ()) -> str:
        """What it says after its images; `choices` are listed if the settings say so."""
        listed = list(choices) if self.settings.choices else []
        return self.template.block("ask", choices=listed)

    def _whole(self, view: View, *, images: bool, choices: Sequence[str]) -> tuple[Message, ...]:
        system = self.template.block("system")
        messages = [Message("system", (system,))] if system else []
        last: Step | None = None
        unseen = dropped(len(view.history), self.settings.pictures)
        for number, step in enumerate(view.history):
            shown = images and number >= unseen
            messages.append(self.message(view.goal, last, step, images=shown))
            messages.append(Message("assistant", (step.action,)))
            last = step
        now = view.observation
        messages.append(self.message(view.goal, last, now, images=images, choices=choices))
        return tuple(messages)

    def message(
        self,
        goal: str,
        last: Step | None,
        seen: Step | Observation,
        *,
        images: bool,
        choices: Sequence[str] = (),
    ) -> Message:
        """The user's turn of a whole history: `turn`, the images, and `ask`."""
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
                "prompts. Choose a model that does, or say --sight none.",
                stacklevel=2,
            )


def _steps(
    template: PromptTemplate, view: View, skipped: int, pictures: int, frames: int | None
) -> Iterator[str | Image]:
    """The past steps after the first `skipped`, each after what was seen before it.

    `pictures` is as the settings have it; of each clip so many `frames` are shown, or all.
    """
    unseen = dropped(len(view.history), pictures)
    for number, step in enumerate(view.history[skipped:], skipped + 1):
        shown = frames_of(step, frames) if number > unseen else ()
        yield from map(Image, shown)
        line = template.block("step", number=number, step=told(step))
        yield "\n" * bool(shown) + f"{line}\n"


def instructions(way: Literal["tools", "tags", "server"], most: int = 1) -> str:
    """What a model is told once that plays through a trainer or an evaluator of others.

    Args:
        way: how it acts: by tools, between tags of its reply, or by the tools of a server.
        most: actions that one reply may name.
    """
    return PromptTemplate("door").block("system", way=way, most=most)


_TOLD = ("lettered", "listed", "stop", "lines", "examples", "answers")
"""What a template sees of the choices."""


class ChatPrompt:
    """What a chat model is told of one moment.

    Its beginning stays the same from step to step where possible.
    """

    def __init__(self, settings: ChatPromptSettings, *, sees: bool) -> None:
        """Read the template and the examples; `sees` says whether the model takes images.

        Raises:
            TaskError: the examples can't be read.
            RequestError: the user's template can't be read.
        """
        self._settings, self._sees = settings, sees
        self._template = PromptTemplate("moment", settings.prompt)
        self._repair = PromptTemplate("repair", settings.prompt)
        source = settings.examples
        self._examples = Examples(()) if source is None else Examples.read(source)

    def choices(self, view: View) -> Choices:
        """What the model may choose from."""
        chosen = self._settings
        return Choices.of(view, lettered=chosen.letters, most=_LISTED, stop=chosen.stop)

    def messages(
        self, system: str, view: View, choices: Choices, known: Sequence[str] = ()
    ) -> tuple[Message, Message]:
        """Goal, past steps and their images, choices, facts, and the observation.

        Args:
            system: what comes before them.
            view: of the present step.
            choices: actions to choose from.
            known: facts about the present state, besides the text of the observation.
        """
        chosen = self._settings
        older = dropped(len(view.history), chosen.history)
        parts: list[str | Image] = [self._template.block("past", **self._past(view, older)) + "\n"]
        shown = chosen.pictures if self._sees else 0
        parts += _steps(self._template, view, older, shown, chosen.keyframes)
        if self._sees:
            parts += self._pictures(view)
        first = "\n" if isinstance(parts[-1], Image) else ""
        parts.append(first + self._template.block("now", **self._now(view, choices, known)))
        return Message("system", (system,)), Message("user", tuple(_joined(parts)))

    def repair(self, reading: ParsedReply, choices: Choices) -> Message:
        """What follows the reply `reading`, which could not be understood."""
        said = self._repair.block(
            "repair",
            problem=reading.meaning.problem,
            said=reading.answer.action[:200],
            near=[action.text for action in reading.meaning.near],
            lettered=choices.lettered,
        )
        return Message("user", (said,))

    def _past(self, view: View, older: int) -> dict[str, object]:
        return {
            "examples": self._examples.nearest(view.goal, self._settings.shots),
            "goal": view.goal,
            "older": older,
            "summary": summary(view.history[:older]),
            "pictures": self._sees and self._settings.pictures > 0,
        }

    def _now(self, view: View, choices: Choices, known: Sequence[str]) -> dict[str, object]:
        return {
            "failed": [told(s) for s in failures(view.history)] if self._settings.reflect else [],
            "choices": {name: getattr(choices, name) for name in _TOLD},
            "known": [view.observation.text, *known] if view.observation.text else known,
        }

    def _pictures(self, view: View) -> Iterator[str | Image]:
        """What is seen now: the frames of clips, and the image."""
        for clip in view.observation.clips:
            yield self._template.block("clip", text=clip.text) + "\n"
            yield from map(Image, keyframes(clip.frames, self._settings.keyframes))
            yield "\n"
        if view.observation.rgb is not None:
            yield Image(view.observation.rgb)


def chat_system(settings: ChatAnswerSettings, *, sees: bool) -> str:
    """What the agent `chat` is told once.

    Raises:
        RequestError: the user's template can't be read.
    """
    return PromptTemplate("chat", settings.prompt).block(
        "system",
        sees=sees,
        stop=settings.stop,
        reasons=settings.reason,
        lettered=settings.letters,
        actions=settings.actions,
    )


def _joined(parts: Sequence[str | Image]) -> Iterator[str | Image]:
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


def _ended(parts: list[str | Image], text: str) -> list[str | Image]:
    """`parts` with `text` on a line of its own after them, if there is any."""
    if not text:
        return parts
    last = parts[-1]
    if isinstance(last, str):
        return [*parts[:-1], f"{last}\n{text}"]
    return [*parts, f"\n{text}"]
