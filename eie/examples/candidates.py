"""Wrong answers: plausible, worded like the right one, and proven to be worse.

As in EgoPlan-Bench, many are steps of the same task at another time, so that every action is the
answer at one step and a wrong one at others. The rest do the same to another object, or something
else to the same object. Kinds of actions that are seldom the answer are seldom offered: the wording
alone should say little about whether an answer is right.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from inhabit.eie.examples.context import StepContext, Trials, without_numbers
from inhabit.eie.examples.topology import acts_on_object, kind_of
from inhabit.envs.core import Action
from inhabit.envs.template import ActionKind, Template

_MOST_TRIED = 10
"""Limit of actions that are tried for one question."""
_TRIED_TO_SPARE = 3
"""How many more actions than needed answers are tried, for answers to spare."""
_SPARE = 6
"""Wrong answers beyond those needed, for balancing the set at the end."""
_SPARE_SEEN = 24
"""The same for questions about what was done, where no action is tried."""
_IT = "it"
"""What actions call the object in the hand."""
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
"""Relative frequency of a kind of action among wrong answers, 1 for all others: as often as it is
the right one among the kept examples. Going is mostly excluded by what can be seen."""


@dataclass(frozen=True, slots=True)
class CandidateSource:
    """Proposes wrong answers to the question what to do at one step."""

    context: StepContext
    vocabulary: Sequence[Action]
    """All actions of the environment."""
    template: Template
    rng: random.Random

    def wrong_answers(self, trials: Trials, count: int) -> list[Action]:
        """`count` actions that are worse than the answer, and some to spare; or fewer."""
        found: list[Action] = []
        said = {without_numbers(self.context.answer)}
        tried = 0
        for action in self._proposed():
            if len(found) == count + _SPARE:
                break
            if without_numbers(action) in said:
                continue
            if not trials.is_known(action):
                if tried >= (_MOST_TRIED if len(found) < count else count + _TRIED_TO_SPARE):
                    continue
                tried += 1
            said.add(without_numbers(action))
            if trials.is_wrong(action, self.context.answer):
                found.append(action)
        return found

    def other_actions(self, count: int) -> list[Action]:
        """`count` actions that are not the answer, and some to spare; or fewer.

        Synonyms, such as running for walking, are not among them.
        """
        answer = self.context.answer
        kind, about = self.template.deed(answer), without_numbers(answer)[-1]
        found: dict[tuple[str, ...], Action] = {}
        for action in self._proposed():
            if self.template.deed(action) is not kind or without_numbers(action)[-1] != about:
                found.setdefault(without_numbers(action), action)
        return list(found.values())[: count + _SPARE_SEEN]

    def _proposed(self) -> Iterator[Action]:
        """First a step of the same task, then one on another object, then any; then the rest."""
        sources = [self._other_steps(), self._other_objects(), self._other_kinds()]
        order = [0, 1, self.rng.choice([0, 0, 1, 2])]
        yield from (sources[i].pop() for i in order if sources[i])
        yield from reversed(self._shuffled([action for source in sources for action in source]))

    def _other_steps(self) -> list[Action]:
        """Steps of the same task, before and after this one."""
        context = self.context
        steps = [*(done.action for done in context.done if not done.failed), *context.plan[1:]]
        found = {a.text: a for a in steps if self._is_unambiguous(a)}
        return self._shuffled([a for a in found.values() if a != context.answer])

    def _other_objects(self) -> list[Action]:
        """The same action on another object that is in sight."""
        answer, visible = self.context.answer, [t for t in self.context.things if t.pixels]
        seen = {kind_of(t.name) for t in visible} | {t.name for t in visible}
        return self._shuffled(
            [
                a
                for a in self.vocabulary
                if a.verb == answer.verb
                and a.arguments
                and a.arguments != answer.arguments
                and (_is_beside(a, answer, seen) or self._is_made_there(a))
                and self._is_unambiguous(a)
            ]
        )

    def _is_made_there(self, action: Action) -> bool:
        """Whether something else is made in the same place."""
        making = self.template.deed(action) is ActionKind.MAKE
        return making and action.arguments[1:] == self.context.answer.arguments[1:]

    def _other_kinds(self) -> list[Action]:
        """Another kind of action on the same object."""
        answer = self.context.answer
        return self._shuffled(
            [
                a
                for a in self.vocabulary
                if a.arguments[-1:] == answer.arguments[-1:]
                and a.verb != answer.verb
                and self.template.deed(a) is not ActionKind.OTHER
                and self._is_unambiguous(a)
            ]
        )

    def _is_unambiguous(self, action: Action) -> bool:
        """Whether its objects are in the scene, and no number tells apart what looks alike."""
        # What is made need not be there yet.
        names = action.arguments[1 if self.template.deed(action) is ActionKind.MAKE else 0 :]
        return acts_on_object(action, self.template) and all(
            name == _IT or len(alike) == 1 or (alike and kind_of(name) == name)
            for name, alike in ((name, self.context.alike(name)) for name in names)
        )

    def _shuffled(self, actions: list[Action]) -> list[Action]:
        """In a random order, in which kinds that are offered more often tend to come last.

        Weighted sampling without replacement, by the keys u^(1/w) of Efraimidis and Spirakis
        (2006).
        """
        keys = [
            self.rng.random() ** (1 / _OFFERED.get(self.template.deed(a), 1.0)) for a in actions
        ]
        ranked = sorted(zip(keys, range(len(actions)), strict=True))
        return [actions[i] for _, i in ranked]


def _is_beside(action: Action, answer: Action, seen: set[str]) -> bool:
    return action.arguments[:-1] == answer.arguments[:-1] and action.arguments[-1] in seen
