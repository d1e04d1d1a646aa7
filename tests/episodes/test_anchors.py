"""What is right at a moment, by the simulator's own word."""

from __future__ import annotations

import random

from inhabit.agents.core import Decision
from inhabit.envs.core import Action, SceneObject
from inhabit.envs.toy.env import Toy
from inhabit.envs.toy.tasks import sample
from inhabit.episodes.episode import Episode
from inhabit.episodes.judging.anchors import anchors, gather
from inhabit.episodes.judging.oracle import judge
from inhabit.episodes.judging.scores import AgentAnswer
from tests.episodes.made_answers import MOMENTS


class OnePlan(Toy):
    """Knows one plan and not all of the shortest, as large houses do."""

    def best_actions(self) -> None:  # type: ignore[override]
        return None


def test_an_action_tried_in_a_copy_is_judged_as_by_the_whole_set() -> None:
    for number, task in enumerate(sample(8, seed=3)):
        draw = random.Random(number)
        whole, one = Toy(), OnePlan()
        episode, other = Episode(whole, task), Episode(one, task)
        episode.reset(), other.reset()
        for _ in range(4):
            action = draw.choice(whole.vocabulary())
            best = {a.text for a in whole.best_actions()}
            before = one.digest()
            found = anchors(other, action)
            assert not found.complete and one.digest() == before
            assert (action.text in (found.best or ())) == (action.text in best)
            assert found.plan[0] in (found.best or ())
            assert anchors(episode, action).best == tuple(sorted(best))
            if episode.act(Decision(action)).over:
                break
            other.act(Decision(action))


def test_key_concepts_are_what_the_next_actions_name_and_can_be_seen() -> None:
    moment = MOMENTS[1]
    plan = [Action(text, text.split()[0]) for text in moment.plan]
    found = gather(plan, frozenset(plan[:1]), moment.things, {})
    assert set(found.key_things) == {"microwave_1", "potato_1"}
    assert "closed microwave" in found.key_concepts and "potato in the hand" in found.key_concepts
    assert "open the microwave_1; then" in found.reason


def test_key_concepts_are_found_by_the_words_of_each_environment() -> None:
    mug = SceneObject("mug_2", "mug", {"dirty": True}, held=True)
    drawers = [SceneObject(f"drawer_{i}", "drawer", {"open": i == 1}, pixels=50) for i in (1, 2)]
    things = (mug, *drawers, SceneObject("mug_1", "mug", {"dirty": False}, pixels=50))
    alfred = [
        Action("open the drawer_2", "open", ("drawer_2",)),
        Action("put it in the drawer_2", "put", ("it", "drawer_2")),
    ]
    assert set(gather(alfred, None, things, {}).key_things) == {"mug_2", "drawer_2"}
    close = [Action("close the drawer", "close", ("drawer",))]
    found = gather(close, None, things, {})
    assert found.key_things == ("drawer_1", "drawer_2")
    assert found.key_concepts == ("drawer", "open drawer", "closed drawer")


def test_a_name_that_ends_in_a_space_and_a_number_is_judged_by_its_number() -> None:
    drawers = (
        SceneObject("drawer 1", "drawer", {"open": False}, pixels=50),
        SceneObject("drawer 2", "drawer", {"open": True}),
    )
    plan = [Action("open drawer 1", "open", ("drawer 1",))]
    answer = AgentAnswer(
        goal="put a mug in drawer",
        told="",
        choices=("open drawer 1", "close drawer 2"),
        description="Drawer 1 is closed.",
        reasoning="I have to open drawer 1.",
        action="open drawer 1",
    )
    known = gather(plan, frozenset(plan), drawers, {})
    right = judge(answer, known)
    assert (right.perception.score, right.cognition.score, right.action.score) == (1, 1, 1)
    wrong = judge(answer.model_copy(update={"description": "Drawer 1 is open."}), known)
    assert wrong.perception.score == 0


def test_what_a_benchmark_says_itself_comes_first() -> None:
    told = {"key_concepts": ["a {x}"], "reason": "Because."}
    found = gather([], frozenset(), MOMENTS[0].things, told)  # type: ignore[arg-type]
    assert (found.key_concepts, found.reason) == (("a {x}",), "Because.")
