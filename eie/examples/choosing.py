"""Chooses moments or transitions that make twins: equal words, different right answers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from inhabit.eie.checking.pictures import is_perceptible
from inhabit.eie.examples.checks import FARTHER, check_name, check_statement, check_target
from inhabit.eie.examples.context import StepContext, without_numbers
from inhabit.eie.examples.draft import ExtractionJob, Refused, RejectedError
from inhabit.eie.examples.example import Rejection
from inhabit.eie.examples.missing import needs_nothing
from inhabit.eie.examples.moments import AskedMoment, Transition
from inhabit.eie.examples.writing import ExampleWriter
from inhabit.envs.core import Action, Observation, SceneObject
from inhabit.envs.template import ActionKind

_PARTLY = 4
"""How many times smaller than the answer's object a thing in it may look."""
_ANCHORS = 2
"""Moments that a group is tried to be built around."""
_NEARER = 1.5
"""How much larger a thing has to look from where it can be handled than from farther away."""
_STATES = (ActionKind.OPEN, ActionKind.CLOSE, ActionKind.SWITCH_ON, ActionKind.SWITCH_OFF)
"""Kinds of actions that depend on a state of their object."""
_ON_THE_WAY = (ActionKind.GO, ActionKind.OPEN, ActionKind.LOOK, ActionKind.SEARCH)
_HANDLED = (ActionKind.TAKE, ActionKind.PUT, ActionKind.CUT)
_SPARE = 4
"""Actions that are tried to fill up the candidates of a group that is one answer short."""


class MomentGroups:
    """Chooses moments of one task."""

    def __init__(self, job: ExtractionJob, writer: ExampleWriter, least: int) -> None:
        """Choose for the task of `job`.

        Args:
            job: origin, template and settings.
            writer: knows what words tell of a moment.
            least: number of pixels from which on a thing can be seen.
        """
        self._job = job
        self._writer = writer
        self._template = job.template
        self._size = job.settings.candidates
        self._wanted = frozenset(
            event.thing
            for event in job.template.events(job.origin.task)
            if event.action_kind is ActionKind.TAKE
        )
        self._least = least
        self.fillers: Sequence[AskedMoment] = ()
        """Moments of the task whose answers may fill up candidates; not all can be asked about."""
        self.refused: dict[str, Refused] = {}
        """Why moments are not asked about."""

    def refuse(self, error: RejectedError) -> None:
        """Note a reason."""
        self.refused.setdefault(error.refused.sentence, error.refused)

    def shows_target(self, moment: AskedMoment) -> bool:
        """Whether the object of the answer is visible, as far as it is known."""
        try:
            self._check_target(moment)
        except RejectedError as error:
            self.refuse(error)
            return False
        return True

    def _check_target(self, moment: AskedMoment) -> None:
        """Check that the answer's object is visible; less so if it is to go there.

        Who carries something that the image shows may be sent to what it does not show at all.
        """
        context = moment.context
        if needs_nothing(context, self._template):
            return
        going = self._template.action_kind(moment.answer) is ActionKind.GO
        carrying = any(thing.pixels >= self._least for thing in context.held)
        target = context.target(moment.answer)
        alike = context.alike(target.name) if target is not None else ()
        absent = target is not None and not any(thing.pixels for thing in alike)
        least = self._least if not going else self._least // FARTHER
        check_target(context, 0 if going and carrying and absent else least)

    def answers(self, moments: Sequence[AskedMoment]) -> int:
        """The largest number of different answers among moments with equal facts."""
        by_facts: dict[tuple[str, ...], set[tuple[str, ...]]] = {}
        for moment in moments:
            by_facts.setdefault(self._writer.facts(moment), set()).add(moment.said)
        return max(map(len, by_facts.values()), default=0)

    def choose(
        self, moments: Sequence[AskedMoment]
    ) -> tuple[list[AskedMoment], list[Action]] | None:
        """The members of a group and its candidates; None if there are too few.

        Members have different answers. Every answer is worse than the right one for all other
        members, by execution in copies or by the best actions; images differ visibly.
        """
        by_facts: dict[tuple[str, ...], list[AskedMoment]] = {}
        for moment in moments:
            by_facts.setdefault(self._writer.facts(moment), []).append(moment)
        least = max(2, self._size - 1)
        pools = [p for p in by_facts.values() if len({m.said for m in p}) >= least]
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
            and len(moment.context.alike(option.arguments[-1])) > 1
        ]
        if not doubtful or (best := moment.trials.best()) is None:
            return True
        return {*doubtful}.isdisjoint(map(without_numbers, best))

    def _around(self, anchor: AskedMoment, pool: Sequence[AskedMoment]) -> list[AskedMoment]:
        """A group with the anchor, and with others of the same view first."""
        if not (self._is_sound(anchor) and self._shows_state(anchor)):
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
                and all(self._differ(other, m) for m in members)
                and self._shows_state(other)
            ):
                members.append(other)
        return members

    def _is_sound(self, moment: AskedMoment) -> bool:
        """Whether a moment's answer works, and its image shows what it depends on."""
        if moment.sound is None:
            try:
                self._check(moment)
                moment.sound = True
            except RejectedError as error:
                self.refuse(error)
                moment.sound = False
        return moment.sound

    def _check(self, moment: AskedMoment) -> None:
        # A disturbance may have undone what the words tell.
        for fact in self._writer.places(moment):
            check_statement(fact, moment.context.things, self._template.lexicon)
        self._check_target(moment)
        if not moment.works(self._template):
            raise RejectedError(Rejection.UNSOLVABLE, f"{moment.answer.text!r} fails.")
        self._check_target(moment)
        self._check_hidden(moment)

    def _check_hidden(self, moment: AskedMoment) -> None:
        """Check that what is held, and what the goal is about in the target, can be seen."""
        context = moment.context
        for thing in context.held:
            if thing.pixels < self._least:
                raise RejectedError(Rejection.HIDDEN, f"The held {thing.kind} is not to be seen.")
        target = context.target(moment.answer)
        if target is None:
            return
        opening = self._template.action_kind(moment.answer) is ActionKind.OPEN
        for thing in self._aimed_at(context, target):
            told = any(thing.kind in fact for fact in self._writer.facts(moment))
            if thing.pixels < self._least / _PARTLY and not (opening and told):
                raise RejectedError(
                    Rejection.HIDDEN, f"The {thing.kind} in the {target.kind} is not to be seen."
                )

    def _aimed_at(self, context: StepContext, target: SceneObject) -> Iterator[SceneObject]:
        """What the answer is for: wanted things in its target, and the thing that is handled next.

        Without them in the image, nothing tells why to go to a cabinet, or to open it.
        """
        for thing in context.things:
            if thing.support == target.name and thing.inside and thing.kind in self._wanted:
                yield thing
        if self._template.action_kind(context.answer) not in _ON_THE_WAY:
            return
        handling = (a for a in context.plan if self._template.action_kind(a) not in _ON_THE_WAY)
        following = next(handling, None)
        if following is not None and self._template.action_kind(following) in _HANDLED:
            handled = context.target(following)
            if handled is not None and handled.kind != target.kind and not handled.held:
                yield handled

    def _shows_state(self, moment: AskedMoment) -> bool:
        """Whether the state that the answer would change can be seen: the image with the other
        state differs visibly.
        """
        if (
            self._template.action_kind(moment.answer) not in _STATES
            or moment.state_shown is not None
        ):
            return moment.state_shown is not False
        after = moment.outcome()
        moment.state_shown = after is None or _differ(moment.observe(), after)
        if not moment.state_shown:
            said = f"After {moment.answer.text!r} the image looks the same."
            self.refuse(RejectedError(Rejection.HIDDEN, said))
        return moment.state_shown

    def _are_twins(self, one: AskedMoment, other: AskedMoment) -> bool:
        """Whether each has the better answer for itself, for reasons that can be seen."""
        return (
            self._looks_nearer(one, other)
            and one.trials.is_wrong(other.answer, one.answer)
            and other.trials.is_wrong(one.answer, other.answer)
        )

    def _differ(self, one: AskedMoment, other: AskedMoment) -> bool:
        """Whether a person can tell the images of two moments apart."""
        return one.view != other.view or _differ(one.observe(), other.observe())

    def _looks_nearer(self, one: AskedMoment, other: AskedMoment) -> bool:
        """Whether a thing to go to looks smaller than where it is handled at once."""
        going = [self._template.action_kind(m.answer) is ActionKind.GO for m in (one, other)]
        targets = [m.context.target(m.answer) for m in (one, other)]
        far, near = targets if going[0] else reversed(targets)
        if going[0] is going[1] or far is None or near is None or far.name != near.name:
            return True
        return far.pixels * _NEARER <= near.pixels

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
        return self._shows_target(transition) and _differ(
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
        rgb = transition.before.observe().rgb
        assert rgb is not None
        least = self._job.settings.visible * rgb.shape[0] * rgb.shape[1]
        return was >= least and now >= _NEARER * was

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


def _differ(one: Observation, other: Observation) -> bool:
    return one.rgb is not None and other.rgb is not None and is_perceptible(one.rgb, other.rgb)
