"""Writes the example of one step: question, shuffled candidates, reason, lineage."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from inhabit.agents.models.core import Image
from inhabit.eie.checking.checks import (
    check_concepts,
    check_name,
    check_question,
    check_shown,
    check_statement,
)
from inhabit.eie.checking.pictures import fingerprint, unclear
from inhabit.eie.examples.candidates import CandidateSource
from inhabit.eie.examples.context import StepContext, TakenStep
from inhabit.eie.examples.draft import Draft, ExtractionJob, RejectedError
from inhabit.eie.examples.events import events_of
from inhabit.eie.examples.example import Example, Lineage, Past, Rejection
from inhabit.eie.examples.topology import Topology
from inhabit.eie.examples.wording import (
    Explanation,
    explain,
    question,
    question_after_failure,
    question_of_film,
    recognise,
)
from inhabit.envs.core import Action
from inhabit.envs.template import ActionKind, Event

Kind = Literal["decision", "trajectory", "recognition", "recovery"]


class ExampleWriter:
    """Writes the examples of one attempt."""

    def __init__(self, job: ExtractionJob, vocabulary: Sequence[Action], *, whole: bool) -> None:
        """Write about the task of `job`.

        Args:
            job: origin, template and settings.
            vocabulary: all actions of the environment.
            whole: whether examples show what was done before.

        Raises:
            TopologyError: the events of the task make no graph.
        """
        self._origin = job.origin
        self._template = job.template
        self._topology = Topology(events_of(job.origin, job.template))
        self._settings = job.settings
        self._vocabulary = vocabulary
        self._rng = job.rng
        self._whole = whole
        self._proposal = job.origin.proposal
        """What the author says of the first moment that is asked about."""

    def decision(self, context: StepContext, wrong: Sequence[Action]) -> Draft:
        """What to do at a moment.

        Raises:
            RejectedError: it must not be kept.
        """
        done = self._events(context.done)
        if not self._whole:
            self._check_history(context.done)
        goal, told = self._origin.task.goal, context.observation.text
        proposal, self._proposal = self._proposal, None
        event = self._brought_about(context)
        why = explain(context, event, self._template)
        asked = question(goal, told, done, self._rng)
        if proposal is not None:
            why = Explanation(
                proposal.reason or why.reason, proposal.key_concepts or why.key_concepts
            )
            if proposal.question:
                asked = proposal.question
                check_statement(asked, context.things, self._template.lexicon)
        kind: Kind = "trajectory" if self._whole and context.done else "decision"
        return self._draft(kind, context, context.answer, wrong, asked, why)

    def _check_history(self, done: Sequence[TakenStep]) -> None:
        """See that no more was done than the picture or the question can tell of."""
        for step in done:
            if not step.failed and self._template.deed(step.action) is ActionKind.OTHER:
                raise RejectedError(
                    Rejection.AMBIGUOUS,
                    f"What is next hangs on {step.action.text!r}, which no picture shows.",
                )

    def recovery(self, context: StepContext, wrong: Sequence[Action]) -> Draft:
        """What to do after the last step failed.

        Raises:
            RejectedError: it must not be kept.
        """
        last = context.done[-1]
        asked = question_after_failure(
            self._origin.task.goal,
            context.observation.text,
            self._events(context.done),
            last.action.text,
            last.feedback,
            self._rng,
        )
        why = explain(context, self._brought_about(context), self._template)
        return self._draft("recovery", context, context.answer, wrong, asked, why)

    def recognition(self, before: StepContext, after: StepContext) -> Draft:
        """What was done between two moments. Candidates are of the same task, as they were seen.

        Raises:
            RejectedError: it must not be kept.
        """
        done = before.answer
        check_name(before, done)
        count = self._settings.candidates - 1
        source = CandidateSource(before, self._vocabulary, self._template, self._rng)
        wrong = source.other_actions(count)
        if len(wrong) < count:
            raise RejectedError(
                Rejection.AMBIGUOUS, "The task has too few other actions to choose from."
            )
        why = recognise(before, after, self._template)
        if not why.reason:
            raise RejectedError(
                Rejection.HIDDEN, f"Nothing in the pictures shows that it was {done.text!r}."
            )
        for kind in why.key_concepts:
            check_shown(after, kind, self._settings.visible)
        return self._draft("recognition", after, done, wrong, question_of_film(self._rng), why)

    def _draft(
        self,
        kind: Kind,
        context: StepContext,
        answer: Action,
        wrong: Sequence[Action],
        asked: str,
        why: Explanation,
    ) -> Draft:
        rgb = context.observation.rgb
        assert rgb is not None
        self._check(kind, context, answer, asked, why)
        wanted = self._settings.candidates - 1
        texts = [a.text for a in wrong[:wanted]]
        place = self._rng.randrange(len(texts) + 1)
        texts.insert(place, answer.text)
        pictures: dict[str, NDArray[np.uint8]] = {}
        image = _add(rgb, pictures)
        history = self._history(kind, context.done, pictures)
        task = self._origin.task
        target = context.target(answer)
        draft = Example(
            id=f"{task.id}-{len(context.done)}{_MARKS[kind]}",
            env=task.env,
            kind=kind,
            split=self._origin.split,
            image=_file(image),
            image_digest=image,
            text=context.observation.text if kind != "recognition" else "",
            question=asked,
            candidates=tuple(texts),
            answer=place,
            reason=why.reason,
            key_concepts=why.key_concepts,
            goal=task.goal,
            levels=self._levels(kind, context, answer),
            history=history,
            difficulty=max(1, len(context.plan)),
            room=self._template.room(task),
            verb=answer.verb,
            objects=(target.kind,) if target is not None else (),
            lineage=self._lineage(context),
        )
        spare = tuple(a.text for a in wrong[wanted:])
        return Draft(draft, pictures, fingerprint(rgb), spare)

    def _check(
        self,
        kind: Kind,
        context: StepContext,
        answer: Action,
        asked: str,
        why: Explanation,
    ) -> None:
        if kind == "recognition":
            in_sight = sum(t.pixels > 0 for t in context.things)
            assert context.observation.rgb is not None
            if (dim := unclear(context.observation.rgb, in_sight)) is not None:
                raise RejectedError(Rejection.UNCLEAR, dim)
        check_question(asked, answer, context)
        check_statement(why.reason, context.things, self._template.lexicon)
        check_statement(context.observation.text, context.things, self._template.lexicon)
        check_concepts(why.key_concepts, context, self._template.lexicon)

    def _history(
        self, kind: Kind, done: Sequence[TakenStep], pictures: dict[str, NDArray[np.uint8]]
    ) -> tuple[Past, ...]:
        """What came before: all of it in words, the last steps in pictures."""
        if kind == "recognition":
            rgb = done[-1].observation.rgb
            assert rgb is not None
            return (Past(action="", image=_file(_add(rgb, pictures))),)
        if not self._whole and kind != "recovery":
            return ()
        shown = done[-1:] if not self._whole else done
        first = len(shown) - self._settings.history
        return tuple(
            Past(
                action=step.action.text,
                feedback=step.feedback,
                failed=step.failed,
                image=(
                    _file(_add(step.observation.rgb, pictures))
                    if i >= first and step.observation.rgb is not None
                    else None
                ),
            )
            for i, step in enumerate(shown)
        )

    def _levels(self, kind: Kind, context: StepContext, answer: Action) -> tuple[str, ...]:
        done = context.done[:-1] if kind == "recognition" else context.done
        plan = (answer,) if kind == "recognition" else context.plan
        names = self._names(done)
        event = self._topology.current(plan, self._template, names)
        wish = event.wish if event is not None else answer.text
        return (self._origin.task.goal, wish, answer.text)

    def _lineage(self, context: StepContext) -> Lineage:
        origin = self._origin
        event = self._topology.current(context.plan, self._template, self._names(context.done))
        return Lineage(
            author=origin.author,
            seed_task=origin.task.id,
            parents=origin.parents,
            change=origin.change,
            task=origin.task.model_dump(mode="json"),
            seed=origin.seed,
            actions=tuple(step.action.text for step in context.done),
            plan=tuple(action.text for action in context.plan),
            event=event.name if event is not None else "",
        )

    def _brought_about(self, context: StepContext) -> Event | None:
        return self._topology.completed(context.answer, self._template, self._names(context.done))

    def _names(self, done: Sequence[TakenStep]) -> frozenset[str]:
        actions = [step.action for step in done if not step.failed]
        return self._topology.done(actions, self._template)

    def _events(self, done: Sequence[TakenStep]) -> Sequence[Event]:
        names = self._names(done)
        return [event for event in self._topology.order() if event.name in names]


_MARKS = {"decision": "", "trajectory": "", "recovery": "-retry", "recognition": "-seen"}


def _add(rgb: NDArray[np.uint8], pictures: dict[str, NDArray[np.uint8]]) -> str:
    digest = Image(rgb).digest
    pictures.setdefault(digest, rgb)
    return digest


def _file(digest: str) -> str:
    return f"images/{digest}.png"
