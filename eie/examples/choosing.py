"""Chooses moments or transitions that make twins: equal words, different right answers."""

from __future__ import annotations

from collections.abc import Sequence

from inhabit.eie.examples.checks import check_name
from inhabit.eie.examples.context import StepContext, without_numbers
from inhabit.eie.examples.draft import ExtractionJob, RejectedError
from inhabit.eie.examples.moments import AskedMoment, Transition
from inhabit.eie.examples.reasons import NEARER
from inhabit.eie.examples.soundness import Soundness, differ
from inhabit.eie.examples.writing import ExampleWriter
from inhabit.envs.core import Action
from inhabit.envs.template import ActionKind

_ANCHORS = 2
"""Moments that a group is tried to be built around."""
_SPARE = 4
"""Actions that are tried to fill up the candidates of a group that is one answer short."""


class MomentGroups:
    """Chooses moments of one task."""

    def __init__(self, job: ExtractionJob, writer: ExampleWriter, least: int) -> None:
        """Choose for the task of `job`. A thing can be seen from `least` pixels on."""
        self._job = job
        self._writer = writer
        self._template = job.template
        self._size = job.settings.candidates
        self.fillers: Sequence[AskedMoment] = ()
        """Moments of the task whose answers may fill up candidates; not all can be asked about."""
        self.soundness = Soundness(job, least)

    def answers(self, moments: Sequence[AskedMoment]) -> int:
        """The largest number of different answers among moments with equal facts."""
        return max((len({m.said for m in pool}) for pool in self._pools(moments)), default=0)

    def _pools(self, moments: Sequence[AskedMoment]) -> Sequence[list[AskedMoment]]:
        """Moments with equal facts together."""
        by_facts: dict[tuple[str, ...], list[AskedMoment]] = {}
        for moment in moments:
            by_facts.setdefault(self._writer.facts(moment), []).append(moment)
        return list(by_facts.values())

    def choose(
        self, moments: Sequence[AskedMoment]
    ) -> tuple[list[AskedMoment], list[Action]] | None:
        """The members of a group and its candidates; None if there are too few.

        Members have different answers. Every answer is worse than the right one for all other
        members, by execution in copies or by the best actions; images differ visibly.
        """
        least = max(2, self._size - 1)
        pools = [p for p in self._pools(moments) if len({m.said for m in p}) >= least]
        for pool in self._job.rng.sample(pools, len(pools)):
            for anchor in self._job.rng.sample(pool, min(len(pool), _ANCHORS)):
                members = self._around(anchor, pool)
                if len(members) < least:
                    continue
                fillers = self._fillers(members, moments)
                options = [*(m.answer for m in members), *fillers]
                if len(options) == self._size and all(self._is_best(m, options) for m in members):
                    return members, options
        return None

    def _is_best(self, moment: AskedMoment, options: Sequence[Action]) -> bool:
        """Whether going to another thing of the same name is not as good as the answer.

        A trial goes to one of them alone.
        """
        doubtful = [
            without_numbers(option)
            for option in options
            if without_numbers(option) != moment.said
            and self._template.action_kind(option) is ActionKind.GO
            and any(len(moment.context.alike(name)) > 1 for name in option.arguments[-1:])
        ]
        if not doubtful or (best := moment.trials.best()) is None:
            return True
        return {*doubtful}.isdisjoint(map(without_numbers, best))

    def _around(self, anchor: AskedMoment, pool: Sequence[AskedMoment]) -> list[AskedMoment]:
        """A group with the anchor, and with others of the same view first."""
        if not (self._is_sound(anchor) and self.soundness.shows_state(anchor)):
            return []
        members = [anchor]
        others = self._job.rng.sample(pool, len(pool))
        for other in sorted(others, key=lambda m: m.view != anchor.view):
            if len(members) == self._size:
                break
            if (
                all(other.said != m.said for m in members)
                and self._is_sound(other)
                and all(self._are_twins(other, m) for m in members)
                and self._writer.told(other) == self._writer.told(anchor)
                and all(
                    other.view != m.view or differ(other.observe(), m.observe()) for m in members
                )
                and self.soundness.shows_state(other)
            ):
                members.append(other)
        return members

    def _is_sound(self, moment: AskedMoment) -> bool:
        facts, places = self._writer.facts(moment), self._writer.places(moment)
        return self.soundness.is_sound(moment, facts, places)

    def _are_twins(self, one: AskedMoment, other: AskedMoment) -> bool:
        """Whether each has the better answer for itself, for reasons that can be seen."""
        return (
            self.soundness.looks_nearer(one, other)
            and one.trials.is_wrong(other.answer, one.answer)
            and other.trials.is_wrong(one.answer, other.answer)
        )

    def _fillers(
        self, members: Sequence[AskedMoment], moments: Sequence[AskedMoment]
    ) -> list[Action]:
        """Answers of other moments of the task that are wrong for all members, as many as lack."""
        lacking = self._size - len(members)
        if not lacking:
            return []
        found: list[Action] = []
        said = {m.said for m in members}
        others = {m.said: m.answer for m in (*moments, *self.fillers) if m.said not in said}
        for member in members if members[0].context.task is not None else ():
            # In scenes of their own, the later actions of the plans fill up.
            later = {without_numbers(action): action for action in member.context.plan}
            others |= {name: action for name, action in later.items() if name not in said}
        for action in self._job.rng.sample([*others.values()], min(len(others), _SPARE)):
            if all(_is_plain(action, m) and m.trials.is_wrong(action, m.answer) for m in members):
                found.append(action)
            if len(found) == lacking:
                break
        return found


class FilmGroups:
    """Chooses transitions of one task."""

    def __init__(self, job: ExtractionJob, writer: ExampleWriter) -> None:
        self._job = job
        self._writer = writer
        self._template = job.template

    def choose(self, transitions: Sequence[Transition]) -> list[Transition]:
        """Transitions of as many different actions as candidates; empty if there are fewer."""
        size = self._job.settings.candidates
        members: list[Transition] = []
        for transition in self._job.rng.sample(transitions, len(transitions)):
            if len(members) == size:
                break
            if (
                all(transition.said != other.said for other in members)
                and self._is_clear(transition)
                and not any(
                    self._could_be(transition, m) or self._could_be(m, transition) for m in members
                )
            ):
                members.append(transition)
        return members if len(members) == size else []

    def _is_clear(self, transition: Transition) -> bool:
        try:
            self._writer.check_transition(transition)
        except RejectedError:
            return False
        return self._shows_target(transition) and differ(
            transition.before.observe(), transition.after.observe()
        )

    def _shows_target(self, transition: Transition) -> bool:
        """Whether what it goes to is in the image before, and looks larger afterwards."""
        if self._template.action_kind(transition.action) is not ActionKind.GO:
            return True
        was, now = (
            _pixels(transition.shown, transition.action),
            _pixels(transition.after.context, transition.action),
        )
        least = self._job.least(transition.before.observe())
        return was >= least and now >= NEARER * was

    def _could_be(self, transition: Transition, other: Transition) -> bool:
        """Whether a transition of going somewhere could be one of going elsewhere."""
        action_kinds = {self._template.action_kind(f.action) for f in (transition, other)}
        if action_kinds != {ActionKind.GO}:
            return False
        was, now = (_pixels(c, other.action) for c in (transition.shown, transition.after.context))
        return now >= was and now > 0


def _is_plain(action: Action, moment: AskedMoment) -> bool:
    """Whether no number tells apart what looks alike."""
    try:
        check_name(moment.context, action)
    except RejectedError:
        return False
    return True


def _pixels(context: StepContext, action: Action) -> int:
    target = context.target(action)
    return target.pixels if target is not None else 0
