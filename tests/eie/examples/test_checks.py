"""What a key concept has to be: there, and to be seen under its own name."""

from __future__ import annotations

import pytest

from inhabit.eie.examples.checks import check_concepts
from inhabit.eie.examples.context import StepContext
from inhabit.eie.examples.draft import RejectedError
from inhabit.eie.examples.example import Rejection
from inhabit.envs.core import Action, Observation, SceneObject
from inhabit.envs.template import Lexicon

LEXICON = Lexicon(kinds=frozenset(["bottle", "spray bottle", "cabinet"]), states={})
THINGS = (
    SceneObject("bottle_1", "bottle", {}, pixels=500),
    SceneObject("spray bottle_1", "spray bottle", {}, support="cabinet_1", inside=True),
    SceneObject("cabinet_1", "cabinet", {}, pixels=900),
)
MOMENT = StepContext(
    Observation(""), THINGS, (), (Action("open the cabinet", "open", ("cabinet",)),)
)


def test_what_is_seen_counts() -> None:
    check_concepts(["bottle", "cabinet"], MOMENT, LEXICON, 60)


def test_a_spray_bottle_is_no_bottle() -> None:
    with pytest.raises(RejectedError) as caught:
        check_concepts(["spray bottle"], MOMENT, LEXICON, 1)
    assert caught.value.refused.rejection is Rejection.HIDDEN


def test_a_few_pixels_do_not_count() -> None:
    check_concepts(["bottle"], MOMENT, LEXICON, 500)
    with pytest.raises(RejectedError) as caught:
        check_concepts(["bottle"], MOMENT, LEXICON, 501)
    assert caught.value.refused.rejection is Rejection.HIDDEN
