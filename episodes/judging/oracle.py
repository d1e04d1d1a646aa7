"""A judge without a model: checks the claims of an answer against the simulator state.

Action is membership in the set of best actions. Perception and cognition are read as claims
(`inhabit.envs.claims`), with synonyms and negation. An answer that can't be read is unjudged, not
wrong.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from inhabit.envs.claims import About, Claim, Intent, Noun, Reader, holds, name_and_number
from inhabit.envs.core import SceneObject
from inhabit.episodes.judging.anchors import Anchors
from inhabit.episodes.judging.scores import ABSENT, AgentAnswer, Judged, Verdict, action_verdict

_AHEAD = 4
"""Actions of the plan that count as intended; as many as in `anchors`."""
_SEEKING = frozenset({"find", "go to"})


class Oracle:
    """Needs an environment that tells of its things (`inhabit.envs.core.Factual`) for P and C."""

    name = "oracle"

    async def judge(self, answer: AgentAnswer, anchors: Anchors) -> Judged:
        """The verdicts on one answer."""
        return judge(answer, anchors)

    async def close(self) -> None:
        """Nothing to let go of."""


def judge(answer: AgentAnswer, anchors: Anchors) -> Judged:
    """The verdicts on one answer."""
    step = _StepJudge(anchors, Reader(anchors.things, _kinds(answer)))
    return Judged(
        perception=step.perception(answer.description),
        cognition=step.cognition(answer),
        action=action_verdict(answer, anchors),
    )


@dataclass(frozen=True, slots=True)
class _StepJudge:
    anchors: Anchors
    reader: Reader

    def perception(self, description: str) -> Verdict:
        """1 if something relevant is described, and nothing relevant is described wrongly."""
        if not description.strip():
            return ABSENT
        judged = [
            (claim, holds(claim, self.anchors.things, seen=True))
            for claim in self.reader.claims(description)
        ]
        matter = [(claim, so) for claim, so in judged if self._matters(claim)]
        if (wrong := next((c for c, so in matter if so is False), None)) is not None:
            return Verdict(score=0, evidence=f"Not so: {wrong.words}.")
        if (right := next((c for c, so in matter if so and c.subject), None)) is not None:
            return Verdict(score=1, evidence=f"It is so: {right.words}.")
        if not self.anchors.key_things:
            return Verdict(score=None, evidence="Nothing that matters is in sight.")
        if any(so is not None for _, so in judged):
            return Verdict(score=0, evidence="It tells of nothing that matters.")
        return Verdict(score=None, evidence="Nothing in it could be read.")

    def cognition(self, answer: AgentAnswer) -> Verdict:
        """1 if no claim is false and the stated intention leads to the goal."""
        if not answer.reasoning.strip():
            return ABSENT
        judged = [
            (claim, holds(claim, self.anchors.things))
            for claim in self.reader.claims(answer.reasoning)
        ]
        if (wrong := next((c for c, so in judged if so is False), None)) is not None:
            return Verdict(score=0, evidence=f"Not so: {wrong.words}.")
        intents = self.reader.intents(answer.reasoning)
        allowed = self._allowed(answer.goal)
        known = [i for i in intents if i.nouns or i.verb == "stop"]
        if (good := next((i for i in known if self._leads(i, allowed)), None)) is not None:
            return Verdict(score=1, evidence=f"It leads to the goal: {good.words}.")
        if known:
            return Verdict(score=0, evidence=f"It leads nowhere: {known[0].words}.")
        matter = next((c for c, so in judged if so and c.subject and self._matters(c)), None)
        if matter is not None:
            return Verdict(score=1, evidence=f"It is so, and matters: {matter.words}.")
        if any(so is not None for _, so in judged):
            return Verdict(score=0, evidence="It gives no reason that matters.")
        return Verdict(score=None, evidence="Nothing in it could be read.")

    def _matters(self, claim: Claim) -> bool:
        """Whether the next actions depend on what a claim is about; they do on what is held."""
        if claim.about is About.HELD:
            return True
        key = [t for t in self.anchors.things if t.name in self.anchors.key_things]
        nouns = [noun for noun in (claim.subject, claim.place) if noun is not None]
        return any(_means(noun, thing) for noun in nouns for thing in key)

    def _allowed(self, goal: str) -> list[Intent]:
        """What an expert would mean to do: the next actions, and what the goal asks for."""
        actions = (*self.anchors.plan[:_AHEAD], *(self.anchors.best or ()))
        # "open drawer 1" alone would tell of an open drawer.
        texts = [*(f"I should {action}" for action in actions), goal]
        return [intent for text in texts for intent in self.reader.intents(text)]

    def _leads(self, intent: Intent, allowed: Sequence[Intent]) -> bool:
        if intent.verb == "stop":
            return not self.anchors.plan
        if any(_same(intent, other) for other in allowed):
            return True
        if intent.verb not in _SEEKING:
            return False
        wanted = [noun for other in allowed for noun in other.nouns]
        held = [thing for thing in self.anchors.things if thing.held]
        return any(_overlap(intent.nouns[0], noun) for noun in wanted) and not any(
            _means(intent.nouns[0], thing) for thing in held
        )


def _same(intent: Intent, other: Intent) -> bool:
    """The same verb, of the same things as far as both name them."""
    if intent.verb != other.verb or not other.nouns:
        return False
    return all(_overlap(a, b) for a, b in zip(intent.nouns, other.nouns, strict=False))


def _overlap(one: Noun, other: Noun) -> bool:
    numbers = {one.number, other.number} - {""}
    return bool(one.kinds & other.kinds) and len(numbers) < 2


def _means(noun: Noun, thing: SceneObject) -> bool:
    alike = not noun.number or name_and_number(thing.name)[1] == noun.number
    return thing.kind in noun.kinds and alike


def _kinds(answer: AgentAnswer) -> list[str]:
    """Kinds that are not there and may be spoken of all the same: what choices name."""
    names = {
        word.rpartition("_")[0].replace("_", " ")
        for choice in answer.choices
        for word in choice.split()
        if word.rpartition("_")[2].isdecimal() and "_" in word
    }
    return sorted(names)
