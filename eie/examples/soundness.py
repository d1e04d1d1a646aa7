"""Checks whether a moment may be asked about: its image shows what the answer depends on."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from inhabit.eie.checking.pictures import is_perceptible
from inhabit.eie.examples.checks import FARTHER, check_statement, check_target
from inhabit.eie.examples.context import StepContext
from inhabit.eie.examples.draft import ExtractionJob, RejectedError
from inhabit.eie.examples.example import Refused, Rejection
from inhabit.eie.examples.moments import AskedMoment
from inhabit.eie.examples.reasons import NEARER, is_absent, needs_nothing
from inhabit.envs.core import Observation, SceneObject
from inhabit.envs.template import ActionKind

_PARTLY = 4
"""How many times smaller than the answer's object a thing in it may look."""
_IN_THE_WAY = 0.4
"""Share of the picture that a held thing may cover."""
_STATES = (ActionKind.OPEN, ActionKind.CLOSE, ActionKind.SWITCH_ON, ActionKind.SWITCH_OFF)
"""Kinds of actions that depend on a state of their object."""
_ON_THE_WAY = (ActionKind.GO, ActionKind.OPEN, ActionKind.LOOK, ActionKind.SEARCH)
_HANDLED = (ActionKind.TAKE, ActionKind.PUT, ActionKind.CUT)


class Soundness:
    """Checks moments of one task, and notes why some can't be asked about."""

    def __init__(self, job: ExtractionJob, least: int, standing: int = 1) -> None:
        """Check for the task of `job`.

        Args:
            job: origin and template.
            least: number of pixels from which on a thing can be seen.
            standing: how many times more those are that furniture needs: else what is seen is an
                edge of something.
        """
        self._template = job.template
        self._wanted = frozenset(
            event.thing
            for event in job.template.events(job.origin.task)
            if event.action_kind is ActionKind.TAKE
        )
        self._least = least
        self._most_held = _IN_THE_WAY * least / job.settings.visible
        self._standing = standing
        self.refused: dict[str, Refused] = {}
        """Why moments are not asked about."""

    def refuse(self, error: RejectedError) -> None:
        """Note a reason."""
        self.refused.setdefault(error.refused.sentence, error.refused)

    def passes(self, check: Callable[..., None], *given: object) -> bool:
        """Whether what is given passes a check; else the reason is noted."""
        try:
            check(*given)
        except RejectedError as error:
            self.refuse(error)
            return False
        return True

    def shows_target(self, moment: AskedMoment) -> bool:
        """Whether the object of the answer is visible, as far as it is known."""
        return self.passes(self._check_target, moment)

    def is_sound(
        self, moment: AskedMoment, facts: Sequence[str] = (), places: Sequence[str] = ()
    ) -> bool:
        """Whether a moment's answer works, and its image shows what it depends on.

        Args:
            moment: checked once.
            facts: what words tell of the past,
            places: and those of them that tell where something is.
        """
        if moment.sound is None:
            moment.sound = self.passes(self.check, moment, facts, places)
        return moment.sound

    def shows_state(self, moment: AskedMoment) -> bool:
        """Whether the state that the answer would change can be seen: the image with the other
        state differs visibly.
        """
        if (
            self._template.action_kind(moment.answer) not in _STATES
            or moment.state_shown is not None
        ):
            return moment.state_shown is not False
        after = moment.outcome()
        moment.state_shown = after is None or differ(moment.observe(), after)
        if not moment.state_shown:
            said = f"After {moment.answer.text!r} the image looks the same."
            self.refuse(RejectedError(Rejection.HIDDEN, said))
        return moment.state_shown

    def looks_nearer(self, one: AskedMoment, other: AskedMoment) -> bool:
        """Whether a thing to go to looks smaller than where it is handled at once.

        Who goes in a direction, as in "go north", sees how far it is in another way: from above.
        """
        going = [
            self._template.action_kind(m.answer) is ActionKind.GO and bool(m.answer.arguments)
            for m in (one, other)
        ]
        targets = [m.context.target(m.answer) for m in (one, other)]
        far, near = targets if going[0] else reversed(targets)
        if going[0] is going[1] or far is None or near is None or far.name != near.name:
            return True
        return far.pixels * NEARER <= near.pixels

    def check(
        self, moment: AskedMoment, facts: Sequence[str] = (), places: Sequence[str] = ()
    ) -> None:
        """Check that a moment's answer works, and its image shows what it depends on.

        Raises:
            RejectedError: it does not.
        """
        # A disturbance may have undone what the words tell.
        for fact in places:
            check_statement(fact, moment.context.things, self._template.lexicon)
        self._check_target(moment)
        if not moment.works(self._template):
            raise RejectedError(Rejection.UNSOLVABLE, f"{moment.answer.text!r} fails.")
        self._check_target(moment)
        self._check_hidden(moment, facts)

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
        if (
            target is not None
            and absent
            and not is_absent(target.kind, context, self._template.lexicon)
        ):
            said = f"The {target.kind} is not in view, and what is may be taken for it."
            raise RejectedError(Rejection.HIDDEN, said)
        least = self._least if not going else self._least // FARTHER
        if target is not None and target.support is None and self._standing > 1:
            least = self._least * self._standing
        check_target(context, 0 if going and carrying and absent else least)

    def _check_hidden(self, moment: AskedMoment, facts: Sequence[str]) -> None:
        """Check that what is held, and what the goal is about in the target, can be seen."""
        context = moment.context
        for thing in context.held:
            if thing.pixels < self._least:
                raise RejectedError(Rejection.HIDDEN, f"The held {thing.kind} is not to be seen.")
            if thing.pixels > self._most_held:
                said = f"The held {thing.kind} fills the view."
                raise RejectedError(Rejection.HIDDEN, said)
        target = context.target(moment.answer)
        if target is None:
            return
        opening = self._template.action_kind(moment.answer) is ActionKind.OPEN
        for thing in self._aimed_at(context, target):
            told = any(thing.kind in fact for fact in facts)
            if thing.pixels < self._least / _PARTLY and not (opening and told):
                raise RejectedError(
                    Rejection.HIDDEN, f"The {thing.kind} in the {target.kind} is not to be seen."
                )

    def _aimed_at(self, context: StepContext, target: SceneObject) -> Iterator[SceneObject]:
        """What the answer is for: wanted things in its target, where the hands are empty, and the
        thing that is handled next.

        Without them in the image, nothing tells why to go to a cabinet, or to open it.
        """
        for thing in context.things if not context.held else ():
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


def differ(one: Observation, other: Observation) -> bool:
    """Whether a person can tell two images apart."""
    return one.rgb is not None and other.rgb is not None and is_perceptible(one.rgb, other.rgb)
