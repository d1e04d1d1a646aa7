"""The wrong answers: plausible, said as the right one is, and proven to be worse.

As in EgoPlan-Bench many are steps of the same task at another time, so that every action is the
answer at one moment and a wrong one at others. The rest do the same to another thing, or something
else to the same thing. Deeds that are seldom the answer are seldom offered: how often a wording is
right should say little.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence

from inhabit.eie.examples.context import StepContext, Trials, without_numbers
from inhabit.eie.examples.topology import acts_on_object, kind_of
from inhabit.envs.core import Action
from inhabit.envs.template import ActionKind, Template

_MOST_TRIED = 10
"""Actions that are tried for one question."""
_TRIED_TO_SPARE = 3
"""Actions that are tried for some to spare: so many more than answers are needed."""
_SPARE = 6
"""Wrong answers beyond those that are needed, to choose from in the end."""
_SPARE_SEEN = 24
"""The same of what was done, which is never tried."""
_IT = "it"
"""What is in the hand."""
_OFFERED: Mapping[ActionKind, float] = {
    ActionKind.TAKE: 1.5,
    ActionKind.OPEN: 2.0,
    ActionKind.SWITCH_ON: 1.6,
    ActionKind.GO: 0.5,
    ActionKind.CLOSE: 0.3,
    ActionKind.SWITCH_OFF: 0.3,
    ActionKind.DROP: 0.1,
    ActionKind.OTHER: 0.3,
}
"""How readily a deed is offered as a wrong answer, 1 for all others: as often as it is the right
one among the examples that are kept. Going is mostly out of what can be seen."""


def wrong_answers(
    context: StepContext,
    trials: Trials,
    vocabulary: Sequence[Action],
    template: Template,
    rng: random.Random,
    count: int,
) -> list[Action]:
    """`count` actions that are worse than the answer, and some to spare; or fewer."""
    found: list[Action] = []
    said = {without_numbers(context.answer)}
    tried = 0
    for action in _candidates(context, vocabulary, template, rng):
        if len(found) == count + _SPARE:
            break
        if without_numbers(action) in said:
            continue
        if not trials.is_known(action):
            if tried >= (_MOST_TRIED if len(found) < count else count + _TRIED_TO_SPARE):
                continue
            tried += 1
        said.add(without_numbers(action))
        if trials.is_wrong(action, context.answer):
            found.append(action)
    return found


def other_actions(
    context: StepContext,
    vocabulary: Sequence[Action],
    template: Template,
    rng: random.Random,
    count: int,
) -> list[Action]:
    """`count` actions that are not the answer of a moment, and some to spare; or fewer.

    Other words for the same deed, as running for walking, are not among them.
    """
    answer = context.answer
    deed, about = template.deed(answer), without_numbers(answer)[-1]
    found: dict[tuple[str, ...], Action] = {}
    for action in _candidates(context, vocabulary, template, rng):
        if template.deed(action) is not deed or without_numbers(action)[-1] != about:
            found.setdefault(without_numbers(action), action)
    return list(found.values())[: count + _SPARE_SEEN]


def _candidates(
    context: StepContext, vocabulary: Sequence[Action], template: Template, rng: random.Random
) -> Iterator[Action]:
    """Likely wrong answers: one of the same task, one on another thing, any one; then the rest."""
    sorts = [
        _from_other_steps(context, template, rng),
        _on_other_objects(context, vocabulary, template, rng),
        _other_kinds(context, vocabulary, template, rng),
    ]
    order = [0, 1, rng.choice([0, 0, 1, 2])]
    yield from (sorts[i].pop() for i in order if sorts[i])
    rest = _shuffled([action for sort in sorts for action in sort], template, rng)
    yield from reversed(rest)


def _from_other_steps(context: StepContext, template: Template, rng: random.Random) -> list[Action]:
    """Steps of the same task that are over, or whose time will come."""
    steps = [*(done.action for done in context.done if not done.failed), *context.plan[1:]]
    found = {a.text: a for a in steps if _is_unambiguous(a, context, template)}
    return _shuffled([a for a in found.values() if a != context.answer], template, rng)


def _on_other_objects(
    context: StepContext, vocabulary: Sequence[Action], template: Template, rng: random.Random
) -> list[Action]:
    """The same done to another thing that is in sight."""
    seen = {kind_of(t.name) for t in context.things if t.pixels} | _names(context)
    return _shuffled(
        [
            a
            for a in vocabulary
            if a.verb == context.answer.verb
            and a.arguments
            and a.arguments != context.answer.arguments
            and (_is_beside(a, context.answer, seen) or _is_made_there(a, context.answer, template))
            and _is_unambiguous(a, context, template)
        ],
        template,
        rng,
    )


def _is_beside(action: Action, answer: Action, seen: set[str]) -> bool:
    return action.arguments[:-1] == answer.arguments[:-1] and action.arguments[-1] in seen


def _is_made_there(action: Action, answer: Action, template: Template) -> bool:
    """Whether something else is made in the same place."""
    making = template.deed(action) is ActionKind.MAKE
    return making and action.arguments[1:] == answer.arguments[1:]


def _other_kinds(
    context: StepContext, vocabulary: Sequence[Action], template: Template, rng: random.Random
) -> list[Action]:
    """Something else done to the same thing."""
    aims = context.answer.arguments[-1:]
    return _shuffled(
        [
            a
            for a in vocabulary
            if a.arguments[-1:] == aims
            and a.verb != context.answer.verb
            and template.deed(a) is not ActionKind.OTHER
            and _is_unambiguous(a, context, template)
        ],
        template,
        rng,
    )


def _names(context: StepContext) -> set[str]:
    return {t.name for t in context.things if t.pixels}


def _is_unambiguous(action: Action, context: StepContext, template: Template) -> bool:
    """Whether it is a deed on things of the scene, and no number tells apart what looks alike."""
    # What is made need not be there yet.
    names = action.arguments[1 if template.deed(action) is ActionKind.MAKE else 0 :]
    return acts_on_object(action, template) and all(
        name == _IT or len(alike) == 1 or (alike and kind_of(name) == name)
        for name, alike in ((name, context.alike(name)) for name in names)
    )


def _shuffled(actions: list[Action], template: Template, rng: random.Random) -> list[Action]:
    """In an order by lot, those that are readily offered rather at the end.

    Weighted sampling without replacement, by the keys u^(1/w) of Efraimidis and Spirakis (2006).
    """
    keys = [rng.random() ** (1 / _OFFERED.get(template.deed(a), 1.0)) for a in actions]
    ranked = sorted(zip(keys, range(len(actions)), strict=True))
    return [actions[i] for _, i in ranked]
