"""Turns an author's proposal into examples: checks every part, and says why one fails."""

from __future__ import annotations

import random
import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from pydantic import BaseModel, JsonValue, ValidationError

from inhabit.eie.checking.meaning import misread
from inhabit.eie.checking.splits import Split, split_of
from inhabit.eie.examples.built import BuiltSquare, BuiltTwins
from inhabit.eie.examples.checks import check_goal
from inhabit.eie.examples.context import SynthesisEnv
from inhabit.eie.examples.draft import Draft, ExtractionJob, Origin, Piece, Proposal, RejectedError
from inhabit.eie.examples.events import check_events
from inhabit.eie.examples.example import Rejection
from inhabit.eie.examples.extract import FILMS, ExampleExtractor
from inhabit.eie.examples.settings import SynthSettings
from inhabit.eie.examples.squares import SquareExtractor
from inhabit.eie.making.author import AuthorReply, Procedural
from inhabit.envs.core import Action, Env, Redirectable, SceneError, SceneObject, Task
from inhabit.envs.entries import first_problem
from inhabit.envs.template import (
    ActionKind,
    BuildsSquares,
    BuildsTwins,
    CrossesGoals,
    FewRooms,
    Template,
)
from inhabit.episodes.episode import Episode, Limits, Moment

MAX_STEPS = 50
"""Maximum length of an episode that examples are extracted from."""


_MARKUP = frozenset("<>{}[]\\^`|*")
_JOINERS = "\u200c\u200d"
"""Invisible, and needed in some languages."""


class Pipeline:
    """Makes examples for one environment. Deterministic: only its arguments decide the result."""

    def __init__(self, env: str, template: Template, settings: SynthSettings, seed: int) -> None:
        """Make examples for the environment `env`; `seed` is that of the set."""
        self.env = env
        self._template = template
        self._settings = settings
        self._seed = seed
        self._words = _words(template)

    def pieces(self, env: Env, answer: AuthorReply, author: str, number: int) -> Iterator[Piece]:
        """The examples and rejections of one answer of an author, in order. `env` is reset.

        Raises:
            SimulatorError: the simulator died.
        """
        rng = random.Random(f"{self.env} cut {self._seed} {number}")
        try:
            proposal = self._read(answer.raw, env.Scene)
            origin = self._origin(answer, proposal, author, rng)
            if isinstance(self._template, BuildsTwins):
                yield from self._built(env, answer, origin, author, rng)
                return
            episode = Episode(env, origin.task, origin.seed, Limits(origin.task.max_steps))
            if self._crosses(env, author):
                yield from self._squares(episode, origin, rng)
                return
            plan = self._start(episode, origin)
            job = self._job(replace(origin, steps=len(plan)), rng)
            pieces = list(ExampleExtractor(episode, job).pieces(plan))
            yield from self._with_parent(env, answer, origin, pieces)
        except RejectedError as error:
            yield error.refused

    def _crosses(self, env: Env, author: str) -> bool:
        """Whether squares are made. A model's goals are asked as they are, in groups of twins."""
        return (
            self._settings.groups == "squares"
            and self._settings.split_by == "room"
            and author == Procedural.name
            and isinstance(self._template, CrossesGoals | BuildsSquares)
            and isinstance(env, Redirectable)
        )

    def _job(self, origin: Origin, rng: random.Random) -> ExtractionJob:
        return ExtractionJob(origin, self._template, self._settings, rng)

    def _squares(self, episode: Episode, origin: Origin, rng: random.Random) -> Iterator[Piece]:
        """A film, as often as the settings want one; else the square of a scene.

        A square has goals of its own: that of the task need not be one to ask about.
        """
        if rng.random() < FILMS * self._settings.recognition and (
            found := self._films(episode, origin, rng)
        ):
            yield from found
            return
        self._reset(episode, origin)
        crossed = replace(origin, parents=(origin.task.id, *origin.parents))
        pieces = list(SquareExtractor(episode, self._job(crossed, rng)).pieces())
        steps = None
        if any(isinstance(piece, Draft) for piece in pieces):
            assert isinstance(episode.env, SynthesisEnv)
            steps = len(episode.env.plan()) or None
        for piece in pieces:
            yield piece.of_parent(steps) if isinstance(piece, Draft) else piece

    def _films(self, episode: Episode, origin: Origin, rng: random.Random) -> Sequence[Draft]:
        """The films of the task; none if there are too few, or its goal is none to ask about."""
        try:
            plan = self._start(episode, origin)
        except RejectedError:
            return []
        job = self._job(replace(origin, steps=len(plan)), rng)
        return list(ExampleExtractor(episode, job).films(plan))

    def _built(
        self, env: Env, answer: AuthorReply, origin: Origin, author: str, rng: random.Random
    ) -> Iterator[Piece]:
        """The examples of scenes that the template builds as a square, or as twins."""
        template = self._template
        assert isinstance(template, BuildsTwins)
        steps = None if answer.parent is None else template.steps(answer.parent)
        pieces: Iterator[Piece]
        if self._crosses(env, author) and isinstance(template, BuildsSquares):
            parents = (origin.task.id, *origin.parents)
            job = self._job(replace(origin, parents=parents), rng)
            pieces = BuiltSquare(env, job, self._start).pieces(template.squares(origin.task, rng))
        else:
            job = self._job(origin, rng)
            tasks = template.twins(origin.task, self._settings.candidates, rng)
            pieces = BuiltTwins(env, job, self._start).pieces(tasks)
        for piece in pieces:
            yield piece.of_parent(steps) if isinstance(piece, Draft) else piece

    def _read(self, raw: JsonValue, scene: Any) -> Proposal:
        """The answer as a proposal, checked against the schema."""
        try:
            proposal = Proposal.model_validate(raw)
        except ValidationError as error:
            raise RejectedError(Rejection.SCHEMA, f"{first_problem(error)}.") from error
        if isinstance(scene, type) and issubclass(scene, BaseModel):
            try:
                scene.model_validate(dict(proposal.scene))
            except ValidationError as error:
                raise self._refused(
                    f"{first_problem(error)}.", proposal, Rejection.SCHEMA
                ) from error
        return proposal

    def _origin(
        self, answer: AuthorReply, proposal: Proposal, author: str, rng: random.Random
    ) -> Origin:
        task = Task(
            id=answer.name,
            env=self.env,
            kind=self._template.kind(proposal.scene) or "unknown",
            goal=proposal.goal,
            scene=proposal.scene,
            max_steps=MAX_STEPS,
        )
        return Origin(
            task,
            seed=rng.randrange(2**31),
            author=author,
            split=self._split(task),
            parents=answer.parents,
            change=answer.change,
            proposal=proposal,
            reading=answer.reading,
        )

    def _split(self, task: Task) -> Split:
        """The split of a task. By object, all kinds that it has one take must be for one split."""
        by, template = self._settings.split_by, self._template
        if by == "family":
            return split_of(task.kind, self._seed)
        if by == "room":
            few = template.rooms if isinstance(template, FewRooms) else ()
            return split_of(template.room(task), self._seed, few)
        splits = {thing: split_of(thing, self._seed) for thing in _objects(task, template)}
        if len(set(splits.values())) > 1:
            each = ", ".join(f"the {thing} is for {split}" for thing, split in splits.items())
            raise RejectedError(Rejection.SPLIT, f"Its objects are for different splits: {each}.")
        return next(iter(splits.values()))

    def _with_parent(
        self, env: Env, answer: AuthorReply, origin: Origin, pieces: Sequence[Piece]
    ) -> Iterator[Piece]:
        """The same, with the length of the parent's plan in each example.

        The parent is built and planned last, and only if the attempt gave examples.
        """
        if not any(isinstance(piece, Draft) for piece in pieces):
            yield from pieces
            return
        steps = self._length(env, answer, origin)
        for piece in pieces:
            yield piece.of_parent(steps) if isinstance(piece, Draft) else piece

    def _length(self, env: Env, answer: AuthorReply, origin: Origin) -> int | None:
        """The number of actions of the expert's plan for the nearest parent; None without one."""
        if answer.parent is None:
            return None
        assert isinstance(env, SynthesisEnv)
        try:
            Episode(env, answer.parent, origin.seed).reset()
        except SceneError:
            return None
        return len(env.plan()) or None

    def _start(self, episode: Episode, origin: Origin) -> Sequence[Action]:
        """Build the scene and return the expert's plan; the task must be unsolved and solvable."""
        env, start = episode.env, self._reset(episode, origin)
        assert isinstance(env, SynthesisEnv)
        if start.met == start.total:
            why = f"All {start.total} conditions of the goal hold at the start."
            raise RejectedError(Rejection.ALREADY_SOLVED, why)
        self._check_goal(origin, env.things())
        if not (plan := env.plan()):
            raise RejectedError(Rejection.UNSOLVABLE, "The expert finds no way to the goal.")
        exploring = (ActionKind.SEARCH, ActionKind.LOOK)
        length = sum(self._template.action_kind(action) not in exploring for action in plan)
        if length > self._settings.longest:
            raise RejectedError(Rejection.TOO_LONG, f"The expert's plan has {length} actions.")
        check_events(origin, self._template, plan, env.things())
        return plan

    def _reset(self, episode: Episode, origin: Origin) -> Moment:
        """Build the scene."""
        try:
            return episode.reset()
        except SceneError as error:
            assert origin.proposal is not None
            raise self._refused(str(error), origin.proposal, Rejection.REFUSED) from error

    def _check_goal(self, origin: Origin, things: Sequence[SceneObject]) -> None:
        """Check that a goal is about what is there; a model's, that it means what the scene wants.

        Where a second model has read it, what that one says is checked.
        """
        task, lexicon = origin.task, self._template.lexicon
        events, said = self._template.events(task), origin.reading or task.goal
        by_model = origin.author != Procedural.name
        if by_model:
            assert origin.proposal is not None
            _check_plain(origin.proposal)
        try:
            check_goal(said, events, things, lexicon)
            conditional, plain = bool(task.scene.get("condition")), bool(origin.reading)
            if by_model and (
                why := misread(said, events, things, lexicon, conditional=conditional, plain=plain)
            ):
                raise RejectedError(Rejection.MEANING, why)
        except RejectedError as error:
            if not origin.reading:
                raise
            why = f"{error.refused.sentence} The goal {task.goal!r} was read as {said!r}."
            raise RejectedError(error.refused.rejection, why) from error

    def _refused(self, why: str, proposal: Proposal, otherwise: Rejection) -> RejectedError:
        """The rejection of an invalid scene: for an unknown name, if it has one."""
        unknown = next(
            (w for w in _texts(proposal.scene) if _normalized(w) not in self._words), None
        )
        if unknown is not None:
            return RejectedError(Rejection.UNKNOWN_NAME, f"There is no {unknown!r}. {why}")
        return RejectedError(otherwise, why)


def _check_plain(proposal: Proposal) -> None:
    """Check that a model wrote plain words."""
    for text in proposal.texts:
        if (strange := next(filter(_is_strange, text), None)) is not None:
            why = f"{strange!r} is no part of plain words: {text!r}."
            raise RejectedError(Rejection.MEANING, why)


def _is_strange(letter: str) -> bool:
    """Whether no sentence of a task has it: markup, and what controls a text or is invisible."""
    hidden = unicodedata.category(letter) in ("Cc", "Cf", "Zl", "Zp")
    return letter in _MARKUP or (hidden and letter not in _JOINERS)


def _objects(task: Task, template: Template) -> Sequence[str]:
    """The kinds of things that a task has one take; else that of its first event."""
    events = template.events(task)
    taken = {event.thing for event in events if event.action_kind is ActionKind.TAKE}
    return sorted(taken) or [event.thing for event in events[:1]] or [task.kind]


def _words(template: Template) -> frozenset[str]:
    """All names that a scene may hold, normalized."""
    lexicon = template.lexicon
    names = {*lexicon.kinds, *lexicon.synonyms, *_vocabulary(template.schema())}
    return frozenset(map(_normalized, names))


def _vocabulary(schema: object) -> Iterator[str]:
    """All words of a JSON schema: enums, constants, vocabularies and names of fields."""
    if isinstance(schema, Mapping):
        for key, value in schema.items():
            if key in ("enum", "vocabulary") and isinstance(value, list):
                yield from (v for v in value if isinstance(v, str))
            elif key == "const" and isinstance(value, str):
                yield value
            else:
                if key == "properties" and isinstance(value, Mapping):
                    yield from value
                yield from _vocabulary(value)
    elif isinstance(schema, list):
        for value in schema:
            yield from _vocabulary(value)


def _texts(value: object) -> Iterator[str]:
    """All texts in plain values, including the keys of objects."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for key, inner in value.items():
            yield str(key)
            yield from _texts(inner)
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from _texts(inner)


def _normalized(text: str) -> str:
    """A name without number, case and spaces: "Mug_2", "mug 1" and "mug" are equal."""
    stem = re.sub(r"[\s_]+\d+$", "", text)
    return re.sub(r"[\W_]+", "", stem.lower())
