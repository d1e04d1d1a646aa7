"""Writes examples, and twins of them with equal words."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from inhabit.agents.models.core import Image
from inhabit.eie.checking.circular import circle
from inhabit.eie.checking.pictures import fingerprint, unclear
from inhabit.eie.examples.checks import (
    FARTHER,
    check_concepts,
    check_name,
    check_question,
    check_shown,
    check_statement,
)
from inhabit.eie.examples.context import StepContext, TakenStep
from inhabit.eie.examples.draft import Draft, ExtractionJob, RejectedError
from inhabit.eie.examples.events import events_of
from inhabit.eie.examples.example import Example, Kind, Lineage, Past, Rejection
from inhabit.eie.examples.moments import AskedMoment, Transition
from inhabit.eie.examples.reasons import Beside, Instead, explain
from inhabit.eie.examples.topology import Topology, changed, kind_of, speaks_of
from inhabit.eie.examples.wording import Explanation, plain, question, question_of_film, recognise
from inhabit.envs.core import Action, SceneObject
from inhabit.envs.template import ActionKind, Event, SaysInWords, ShowsHeld


class ExampleWriter:
    """Writes the examples of one attempt."""

    def __init__(self, job: ExtractionJob) -> None:
        """Write about the task of `job`.

        Raises:
            TopologyError: the events of the task make no graph.
        """
        self._job = job
        self._origin = job.origin
        self._template = job.template
        self._topology = Topology(events_of(job.origin, job.template))
        self._rng = job.rng
        self._proposal = job.origin.proposal
        """What the author says of the first moment that is asked about."""

    def told(self, moment: AskedMoment) -> tuple[str, ...]:
        """What words have to tell of a moment, because its image does not show it.

        First the part of the observation's text, which may be empty; then the past events.
        """
        unseen = moment.observe().text
        if isinstance(self._template, ShowsHeld):
            unseen = self._template.unseen(unseen, moment.context.things)
        return (self._in_words(unseen), *self.facts(moment))

    def _in_words(self, text: str) -> str:
        return self._template.in_words(text) if isinstance(self._template, SaysInWords) else text

    def facts(self, moment: AskedMoment) -> tuple[str, ...]:
        """The past events that are told of, a sentence each."""
        return tuple(e.done for e in self._events(moment.context.done) if e.done)

    def places(self, moment: AskedMoment) -> tuple[str, ...]:
        """Facts that tell where something is, so that a disturbance can make them false."""
        events = self._events(moment.context.done)
        return tuple(e.done for e in events if e.done and e.action_kind is ActionKind.PUT)

    def decisions(
        self,
        kind: Kind,
        members: Sequence[AskedMoment],
        options: Sequence[Action],
        past: Sequence[TakenStep],
    ) -> list[Draft]:
        """The twin examples of several moments, with equal words.

        Args:
            kind: of the examples.
            members: with different answers; what is told of them is equal.
            options: the answers, and perhaps others that are wrong for all members.
            past: the steps that are told, with images; for "recovery" the failed action.

        Raises:
            RejectedError: they must not be kept.
        """
        first = min(members, key=lambda member: len(member.context.done))
        text = self.told(members[0])[0]
        proposal, self._proposal = self._proposal, None
        done = self._events(members[0].context.done)
        asked = self.asked(kind, text, done, past, self._rng, _CHANGED)
        if proposal is not None and proposal.question:
            asked = proposal.question
            for member in members:
                check_statement(asked, member.context.things, self._template.lexicon)
        shown = past if kind == "trajectory" else ()
        if any(self.told(member) != self.told(first) for member in members):
            raise RejectedError(Rejection.AMBIGUOUS, "Words would tell the twins apart.")
        texts = self.shuffled(options)
        made = []
        for number, member in enumerate(members):
            why = self.why(member.context)
            if proposal is not None and member is first:
                why = Explanation(
                    proposal.reason or why.reason,
                    proposal.key_concepts or why.key_concepts,
                    "" if proposal.reason else why.seen,
                )
            words = ExampleWords(asked, text, texts, why)
            draft = self.draft(kind, number, member.context, member.answer, words, shown)
            made.append(draft)
        return made

    def why(
        self,
        context: StepContext,
        instead: Instead | None = None,
        others: Sequence[StepContext] = (),
        tried: Action | None = None,
    ) -> Explanation:
        """The reason of a moment's answer.

        Args:
            context: of the moment.
            instead: what another goal would have one do.
            others: of the other pictures, in a square.
            tried: an action that failed, and comes later in the plan.
        """
        events = self._topology.order()
        taken = [e.thing for e in events if e.action_kind is ActionKind.TAKE]
        least = self._job.least(context.observation)
        beside = Beside(others, frozenset(taken), least) if others else None
        wish = self.purpose(context)
        makes = self._template.action_kind(context.plan[-1]) in _MADE
        whole = makes or len(events) - len(taken) <= 1
        found = explain(context, wish, self._template, self._rng, instead, beside, tried, whole)
        return replace(found, reason=self._in_words(found.reason), seen=self._in_words(found.seen))

    def purpose(self, context: StepContext) -> str:
        """The part of the goal that the plan serves first, beyond holding something."""
        event = self._served(context)
        if self._template.action_kind(context.plan[-1]) in _MADE:
            event = self._topology.end(event) if event else self._topology.order()[-1]
        return event.wish if event is not None else ""

    def _served(self, context: StepContext) -> Event | None:
        """The first event of the plan that does more than take something; else the first.

        What is taken now serves the event that speaks of it, if one does before the next is taken.
        """
        moved = next((thing.kind for thing in context.held), "")
        first = spare = None
        takes = self._template.action_kind(context.plan[0]) is ActionKind.TAKE
        for action in context.plan:
            kind = self._template.action_kind(action)
            if kind is ActionKind.TAKE and spare is not None:
                return spare
            name = changed(action, kind)
            if kind is ActionKind.TAKE:
                target = context.target(action)
                moved = target.kind if target is not None else name
            alike = [e for e in self._topology.order() if (e.action_kind, e.thing) == (kind, name)]
            inside = moved or next((t.kind for t in context.things if _is_in(t, name)), "")
            event = next((e for e in alike if speaks_of(e.wish, inside)), None)
            event = event or (alike[0] if len(alike) == 1 and kind not in _MOVED else None)
            if event is not None and kind is not ActionKind.TAKE:
                if not takes or speaks_of(event.wish, moved):
                    return event
                spare = spare or event
            first = first or event
        return spare or first

    def asked(
        self,
        kind: Kind,
        text: str,
        done: Sequence[Event],
        past: Sequence[TakenStep],
        rng: random.Random,
        since: Sequence[str],
    ) -> str:
        """The question. `since` is what may be said of the time between the past and the image."""
        if kind == "trajectory":
            text = f"{text} {rng.choice(since)}".strip()
        tried = self._in_words(past[-1].action.text) if kind == "recovery" else ""
        return question(self._origin.task.goal, text, done, rng, tried)

    def recognitions(self, transitions: Sequence[Transition]) -> list[Draft]:
        """The twin examples of several transitions: what was done between two images.

        Raises:
            RejectedError: they must not be kept.
        """
        asked = question_of_film(self._rng)
        texts = self.shuffled([t.action for t in transitions])
        made = []
        for number, transition in enumerate(transitions):
            why = recognise(transition.shown, transition.after.context, self._template)
            before = TakenStep(transition.action, "", None, transition.before.observe())
            transition.after.observe()
            words = ExampleWords(asked, "", texts, why)
            context = transition.after.context
            made.append(
                self.draft("recognition", number, context, transition.action, words, (before,))
            )
        return made

    def check_transition(self, transition: Transition) -> None:
        """Check that two images show an action.

        Raises:
            RejectedError: they do not.
        """
        check_name(transition.shown, transition.action)
        why = recognise(transition.shown, transition.after.context, self._template)
        if not why.reason:
            raise RejectedError(
                Rejection.HIDDEN,
                f"Nothing in the pictures shows that it was {transition.action.text!r}.",
            )
        least = self._job.least(transition.after.observe())
        for kind in why.key_concepts:
            check_shown(transition.after.context, kind, least)

    def wishes(self, wish: str) -> bool:
        """Whether the goal asks for this, among others."""
        return any(event.wish == wish for event in self._topology.order())

    def shuffled(self, options: Sequence[Action]) -> tuple[str, ...]:
        """The options in words, in an order picked at random."""
        texts = [self._in_words(option.text) for option in options]
        return tuple(self._rng.sample(texts, len(texts)))

    def draft(
        self,
        kind: Kind,
        number: int,
        context: StepContext,
        answer: Action,
        words: ExampleWords,
        past: Sequence[TakenStep],
    ) -> Draft:
        """One example, with its images.

        Raises:
            RejectedError: it must not be kept.
        """
        rgb = context.observation.rgb
        assert rgb is not None
        self._check(context, answer, words)
        pictures: dict[str, NDArray[np.uint8]] = {}
        image = _add(rgb, pictures)
        task = self._origin.task
        target = context.target(answer)
        draft = Example(
            id=f"{task.id}-{number}{_MARKS[kind]}",
            env=task.env,
            kind=kind,
            split=self._origin.split,
            image=_file(image),
            image_digest=image,
            text=words.text,
            question=words.asked,
            candidates=words.options,
            answer=words.options.index(self._in_words(answer.text)),
            reason=words.why.reason,
            key_concepts=words.why.key_concepts,
            goal=task.goal,
            levels=self._levels(kind, context, answer),
            history=self._history(kind, past, pictures),
            difficulty=max(1, len(context.plan)),
            room=self._template.room(task),
            verb=answer.verb,
            objects=(target.kind,) if target is not None else (),
            twins=task.id,
            seen=words.why.seen,
            lineage=self._lineage(context),
        )
        return Draft(draft, pictures, fingerprint(rgb))

    def _check(self, context: StepContext, answer: Action, words: ExampleWords) -> None:
        in_sight = sum(t.pixels > 0 for t in context.things)
        rgb = context.observation.rgb
        assert rgb is not None
        most = max((t.pixels for t in context.things), default=0) / (rgb.shape[0] * rgb.shape[1])
        if (dim := unclear(rgb, in_sight, most)) is not None:
            raise RejectedError(Rejection.UNCLEAR, dim)
        # A goal may say the answer: it says the answers of all twins alike.
        check_question(words.asked.replace(self._origin.task.goal, " "), answer, context)
        check_statement(words.why.reason, context.things, self._template.lexicon)
        check_statement(words.text, context.things, self._template.lexicon)
        if said := circle(words.why.reason):
            raise RejectedError(Rejection.CIRCULAR, f"The reason goes in a circle: {said!r}.")
        least = self._job.least(context.observation)
        check_concepts(words.why.key_concepts, context, self._template.lexicon, least // FARTHER)

    def _history(
        self, kind: Kind, past: Sequence[TakenStep], pictures: dict[str, NDArray[np.uint8]]
    ) -> tuple[Past, ...]:
        """What came before: all in words, the last steps in images; of transitions the image."""
        first = len(past) - self._job.settings.history
        found = []
        for place, step in enumerate(past):
            rgb = step.observation.rgb
            shown = rgb is not None and (place >= first or kind == "recognition")
            image = _file(_add(rgb, pictures)) if shown and rgb is not None else None
            if kind == "recognition":
                found.append(Past(action="", image=image))
            else:
                found.append(
                    Past(
                        action=self._in_words(step.action.text),
                        feedback=plain(self._in_words(step.feedback)),
                        failed=step.failed,
                        image=image,
                    )
                )
        return tuple(found)

    def _levels(self, kind: Kind, context: StepContext, answer: Action) -> tuple[str, ...]:
        event = self._served(context)
        if kind == "recognition":
            before = self._names(context.done[:-1])
            now = (event for event in self._events(context.done) if event.name not in before)
            event = next(now, None)
        said = self._in_words(answer.text)
        wish = event.wish if event is not None else said
        return (self._origin.task.goal, wish, said)

    def _lineage(self, context: StepContext) -> Lineage:
        origin = self._origin
        event = self._served(context)
        held = next((thing.kind for thing in context.held), "")
        return Lineage(
            author=origin.author,
            seed_task=origin.task.id,
            parents=origin.parents,
            change=origin.change,
            steps=origin.steps,
            task=(context.task or origin.task).model_dump(mode="json"),
            seed=origin.seed,
            actions=tuple(step.action.text for step in context.done),
            plan=tuple(action.text for action in context.plan),
            event=event.name if event is not None else "",
            topology=tuple(self._topology.moment(context.plan, self._template, held)),
        )

    def _names(self, done: Sequence[TakenStep]) -> frozenset[str]:
        actions = [step.action for step in done if not step.failed]
        return self._topology.done(actions, self._template)

    def _events(self, done: Sequence[TakenStep]) -> Sequence[Event]:
        names = self._names(done)
        return [event for event in self._topology.order() if event.name in names]


@dataclass(frozen=True, slots=True)
class ExampleWords:
    """What an example says."""

    asked: str
    """The question, with the goal."""
    text: str
    """What the image does not show."""
    options: tuple[str, ...]
    why: Explanation


_MOVED = (ActionKind.TAKE, ActionKind.PUT)
"""Kinds of actions that are about the thing that is moved as well."""

_MADE = (ActionKind.MAKE, ActionKind.GATHER)
"""Kinds of actions after which something is carried that the goal asks for."""


def _is_in(thing: SceneObject, name: str) -> bool:
    return thing.inside and thing.support is not None and kind_of(thing.support) == name


_CHANGED = (
    "Something may have been moved or changed since then.",
    "Since then, something may have been moved or changed.",
    "In the meantime, somebody may have moved or changed something.",
    "Some things may be different now.",
)
"""What twins with a history are told: their scenes differ at the end."""
_MARKS = {"decision": "", "trajectory": "", "recovery": "-retry", "recognition": "-seen"}


def _add(rgb: NDArray[np.uint8], pictures: dict[str, NDArray[np.uint8]]) -> str:
    digest = Image(rgb).digest
    pictures.setdefault(digest, rgb)
    return digest


def _file(digest: str) -> str:
    return f"images/{digest}.png"
