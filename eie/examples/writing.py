"""Makes an example of a moment: question, candidates in their places, reason, lineage."""

from __future__ import annotations

import random
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
    check_told,
)
from inhabit.eie.checking.pictures import fingerprint, unclear
from inhabit.eie.examples.candidates import other_actions
from inhabit.eie.examples.draft import Draft, Origin, RejectedError
from inhabit.eie.examples.example import Example, Lineage, Past, Rejection
from inhabit.eie.examples.moment import Moment, TakenStep
from inhabit.eie.examples.topology import Topology
from inhabit.eie.examples.wording import (
    Explanation,
    explain,
    question,
    question_after_failure,
    question_of_film,
    recognise,
)
from inhabit.eie.making.settings import SynthSettings
from inhabit.envs.core import Action
from inhabit.envs.template import ActionKind, Event, Template

Kind = Literal["decision", "trajectory", "recognition", "recovery"]


class ExampleWriter:
    """Writes the examples of one attempt."""

    def __init__(
        self,
        origin: Origin,
        template: Template,
        topology: Topology,
        settings: SynthSettings,
        vocabulary: Sequence[Action],
        draw: random.Random,
        *,
        whole: bool,
    ) -> None:
        """Write about the task of `origin`; `whole` shows what was done before."""
        self._origin = origin
        self._template = template
        self._topology = topology
        self._settings = settings
        self._vocabulary = vocabulary
        self._draw = draw
        self._whole = whole
        self._proposal = origin.proposal
        """What the author says of the first moment that is asked about."""

    def decision(self, moment: Moment, wrong: Sequence[Action]) -> Draft:
        """What to do at a moment.

        Raises:
            RejectedError: it must not be kept.
        """
        done = self._events(moment.done)
        if not self._whole:
            self._check_history(moment.done)
        goal, told = self._origin.task.goal, moment.observation.text
        proposal, self._proposal = self._proposal, None
        event = self._brought_about(moment)
        why = explain(moment, event, self._template)
        asked = question(goal, told, done, self._draw)
        if proposal is not None:
            why = Explanation(
                proposal.reason or why.reason, proposal.key_concepts or why.key_concepts
            )
            if proposal.question:
                asked = proposal.question
                check_told(asked, moment.things, self._template.lexicon)
        kind: Kind = "trajectory" if self._whole and moment.done else "decision"
        return self._draft(kind, moment, moment.answer, wrong, asked, why)

    def _check_history(self, done: Sequence[TakenStep]) -> None:
        """See that no more was done than the picture or the question can tell of."""
        for step in done:
            if not step.failed and self._template.deed(step.action) is ActionKind.OTHER:
                raise RejectedError(
                    Rejection.AMBIGUOUS,
                    f"What is next hangs on {step.action.text!r}, which no picture shows.",
                )

    def recovery(self, moment: Moment, wrong: Sequence[Action]) -> Draft:
        """What to do after the last step failed.

        Raises:
            RejectedError: it must not be kept.
        """
        last = moment.done[-1]
        asked = question_after_failure(
            self._origin.task.goal,
            moment.observation.text,
            self._events(moment.done),
            last.action.text,
            last.feedback,
            self._draw,
        )
        why = explain(moment, self._brought_about(moment), self._template)
        return self._draft("recovery", moment, moment.answer, wrong, asked, why)

    def recognition(self, before: Moment, after: Moment) -> Draft:
        """What was done between two moments. Candidates are of the same task, as they were seen.

        Raises:
            RejectedError: it must not be kept.
        """
        done = before.answer
        check_name(before, done)
        count = self._settings.candidates - 1
        wrong = other_actions(before, self._vocabulary, self._template, self._draw, count)
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
        return self._draft("recognition", after, done, wrong, question_of_film(self._draw), why)

    def _draft(
        self,
        kind: Kind,
        moment: Moment,
        answer: Action,
        wrong: Sequence[Action],
        asked: str,
        why: Explanation,
    ) -> Draft:
        rgb = moment.observation.rgb
        assert rgb is not None
        self._check(kind, moment, answer, asked, why)
        wanted = self._settings.candidates - 1
        texts = [a.text for a in wrong[:wanted]]
        place = self._draw.randrange(len(texts) + 1)
        texts.insert(place, answer.text)
        pictures: dict[str, NDArray[np.uint8]] = {}
        image = _add(rgb, pictures)
        history = self._history(kind, moment.done, pictures)
        task = self._origin.task
        aim = moment.aim(answer)
        draft = Example(
            id=f"{task.id}-{len(moment.done)}{_MARKS[kind]}",
            env=task.env,
            kind=kind,
            split=self._origin.split,
            image=_file(image),
            image_digest=image,
            text=moment.observation.text if kind != "recognition" else "",
            question=asked,
            candidates=tuple(texts),
            answer=place,
            reason=why.reason,
            key_concepts=why.key_concepts,
            goal=task.goal,
            levels=self._levels(kind, moment, answer),
            history=history,
            difficulty=max(1, len(moment.plan)),
            room=self._template.room(task),
            verb=answer.verb,
            objects=(aim.kind,) if aim is not None else (),
            lineage=self._lineage(moment),
        )
        spare = tuple(a.text for a in wrong[wanted:])
        return Draft(draft, pictures, fingerprint(rgb), spare)

    def _check(
        self,
        kind: Kind,
        moment: Moment,
        answer: Action,
        asked: str,
        why: Explanation,
    ) -> None:
        if kind == "recognition":
            in_sight = sum(t.pixels > 0 for t in moment.things)
            assert moment.observation.rgb is not None
            if (dim := unclear(moment.observation.rgb, in_sight)) is not None:
                raise RejectedError(Rejection.UNCLEAR, dim)
        check_question(asked, answer, moment)
        check_told(why.reason, moment.things, self._template.lexicon)
        check_told(moment.observation.text, moment.things, self._template.lexicon)
        check_concepts(why.key_concepts, moment, self._template.lexicon)

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

    def _levels(self, kind: Kind, moment: Moment, answer: Action) -> tuple[str, ...]:
        done = moment.done[:-1] if kind == "recognition" else moment.done
        plan = (answer,) if kind == "recognition" else moment.plan
        names = self._names(done)
        event = self._topology.current(plan, self._template, names)
        wish = event.wish if event is not None else answer.text
        return (self._origin.task.goal, wish, answer.text)

    def _lineage(self, moment: Moment) -> Lineage:
        origin = self._origin
        event = self._topology.current(moment.plan, self._template, self._names(moment.done))
        return Lineage(
            author=origin.author,
            seed_task=origin.task.id,
            parents=origin.parents,
            change=origin.change,
            task=origin.task.model_dump(mode="json"),
            seed=origin.seed,
            actions=tuple(step.action.text for step in moment.done),
            plan=tuple(action.text for action in moment.plan),
            event=event.name if event is not None else "",
        )

    def _brought_about(self, moment: Moment) -> Event | None:
        return self._topology.completed(moment.answer, self._template, self._names(moment.done))

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
