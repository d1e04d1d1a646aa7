"""Writes groups of twin examples: equal words, different images, reasons and answers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

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
from inhabit.eie.examples.example import Example, Lineage, Past, Rejection
from inhabit.eie.examples.missing import explain_built
from inhabit.eie.examples.moments import AskedMoment, Transition
from inhabit.eie.examples.tempting import against
from inhabit.eie.examples.topology import Topology
from inhabit.eie.examples.wording import (
    Explanation,
    explain,
    explain_absent,
    question,
    question_after_failure,
    question_of_film,
    recognise,
)
from inhabit.envs.core import Action
from inhabit.envs.template import ActionKind, Event, SaysInWords, ShowsHeld

Kind = Literal["decision", "trajectory", "recognition", "recovery"]


class ExampleWriter:
    """Writes the examples of one attempt."""

    def __init__(self, job: ExtractionJob) -> None:
        """Write about the task of `job`.

        Raises:
            TopologyError: the events of the task make no graph.
        """
        self._origin = job.origin
        self._template = job.template
        self._topology = Topology(events_of(job.origin, job.template))
        self._settings = job.settings
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
        """Those of them that tell where something is, so that a disturbance can make them false."""
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
        asked = self._asked(kind, members[0], text, past)
        if proposal is not None and proposal.question:
            asked = proposal.question
            for member in members:
                check_statement(asked, member.context.things, self._template.lexicon)
        shown = past if kind == "trajectory" else ()
        if any(self.told(member) != self.told(first) for member in members):
            raise RejectedError(Rejection.AMBIGUOUS, "Words would tell the twins apart.")
        texts = self._shuffled([self._in_words(option.text) for option in options])
        made = []
        for number, member in enumerate(members):
            why = self._why(member.context, options)
            if proposal is not None and member is first:
                why = Explanation(
                    proposal.reason or why.reason, proposal.key_concepts or why.key_concepts
                )
            words = _Words(asked, text, texts, why)
            draft = self._draft(kind, number, member.context, member.answer, words, shown)
            made.append(draft)
        return made

    def _why(self, context: StepContext, options: Sequence[Action]) -> Explanation:
        if context.task is not None:
            why = explain_built(context, self._template, self._rng)
            more = against(context, options, self._template, self._rng)
            return replace(why, reason=self._in_words(f"{why.reason} {more}".strip()))
        target, held = context.target(context.answer), next(iter(context.held), None)
        going = self._template.action_kind(context.answer) is ActionKind.GO
        if going and held is not None and target is not None and not target.pixels:
            return explain_absent(held, target)
        event, ahead = self._brought_about(context), self._ahead(context)
        why = explain(context, event, self._template, self._rng, ahead)
        more = against(context, options, self._template, self._rng)
        return replace(why, reason=self._in_words(f"{why.reason} {more}".strip()))

    def _asked(self, kind: Kind, member: AskedMoment, text: str, past: Sequence[TakenStep]) -> str:
        goal, done = self._origin.task.goal, self._events(member.context.done)
        if kind == "recovery":
            tried = self._in_words(past[-1].action.text)
            return question_after_failure(goal, text, done, tried, _FAILED, self._rng)
        if kind == "trajectory":
            text = f"{text} {self._rng.choice(_CHANGED)}".strip()
        return question(goal, text, done, self._rng)

    def recognitions(self, transitions: Sequence[Transition]) -> list[Draft]:
        """The twin examples of several transitions: what was done between two images.

        Raises:
            RejectedError: they must not be kept.
        """
        asked = question_of_film(self._rng)
        texts = self._shuffled([self._in_words(t.action.text) for t in transitions])
        made = []
        for number, transition in enumerate(transitions):
            why = recognise(transition.shown, transition.after.context, self._template)
            before = TakenStep(transition.action, "", False, transition.before.observe())
            transition.after.observe()
            words = _Words(asked, "", texts, why)
            context = transition.after.context
            made.append(
                self._draft("recognition", number, context, transition.action, words, (before,))
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
        transition.after.observe()
        for kind in why.key_concepts:
            check_shown(transition.after.context, kind, self._settings.visible)

    def _shuffled(self, texts: list[str]) -> tuple[str, ...]:
        return tuple(self._rng.sample(texts, len(texts)))

    def _draft(
        self,
        kind: Kind,
        number: int,
        context: StepContext,
        answer: Action,
        words: _Words,
        past: Sequence[TakenStep],
    ) -> Draft:
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
            lineage=self._lineage(context),
        )
        return Draft(draft, pictures, fingerprint(rgb))

    def _check(self, context: StepContext, answer: Action, words: _Words) -> None:
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
        least = round(self._settings.visible * rgb.shape[0] * rgb.shape[1])
        check_concepts(words.why.key_concepts, context, self._template.lexicon, least // FARTHER)

    def _history(
        self, kind: Kind, past: Sequence[TakenStep], pictures: dict[str, NDArray[np.uint8]]
    ) -> tuple[Past, ...]:
        """What came before: all in words, the last steps in images; of transitions the image."""
        first = len(past) - self._settings.history
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
                        feedback=self._in_words(step.feedback),
                        failed=step.failed,
                        image=image,
                    )
                )
        return tuple(found)

    def _levels(self, kind: Kind, context: StepContext, answer: Action) -> tuple[str, ...]:
        done = context.done[:-1] if kind == "recognition" else context.done
        plan = (answer,) if kind == "recognition" else context.plan
        names = self._names(done)
        event = self._topology.current(plan, self._template, names)
        said = self._in_words(answer.text)
        wish = event.wish if event is not None else said
        return (self._origin.task.goal, wish, said)

    def _lineage(self, context: StepContext) -> Lineage:
        origin = self._origin
        event = self._topology.current(context.plan, self._template, self._names(context.done))
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
        )

    def _brought_about(self, context: StepContext) -> Event | None:
        return self._topology.completed(context.answer, self._template, self._names(context.done))

    def _ahead(self, context: StepContext) -> Event | None:
        """The event that the plan causes after the answer."""
        done = self._names(context.done)
        event = self._topology.completed(context.answer, self._template, done)
        after = done | {event.name} if event is not None else done
        return self._topology.current(context.plan[1:], self._template, after)

    def _names(self, done: Sequence[TakenStep]) -> frozenset[str]:
        actions = [step.action for step in done if not step.failed]
        return self._topology.done(actions, self._template)

    def _events(self, done: Sequence[TakenStep]) -> Sequence[Event]:
        names = self._names(done)
        return [event for event in self._topology.order() if event.name in names]


@dataclass(frozen=True, slots=True)
class _Words:
    asked: str
    text: str
    options: tuple[str, ...]
    why: Explanation


_FAILED = "It did not work."
"""What twins are told of a failed action: the images show different causes."""
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
