"""Cuts examples out of an episode that the expert plays: one moment after the other."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence

from eie.candidates import wrong_answers
from eie.checks import check_picture
from eie.draft import Origin, Piece, RejectedError
from eie.moment import FAILS, Done, Moment, Stage, Trials
from eie.settings import SynthSettings
from eie.topology import Topology
from eie.writing import Writer
from envs.core import Action, Env, Forkable
from envs.evolving import Deed, Template

_SAME_FAILURE = 2
"""Steps of the expert that may fail in a row."""


class Cutter:
    """Plays one task and cuts it up."""

    def __init__(
        self,
        env: Env,
        origin: Origin,
        template: Template,
        settings: SynthSettings,
        draw: random.Random,
    ) -> None:
        """Cut what is played in `env`, which has been reset to the task of `origin`."""
        self._env = env
        self._steps = origin.task.max_steps
        self._template = template
        self._settings = settings
        self._draw = draw
        self._vocabulary = tuple(env.vocabulary())
        whole = draw.random() < settings.trajectories
        topology = Topology(template.events(origin.task))
        self._writer = Writer(origin, template, topology, settings, draw, whole=whole)
        self._twins = whole and settings.recognition

    def pieces(self) -> Iterator[Piece]:
        """Every moment's examples, and what was wrong with the others, in order."""
        done: list[Done] = []
        failed = 0
        moment = _moment(self._env, done)
        while moment is not None and failed < _SAME_FAILURE:
            asked = _is_asked_about(moment.answer, self._template)
            if asked:
                yield from self._examples(moment)
            outcome = self._env.act(moment.answer)
            failed = failed + 1 if outcome.reason is not None else 0
            wrong = outcome.reason is not None
            done.append(Done(moment.answer, outcome.feedback, wrong, moment.observation))
            following = None
            if len(done) < self._steps and not outcome.over:
                following = _moment(self._env, done)
            if self._twins and asked and not wrong and following is not None:
                yield from self._twin(moment, following)
            moment = following

    def _examples(self, moment: Moment) -> Iterator[Piece]:
        """The moment as an example; and, now and then, how to go on where another action failed."""
        trials = Trials(self._env)
        try:
            check_picture(moment, self._settings.visible)
            wrong = self._wrong(moment, trials)
            yield self._writer.decision(moment, wrong)
        except RejectedError as error:
            yield error.refused
            return
        if self._draw.random() < self._settings.recoveries and isinstance(self._env, Forkable):
            failing = next((a for a in wrong if trials.tried(a).actions_left == FAILS), None)
            if failing is not None:
                yield from self._recovery(self._env, moment, failing)

    def _wrong(self, moment: Moment, trials: Trials) -> Sequence[Action]:
        wanted = self._settings.candidates - 1
        return wrong_answers(moment, trials, self._vocabulary, self._template, self._draw, wanted)

    def _recovery(self, env: Forkable, before: Moment, failing: Action) -> Iterator[Piece]:
        """What to do after an action that can't be done was tried."""
        with env.fork() as twin:
            outcome = twin.act(failing)
            step = Done(failing, outcome.feedback, True, before.observation)
            moment = _moment(twin, (*before.done, step))
            if moment is None or not _is_asked_about(moment.answer, self._template):
                return
            try:
                check_picture(moment, self._settings.visible)
                yield self._writer.recovery(moment, self._wrong(moment, Trials(twin)))
            except RejectedError as error:
                yield error.refused

    def _twin(self, before: Moment, after: Moment) -> Iterator[Piece]:
        """What was done, told by the pictures before and after it."""
        try:
            yield self._writer.recognition(before, after)
        except RejectedError as error:
            yield error.refused


def _moment(env: Env, done: Sequence[Done]) -> Moment | None:
    """The present one; None if there is nothing left to do, or no way to do it."""
    assert isinstance(env, Stage)
    plan = tuple(env.plan())
    if not plan:
        return None
    return Moment(env.observe(), tuple(env.things()), tuple(done), plan)


def _is_asked_about(action: Action, template: Template) -> bool:
    """Whether there is something to see that an action hangs on; looking around has nothing."""
    return template.deed(action) is not Deed.SEARCH and bool(action.arguments)
