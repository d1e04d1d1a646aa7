"""The wrong answers: plausible, said as the right one is, and proven to be worse.

As EgoPlan-Bench does, most are steps of the same task at another time, so that every action is the
answer at one moment and a wrong one at others: how often a wording is right says nothing. The rest
do the same to another thing, or something else to the same thing.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence

from eie.moment import Moment, Trials
from eie.topology import is_deed, kind_of
from envs.core import Action
from envs.evolving import Deed, Template

_MOST_TRIED = 10
"""Actions that are tried for one question."""


def wrong_answers(
    moment: Moment,
    trials: Trials,
    vocabulary: Sequence[Action],
    template: Template,
    draw: random.Random,
    count: int,
) -> list[Action]:
    """`count` actions that are worse than the answer; fewer where no more were found."""
    found: list[Action] = []
    said = {moment.answer.text}
    for tried, action in enumerate(_proposed(moment, vocabulary, template, draw)):
        if len(found) == count or tried == _MOST_TRIED:
            break
        if action.text not in said:
            said.add(action.text)
            if trials.is_wrong(action, moment.answer):
                found.append(action)
    return found


def _proposed(
    moment: Moment, vocabulary: Sequence[Action], template: Template, draw: random.Random
) -> Iterator[Action]:
    """Likely wrong answers: two of the same task, then one of each other sort, then the rest."""
    sorts = [
        _other_times(moment, template, draw),
        _other_things(moment, vocabulary, template, draw),
        _other_deeds(moment, vocabulary, template, draw),
    ]
    order = [0, 0, *draw.sample([1, 2], 2)]
    yield from (sorts[i].pop() for i in order if sorts[i])
    rest = [action for sort in sorts for action in sort]
    draw.shuffle(rest)
    yield from rest


def _other_times(moment: Moment, template: Template, draw: random.Random) -> list[Action]:
    """Steps of the same task that are over, or whose time will come."""
    steps = [*(done.action for done in moment.done if not done.failed), *moment.plan[1:]]
    found = {a.text: a for a in steps if _sayable(a, moment, template)}
    return _shuffled([a for a in found.values() if a != moment.answer], draw)


def _other_things(
    moment: Moment, vocabulary: Sequence[Action], template: Template, draw: random.Random
) -> list[Action]:
    """The same done to another thing that is in sight."""
    seen = {kind_of(t.name) for t in moment.things if t.pixels} | _names(moment)
    return _shuffled(
        [
            a
            for a in vocabulary
            if a.verb == moment.answer.verb
            and a.arguments
            and a.arguments != moment.answer.arguments
            and a.arguments[:-1] == moment.answer.arguments[:-1]
            and a.arguments[-1] in seen
            and _sayable(a, moment, template)
        ],
        draw,
    )


def _other_deeds(
    moment: Moment, vocabulary: Sequence[Action], template: Template, draw: random.Random
) -> list[Action]:
    """Something else done to the same thing."""
    aims = moment.answer.arguments[-1:]
    return _shuffled(
        [
            a
            for a in vocabulary
            if a.arguments[-1:] == aims
            and a.verb != moment.answer.verb
            and template.deed(a) is not Deed.OTHER
            and _sayable(a, moment, template)
        ],
        draw,
    )


def _names(moment: Moment) -> set[str]:
    return {t.name for t in moment.things if t.pixels}


def _sayable(action: Action, moment: Moment, template: Template) -> bool:
    """Whether it is a deed, and no number in it tells apart what looks alike."""
    return is_deed(action, template) and not any(
        kind_of(name) != name and len(moment.alike(name)) > 1 for name in action.arguments
    )


def _shuffled(actions: list[Action], draw: random.Random) -> list[Action]:
    draw.shuffle(actions)
    return actions
