"""The oracle judge against three hundred answers whose true scores are known by construction."""

from __future__ import annotations

import pytest
from sampling import every

from inhabit.agents.dialogue.matching import match
from inhabit.envs.core import Action
from inhabit.episodes.judging.anchors import gather
from inhabit.episodes.judging.oracle import judge
from inhabit.episodes.judging.scores import AgentAnswer, Judged
from inhabit.episodes.judging.sheet import kappa
from tests.episodes.made_answers import MOMENTS, MadeAnswer, Moment, answers


def _act(text: str) -> Action:
    words = text.split()
    return Action(text, words[0], tuple(w for w in words if w[-1].isdecimal()))


def _judge(made: MadeAnswer) -> Judged:
    moment: Moment = MOMENTS[made.moment]
    candidates = [_act(text) for text in moment.candidates]
    done = match(made.action, candidates).action
    anchors = gather(
        [_act(text) for text in moment.plan],
        frozenset(_act(text) for text in moment.best),
        moment.things,
        {},
    )
    answer = AgentAnswer(
        goal=moment.goal,
        told="",
        choices=moment.candidates,
        description=made.description,
        reasoning=made.reasoning,
        action=None if done is None else done.text,
        raw=made.action,
    )
    return judge(answer, anchors)


def _agreement(part: str, moments: range) -> tuple[float, float]:
    """Kappa with the true labels, and the share of answers that could be judged."""
    true: list[int] = []
    said: list[int] = []
    given = 0
    for made in answers():
        label = made.right if part == "action" else getattr(made, part)
        verdict = getattr(_judge(made), part)
        if made.moment not in moments or label is None:
            assert label is not None or verdict.score is None, "Nothing was said, and it is scored."
            continue
        given += 1
        if verdict.score is not None:
            true.append(label)
            said.append(verdict.score)
    return kappa(true, said).value, len(said) / given


@pytest.mark.parametrize("moments", every(3, [range(5), range(10), range(5, 10)]), ids=str)
@pytest.mark.parametrize(
    ("part", "least"), [("action", 0.9), ("perception", 0.8), ("cognition", 0.8)]
)
def test_agrees_with_the_true_labels(part: str, least: float, moments: range) -> None:
    value, coverage = _agreement(part, moments)
    assert value >= least
    assert coverage >= 0.9
