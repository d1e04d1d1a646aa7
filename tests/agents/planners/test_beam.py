"""The planner `beam`: over words, over anything that is said, and over plans."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pydantic import ValidationError

from inhabit.agents.core import Agent, BudgetError, Call, Decision, Grants, ModelError, Step, View
from inhabit.agents.models.core import Ability, GenerateOptions, Message, Model, Ranking, Reply
from inhabit.agents.models.registry import load
from inhabit.agents.models.scripted import Script, ScriptedModel
from inhabit.agents.registry import find
from inhabit.envs.core import Env, Reason
from inhabit.envs.toy.env import Toy
from inhabit.envs.toy.house import ToySettings
from tests.agents.planners import dead_ends
from tests.agents.planners.dead_ends import DeadEnd, solved
from tests.agents.views import act, view
from tests.episodes.toy_runs import play_toy

TEXTS = ("open the drawer", "pick up the {mug}", "go to the sink", "put it in the sink")
SCORES = {TEXTS[0]: -3.0, TEXTS[1]: -2.0, TEXTS[2]: -5.0, TEXTS[3]: -2.4}


def make(model: Model, **settings: object) -> Agent:
    planner = find("beam")
    return planner.make(planner.settings(**settings), model)


def decide(agent: Agent, moment: View) -> Decision:
    return asyncio.run(agent.decide(moment))


def scorer(**script: object) -> ScriptedModel:
    return ScriptedModel(
        Script(abilities=frozenset({Ability.RANK, Ability.BEAM}), scores=SCORES, **script)
    )


def test_the_best_that_the_beam_finds_is_done() -> None:
    found = decide(make(scorer(), width=2), view(*TEXTS))
    assert found.action == act(TEXTS[1])
    assert [one.text for one in found.ranked] == [TEXTS[1], TEXTS[3]]
    failed = Step(TEXTS[1], Reason.CLOSED, "It is closed.")
    assert decide(make(scorer()), view(*TEXTS, history=[failed])).action == act(TEXTS[3])
    assert decide(make(scorer()), view()).stop


def test_a_wide_beam_is_rank() -> None:
    rank = find("rank").make(find("rank").settings(), load("scripted:noise"))
    beam = make(load("scripted:noise"), width=9)
    assert decide(beam, view(*TEXTS)).ranked == decide(rank, view(*TEXTS)).ranked


def test_free_words_are_matched_to_a_candidate_or_to_none() -> None:
    says = ScriptedModel(
        Script(
            abilities=frozenset({Ability.N_BEST}),
            replies=(
                "I will walk over to the sink.",
                "open it",
                "Sing {a} song",
                "open the drawer",
            ),
        )
    )
    agent = make(says, free=True, width=2)
    matched = decide(agent, view(*TEXTS))
    assert matched.action == act(TEXTS[2])
    assert matched.raw == "I will walk over to the sink."
    unmatched = decide(agent, view(*TEXTS))
    assert unmatched.action is None
    assert not unmatched.stop
    assert unmatched.raw == "Sing {a} song"


def test_a_free_beam_passes_over_what_has_just_failed() -> None:
    says = ScriptedModel(
        Script(abilities={Ability.N_BEST}, replies=(TEXTS[0], TEXTS[2], TEXTS[0], TEXTS[0]))
    )
    agent = make(says, free=True, width=2)
    failed = view(*TEXTS, history=[Step(TEXTS[0], Reason.CLOSED, "It is locked.")])
    assert decide(agent, failed).action == act(TEXTS[2])
    insists = decide(agent, failed)
    assert insists.action == act(TEXTS[0])


def test_a_free_beam_samples_anew_at_each_step_and_in_each_episode() -> None:
    seeds: list[int] = []

    class Sampling(ScriptedModel):
        async def _generate(self, prompt: Sequence[Message], options: GenerateOptions) -> Reply:
            seeds.append(options.seed)
            return await super()._generate(prompt, options)

    agent = make(Sampling(Script(replies=(TEXTS[0],) * 3)), free=True, width=1)
    done = Step(TEXTS[0], None, "It is open.")
    for moment in (view(*TEXTS), view(*TEXTS, history=[done]), view(*TEXTS, seed=1)):
        decide(agent, moment)
    assert len(set(seeds)) == 3


def test_plans_by_the_model_alone() -> None:
    found = decide(make(scorer(), plan=True, depth=2, width=3), view(*TEXTS))
    assert found.action == act(TEXTS[1])
    assert found.ranked[0].text == f"{TEXTS[1]}, then {TEXTS[1]}"
    assert found.ranked[0].logprob == -4.0
    assert len(found.ranked) == 3
    assert len(found.calls) == 4  # one for the first actions, one after each of three beginnings
    then = found.calls[1].messages[-1]["content"][0]["text"]
    assert f"1. {TEXTS[1]}" in then


class Gate:
    """A trial in which nothing works but what `way` says, in its order."""

    def __init__(self, way: tuple[str, ...], open_: list[int]) -> None:
        self.way, self.open = way, open_
        open_.append(1)

    async def act(self, action):
        if self.way and action.text == self.way[0]:
            self.way = self.way[1:]
            return None, "Done."
        return Reason.BLOCKED, "No."

    async def look(self):
        moment = view(*TEXTS)
        return moment.observation, moment.candidates

    async def fork(self):
        return Gate(self.way, self.open)

    async def close(self):
        self.open.pop()


def gated(*way: str) -> tuple[Grants, list[int]]:
    open_: list[int] = []

    async def fork() -> Gate:
        return Gate(way, open_)

    return Grants(fork=fork), open_


def test_plans_are_tried_where_that_is_granted() -> None:
    grants, open_ = gated(TEXTS[2], TEXTS[0], TEXTS[1])
    found = decide(make(scorer(), plan=True), view(*TEXTS, grants=grants))
    assert found.action == act(TEXTS[2])
    assert found.ranked[0].text == f"{TEXTS[2]}, then {TEXTS[0]}, then {TEXTS[1]}"
    assert "failed" in found.reasoning
    assert not open_, "Every copy is closed."


def test_copies_of_what_failed_are_let_go_of_at_once() -> None:
    grants, open_ = gated(TEXTS[0], TEXTS[2], TEXTS[0])
    most: list[int] = []

    class Watched(ScriptedModel):
        async def rank(self, *arguments: Any) -> Ranking:
            most.append(len(open_))
            return await super().rank(*arguments)

    model = Watched(Script(abilities=frozenset({Ability.RANK}), scores=SCORES))
    decide(make(model, plan=True), view(*TEXTS, grants=grants))
    assert most == [1, 2, 3], "The moment, and the one beginning that works."
    assert not open_


def test_a_model_that_fails_half_way_leaves_what_was_scored() -> None:
    class Failing(ScriptedModel):
        """Has nothing to say to what comes after the second action of a plan."""

        async def rank(self, prompt: Sequence[Message], candidates: Sequence[str]) -> Ranking:
            if f"1. {TEXTS[3]}" in str(prompt[-1].parts[0]):
                raise ModelError("No more.")
            return await super().rank(prompt, candidates)

    abilities = frozenset({Ability.RANK, Ability.IMAGES})
    model = Failing(Script(abilities=abilities, scores=SCORES))
    moment = view(*TEXTS, rgb=np.zeros((4, 4, 3), np.uint8))
    with pytest.raises(ModelError, match=r"No more\.") as failed:
        decide(make(model, plan=True, depth=2, width=3), moment)
    left = failed.value.decision
    assert left is not None
    assert len(left.calls) == 3, "The first actions, and what comes after two of the three."
    assert len(left.images) == 1


@pytest.mark.parametrize(
    ("name", "settings"), [("beam", {}), ("beam", {"free": True}), ("rank", {"reason": True})]
)
def test_what_was_paid_before_a_failure_is_recorded_with_its_image(
    name: str, settings: dict[str, object]
) -> None:
    class Paid(ScriptedModel):
        """Fails when it has answered once."""

        async def _beam(self, prompt: Sequence[Message], *_: object) -> Ranking:
            messages = tuple(message.record() for message in prompt)
            raise ModelError("No more.").after([Call(messages, "")])

        _generate = _beam  # type: ignore[assignment]

    model = Paid(Script(abilities=frozenset(Ability)))
    agent = find(name).make(find(name).settings(**settings), model)
    with pytest.raises(ModelError, match=r"No more\.") as failed:
        decide(agent, view(*TEXTS, rgb=np.zeros((4, 4, 3), np.uint8)))
    assert len(failed.value.decision.calls) == len(failed.value.decision.images) == 1


def test_a_budget_that_ends_within_a_search_leaves_what_each_plan_has_paid() -> None:
    class Spent(ScriptedModel):
        """Answers a half of what is asked about the second action of each plan."""

        async def rank(self, prompt: Sequence[Message], candidates: Sequence[str]) -> Ranking:
            ranking = await super().rank(prompt, candidates)
            if "1. " in str(prompt[-1].parts[0]):
                raise BudgetError("Spent.").after([ranking.call])
            return ranking

    model = Spent(Script(abilities=frozenset({Ability.RANK}), scores=SCORES))
    with pytest.raises(BudgetError) as failed:
        decide(make(model, plan=True, width=3), view(*TEXTS))
    assert len(failed.value.decision.calls) == 1 + 3


def test_the_longest_plan_counts_and_at_last_the_likeliest_action() -> None:
    grants, open_ = gated(TEXTS[2], TEXTS[0])
    found = decide(make(scorer(), plan=True), view(*TEXTS, grants=grants))
    assert found.ranked[0].text == f"{TEXTS[2]}, then {TEXTS[0]}"
    grants, open_ = gated()
    assert decide(make(scorer(), plan=True), view(*TEXTS, grants=grants)).action == act(TEXTS[1])
    assert not open_


def test_as_many_plans_are_kept_as_asked_for_where_none_is_tried() -> None:
    texts = [f"go to the drawer_{number}" for number in range(80)]
    found = decide(make(scorer(), plan=True, depth=1, width=60, tries=50), view(*texts))
    assert len(found.ranked) == 60


def test_a_plan_is_followed_until_something_fails() -> None:
    way = (TEXTS[2], TEXTS[0], TEXTS[1])
    history: list[Step] = []
    for text in way:
        agent = make(scorer(), plan=True, follow="plan")  # another process may go on with it
        found = decide(agent, view(*TEXTS, history=history, grants=gated(*way)[0]))
        assert found.action == act(text)
        assert bool(found.calls) == (text == way[0])
        history.append(Step(text, None, "Done.", planned=found.planned))
    assert decide(agent, view(*TEXTS, history=history)).calls

    assert decide(agent, view(*TEXTS, seed=1, grants=gated(*way)[0])).action == act(way[0])
    failed = [Step(way[0], Reason.BLOCKED, "No.", planned=way[1:])]
    assert decide(agent, view(*TEXTS, seed=1, history=failed)).calls


def toy_env() -> Env:
    return Toy(ToySettings())


def flat_env() -> Env:
    from inhabit.envs.virtualhome.env import EmbeddedVirtualHome
    from inhabit.envs.virtualhome.world.settings import VirtualHomeSettings

    return EmbeddedVirtualHome(VirtualHomeSettings(view="none"))


@pytest.mark.parametrize(
    ("make_env", "build"),
    [
        (toy_env, dead_ends.toy),
        pytest.param(flat_env, dead_ends.virtualhome, marks=pytest.mark.slow),
    ],
    ids=["toy", "virtualhome"],
)
def test_three_actions_ahead_the_dead_end_is_seen(
    tmp_path: Path, make_env: Callable[[], Env], build: Callable[[], Sequence[DeadEnd]]
) -> None:
    ends = list(build())[::5]
    one = solved(tmp_path / "1", make_env, ends, depth=1, lookahead=True)
    three = solved(tmp_path / "3", make_env, ends, depth=3, lookahead=True)
    assert three - one >= 0.3 * len(ends)


def test_lookahead_shows_no_goal(tmp_path: Path) -> None:
    """Nothing that a copy gives an agent tells the last step of a task from any other."""

    seen: list[tuple[Reason | None, str]] = []

    class Peeks(Agent):
        async def decide(self, view: View) -> Decision:
            copy = await view.grants.fork()
            last = await view.parse(dead_end.way[-1])
            for text in dead_end.way:
                action = await view.parse(text)
                seen.append(await copy.act(action))
            assert not {"progress", "plan", "state", "met"} & set(dir(copy))
            await copy.close()
            return Decision(last, stop=True)

    dead_end = next(dead_ends.toy())
    play_toy(tmp_path, tasks=[dead_end.task], made=Peeks(), grants=["lookahead"])
    assert len(seen) == len(dead_end.way)
    assert all(reason is None for reason, _ in seen)


def test_what_a_beam_asks_of_its_model() -> None:
    with pytest.raises(ModelError, match="asks its model for beam"):
        make(ScriptedModel(Script()))
    with pytest.raises(ModelError, match="asks its model for n_best"):
        make(ScriptedModel(Script(replies=("x",))), free=True)
    with pytest.raises(ModelError, match="asks its model for words"):
        make(ScriptedModel(Script()), free=True, width=1)
    with pytest.raises(ValidationError, match="not both"):
        find("beam").settings(free=True, plan=True)
