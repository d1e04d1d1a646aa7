"""The results of extraction at one step: a draft of an example, or a rejection."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, Field, JsonValue

from inhabit.eie.checking.splits import Split
from inhabit.eie.examples.example import Example, Refused, Rejection
from inhabit.eie.examples.settings import SynthSettings
from inhabit.envs.core import Observation, Task
from inhabit.envs.template import ActionKind, Template


class ProposedEvent(BaseModel, frozen=True, extra="forbid"):
    """A node of an author's event graph; see `inhabit.envs.template.Event`.

    It has no `done`: an image could not refute a statement of the author about it.
    """

    name: str = Field(min_length=1, max_length=60)
    wish: str = Field(min_length=3, max_length=200)
    """What happens, as an instruction without a full stop: "heat the apple"."""
    deed: ActionKind
    thing: str = Field(min_length=1, max_length=60)
    needs: tuple[str, ...] = Field(default=(), max_length=16)


class Proposal(BaseModel, frozen=True, extra="forbid"):
    """A task as an author writes it. Every field is checked before it is used."""

    goal: str = Field(min_length=3, max_length=300)
    """The instruction, as a person would say it."""
    scene: Mapping[str, JsonValue]
    """Parameters of the environment's template."""
    events: tuple[ProposedEvent, ...] = Field(default=(), max_length=16)
    """The event graph, instead of the environment's own."""
    question: str | None = Field(default=None, max_length=600)
    """Question of the first step, instead of the generated one."""
    reason: str | None = Field(default=None, max_length=900)
    """Reason of the first step, instead of the generated one."""
    key_concepts: tuple[str, ...] = Field(default=(), max_length=8)
    """Key concepts of the first step, instead of the generated ones."""

    @property
    def texts(self) -> Sequence[str]:
        """All texts of the proposal."""
        asked = (self.goal, self.question or "", self.reason or "", *self.key_concepts)
        return (*asked, *(event.wish for event in self.events))


@dataclass(frozen=True, slots=True)
class Origin:
    """Where the examples of one attempt come from."""

    task: Task
    seed: int
    """The seed that the environment is reset with."""
    author: str
    split: Split
    parents: tuple[str, ...] = ()
    change: str = ""
    steps: int | None = None
    """Actions of the expert's plan from the start."""
    proposal: Proposal | None = None
    """What the author said, if it wrote more than a task."""
    reading: str = ""
    """The goal as a second model says it, if there is one."""


@dataclass(frozen=True, slots=True, eq=False)
class ExtractionJob:
    """What the examples of one attempt are extracted with."""

    origin: Origin
    template: Template
    settings: SynthSettings
    rng: random.Random

    def of_task(self, task: Task, steps: int | None) -> ExtractionJob:
        """The same job for another task, to whose goal the expert's plan has so many steps."""
        return replace(self, origin=replace(self.origin, task=task, steps=steps))

    def least(self, observation: Observation) -> int:
        """The number of pixels from which on a thing can be seen in an image."""
        rgb = observation.rgb
        area = 0 if rgb is None else rgb.shape[0] * rgb.shape[1]
        return max(1, round(self.settings.visible * area))


@dataclass(frozen=True, slots=True, eq=False)
class Draft:
    """An example and its images."""

    example: Example
    pictures: Mapping[str, NDArray[np.uint8]]
    """Images by digest, uint8 (H, W, 3)."""
    fingerprint: int
    """Fingerprint of the image that is asked about."""

    def of_parent(self, steps: int | None) -> Draft:
        """The same draft, with the length of the plan of its task's nearest parent."""
        lineage = self.example.lineage
        assert lineage is not None
        known = lineage.model_copy(update={"parent_steps": steps})
        return replace(self, example=self.example.model_copy(update={"lineage": known}))


Piece = Draft | Refused


class RejectedError(Exception):
    """Something must not be kept. Says which kind of reason, and the details."""

    def __init__(self, rejection: Rejection, sentence: str) -> None:
        super().__init__(sentence)
        self.refused = Refused(rejection, sentence)
