from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inhabit.envs.contract import EnvContract
from inhabit.envs.core import Action, Env, Reason, SceneError, Task
from inhabit.envs.toy.env import Toy
from inhabit.envs.toy.house import vocabulary
from inhabit.envs.toy.tasks import make_task, sample


class TestToy(EnvContract):
    def make(self) -> Env:
        return Toy()

    def tasks(self) -> Sequence[Task]:
        return list(sample(6, seed=0))


def test_what_is_held_has_its_article() -> None:
    held = Toy.Scene.model_validate({"items": {"apple": "hand"}, "inside": {"apple": "chest"}})
    with Toy() as env:
        env.reset(make_task("one", "put", "-", held), seed=0)
        assert env.observe().text == "You have an apple in your hand."


def test_first_tasks_of_many_are_those_of_few() -> None:
    assert list(sample(20, 7))[:5] == list(sample(5, 7))
    assert list(sample(5, 7)) != list(sample(5, 8))


@given(seed=st.integers(0, 10_000), index=st.integers(0, 8))
def test_best_actions_shorten_the_plan(seed: int, index: int) -> None:
    """A best first action leaves one step fewer; any other that works leaves no fewer."""
    task = list(sample(index + 1, seed))[index]
    env = Toy()
    env.reset(task, seed=0)
    plan, best = env.plan(), env.best_actions()
    assert plan[0] in best
    for action in env.admissible():
        with env.fork() as fork:
            fork.act(action)
            left = len(fork.plan())
            assert (left == len(plan) - 1) == (action in best)


@given(st.lists(st.sampled_from(list(vocabulary())), max_size=25))
def test_nothing_is_lost_or_doubled(actions: list[object]) -> None:
    env = Toy()
    env.reset(next(sample(1, 3)), seed=0)
    for action in actions:
        before = env.state()
        outcome = env.act(action)  # type: ignore[arg-type]
        after = env.state()
        assert set(after["items"]) == set(before["items"])
        assert sum(place == "hand" for place in after["items"].values()) <= 1
        if outcome.reason is not None:
            assert before == after


def test_picture_shows_what_happens() -> None:
    """Opening, taking and carrying each change the image."""
    env = Toy()
    scene = {"room": "kitchen", "items": {"cup": "fridge"}, "inside": {"cup": "chest"}}
    env.reset(Task(id="x", env="toy", kind="put", goal="g", scene=scene), seed=0)
    pictures = [env.observe().rgb.tobytes()]
    for text in ("open the fridge", "pick up the cup", "close the fridge", "go to the hall"):
        action = env.parse(text)
        assert action is not None and env.act(action).reason is None
        pictures.append(env.observe().rgb.tobytes())
    assert len(set(pictures)) == 5


@pytest.mark.parametrize(
    ("scene", "named"),
    [
        ({"items": {"applle": "hall"}, "inside": {"applle": "chest"}}, "apple"),
        ({"items": {"cup": "fidge"}, "inside": {"cup": "chest"}}, "fridge"),
        ({"items": {"cup": "hall"}, "inside": {"ball": "chest"}}, "ball"),
        ({"items": {"cup": "hall"}}, "Task 'x', scene, the goal is empty"),
        ({"items": {"cup": "hand", "ball": "hand"}, "inside": {"cup": "chest"}}, "one item"),
    ],
)
def test_wrong_names_are_refused(scene: dict[str, object], named: str) -> None:
    task = Task(id="x", env="toy", kind="put", goal="g", scene=scene)  # type: ignore[arg-type]
    with pytest.raises(SceneError, match=named):
        Toy().reset(task, seed=0)


@pytest.mark.parametrize("verb", ["go", "open", "close", "put"])
def test_names_of_no_place_are_an_outcome(verb: str) -> None:
    env = Toy()
    env.reset(next(sample(1, 3)), seed=0)
    before = env.digest()
    arguments = ("cup", "{moon}") if verb == "put" else ("{moon}",)
    outcome = env.act(Action(f"{verb} the {{moon}}", verb, arguments))
    assert outcome.reason is Reason.UNKNOWN_ACTION and env.digest() == before


@pytest.mark.parametrize("verb", ["pick", "put", "drop"])
def test_names_of_no_item_are_an_outcome(verb: str) -> None:
    env = Toy()
    env.reset(next(sample(1, 3)), seed=0)
    arguments = ("{moon}", "shelf") if verb == "put" else ("{moon}",)
    assert env.act(Action("x", verb, arguments)).reason is Reason.UNKNOWN_ACTION
