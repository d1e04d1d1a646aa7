"""One example of training data: PCA-Bench's tuple, and where it came from.

Source of the form: PCA-Bench (image, question, action candidates, answer, reason, key concept).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Literal, Self

from pydantic import BaseModel, ConfigDict, Field, JsonValue, model_validator

from inhabit.eie.checking.splits import Split


class Rejection(StrEnum):
    """Why an attempt was not kept. Every attempt is kept or has exactly one of these."""

    SCHEMA = "schema"
    """The author's answer is not of the asked form."""
    UNKNOWN_NAME = "unknown_name"
    """The answer names a kind of thing, room or state that the environment does not have."""
    REFUSED = "refused"
    """The simulator could not build the scene."""
    UNSOLVABLE = "unsolvable"
    """The expert finds no way to the goal."""
    ALREADY_SOLVED = "already_solved"
    HIDDEN = "hidden"
    """The key concept is not to be seen in the image."""
    AMBIGUOUS = "ambiguous"
    """More than one candidate is a best action."""
    GIVEN_AWAY = "given_away"
    """The question holds the answer."""
    DUPLICATE = "duplicate"
    UNCLEAR = "unclear"
    """The image is near-black, near-uniform or too cluttered to tell things apart."""
    CONTRADICTION = "contradiction"
    """The text claims what is not so in the scene."""
    TOO_LONG = "too_long"
    """The expert's plan has more actions than `longest` allows."""
    CIRCULAR = "circular"
    """The reason explains the action by itself, or by what undoes it."""
    MEANING = "meaning"
    """The author's goal says something else than the scene wants, or has markup."""
    SPLIT = "split"
    """The objects of the task are for different splits."""
    NO_ANSWER = "no_answer"
    """The author did not answer."""


class Subtask(BaseModel, frozen=True, extra="forbid"):
    """A node of a task's topology graph, at the moment of an example."""

    name: str
    """Name of the subtask, unique in its task, such as "heat"."""
    wish: str
    """The subtask as an instruction: "heat the apple"."""
    needs: tuple[str, ...] = ()
    """Names of the subtasks that come first."""
    state: Literal["done", "next", "open", "blocked"]
    """What the plan brings about first is "next"; what waits for another subtask, "blocked"."""


@dataclass(frozen=True, slots=True)
class Refused:
    """A step, or a whole attempt, that gave no example."""

    __pydantic_config__ = ConfigDict(extra="forbid")
    rejection: Rejection
    sentence: str


class Lineage(BaseModel, frozen=True, extra="forbid"):
    """What an example was made from: enough to make it again."""

    author: str
    """Name of the author, such as "procedural" or "openai:gpt-4o"."""
    seed_task: str
    """Id of the task that the example was cut from."""
    parents: tuple[str, ...] = ()
    """Ids of the tasks that `seed_task` was evolved from, nearest first."""
    change: str = ""
    """How `seed_task` was evolved, such as "another room"; empty for a first seed."""
    steps: int | None = None
    """Actions of the expert's plan from the start; None in sets of earlier versions."""
    parent_steps: int | None = None
    """Actions of the expert's plan for the nearest parent, from the start."""
    task: Mapping[str, JsonValue]
    """The whole task, as `inhabit.envs.core.Task` writes it."""
    seed: int
    """The seed that the environment was reset with."""
    actions: tuple[str, ...] = ()
    """What was done after the reset, before the image was taken."""
    plan: tuple[str, ...] = ()
    """The expert's way from the image to the goal."""
    event: str = ""
    """The node of the topology graph that the example belongs to."""
    topology: tuple[Subtask, ...] = ()
    """The graph, leaves first; empty in sets of earlier versions."""


Kind = Literal["decision", "trajectory", "recognition", "recovery", "photograph"]
"""Kind of an example: a single moment; a step of a whole episode; "what was done in this film?";
the right replanning after a failed step; a moment from a photograph."""


class Past(BaseModel, frozen=True, extra="forbid"):
    """A step that came before the image, in examples cut from whole trajectories."""

    action: str
    feedback: str = ""
    failed: bool = False
    image: str | None = None
    """File of what was seen before the step, relative to the set's folder."""


class Example(BaseModel, frozen=True, extra="forbid"):
    """An image and a question with one right answer among candidates."""

    id: str = Field(min_length=1)
    env: str
    kind: Kind = "decision"
    split: Split
    image: str
    """File relative to the set's folder: PNG of exactly what was observed."""
    image_digest: str
    """Digest of the exact pixels, as `inhabit.agents.models.core.Image.digest` reckons it."""
    frames: tuple[str, ...] = Field(default=(), exclude_if=lambda files: not files)
    """Files of the frames of the clips that were observed with the image, oldest first."""
    text: str = ""
    """What was told beside the image, as `inhabit.envs.core.Observation.text`. `question` says it
    too."""
    question: str
    candidates: tuple[str, ...] = Field(min_length=2)
    answer: int = Field(ge=0)
    """Index of the right answer in `candidates`."""
    reason: str
    key_concepts: tuple[str, ...] = Field(min_length=1)
    """Objects and states that the answer hangs on, in plain words: "closed fridge"."""
    goal: str
    levels: tuple[str, ...] = ()
    """Goal, subgoal and secondary subgoal, widest first (EgoPlan-Bench)."""
    history: tuple[Past, ...] = ()
    """Past steps, oldest first."""
    difficulty: int = Field(default=1, ge=1)
    """Actions of the expert's plan from here."""
    room: str = ""
    """What the split goes by, beside objects and families."""
    verb: str = ""
    """Verb of the right answer."""
    objects: tuple[str, ...] = ()
    """Kinds of things that the answer is about."""
    twins: str = ""
    """Id of its group, if it has one: the examples of a group have the same goal, question, text,
    history actions and candidates, in the same order, and each has another right answer."""
    square: str = ""
    """Id of its square, if it is of one. The examples of a square cross goals with pictures: all
    have the same candidates in the same order, those of a row the same goal, and those of a column
    the same picture. No two of a row or of a column have the same right answer."""
    row: int = 0
    column: int = 0
    seen: str = ""
    """The part of `reason` that tells what the picture shows, where that is known."""
    lineage: Lineage | None = None
    """What the example was made from; None for photographs alone."""

    @model_validator(mode="after")
    def _has_its_answer(self) -> Self:
        if self.answer >= len(self.candidates):
            raise ValueError(f"there is no candidate {self.answer} for its answer")
        return self

    @property
    def right(self) -> str:
        """The right answer."""
        return self.candidates[self.answer]

    @property
    def wrong(self) -> tuple[str, ...]:
        """The other candidates."""
        return tuple(text for text in self.candidates if text != self.right)

    @property
    def images(self) -> tuple[str, ...]:
        """Files of the images of earlier steps, oldest first, and of the present one."""
        return (*(past.image for past in self.history if past.image), self.image)

    @property
    def group(self) -> str:
        """Id of its square, or of its twins; empty if it is of neither."""
        return self.square or self.twins
