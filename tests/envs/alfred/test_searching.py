"""The expert that knows no more than what was seen."""

from collections.abc import Iterator
from itertools import islice

import numpy as np
import pytest

from alfred_teaching import glimpses
from inhabit.envs.alfred.env import Alfred
from inhabit.envs.alfred.tasks.sampling import sample
from inhabit.envs.alfred.world.settings import AlfredSettings


@pytest.fixture(scope="module")
def env() -> Iterator[Alfred]:
    settings = AlfredSettings(
        width=64, height=64, navigation="teleport", expert="searching", text="view", wire="none"
    )
    with Alfred(settings=settings) as env:
        yield env


def test_it_begins_by_looking_around_and_says_what_can_be_said(env: Alfred) -> None:
    solved = 0
    for task in sample(2, 7, AlfredSettings(split="test")):
        env.reset(task, seed=0)
        said = []
        while len(said) < 50 and (plan := env.plan()):
            assert len(plan) == 1
            assert plan[0] in env.vocabulary()
            env.act(plan[0])
            said.append(plan[0].text)
        solved += env.progress()[0] == env.progress()[1]
        assert "look around" in said[:2]
    assert solved >= 1


def test_what_looking_around_has_shown_is_told_to_who_has_no_eyes(env: Alfred) -> None:
    env.reset(next(iter(sample(1, 7, AlfredSettings(split="test")))), seed=0)
    before = env.observe().text
    env.act(next(a for a in env.vocabulary() if a.text == "look around"))
    assert "You have just seen besides: " in env.observe().text
    assert "You have just seen besides: " not in before


def test_glimpses_come_again_from_their_seed_and_label_what_they_show() -> None:
    first, again = (
        list(islice(glimpses("test", rounds=1, each=2, side=64, seed=5), 4)) for _ in range(2)
    )
    for (seen, things), (same, _) in zip(first, again, strict=True):
        assert seen.rgb is not None and same.rgb is not None and seen.instances is not None
        assert np.array_equal(seen.rgb, same.rgb)
        names = {thing.name for thing in things}
        shown = {seen.names[i] for i in np.unique(seen.instances) if i >= 0}
        assert shown & names
