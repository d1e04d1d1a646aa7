"""A small world's side of EIE."""

from __future__ import annotations

import random
from dataclasses import dataclass, replace

import numpy as np
import pytest
from pydantic import BaseModel

from inhabit.eie.examples.topology import Topology
from inhabit.envs.core import Action, Reason, SceneError, SceneObject
from inhabit.envs.template import ActionKind
from inhabit.envs.world.rows import Verb, among
from inhabit.envs.world.small import SmallTemplate, SmallWorld


class Bed(BaseModel, frozen=True):
    wet: bool = False


@dataclass(frozen=True)
class State:
    scene: Bed
    near: bool = False
    wet: bool = False


def act(now: State, action: Action) -> tuple[State, Reason | None, str]:
    if action.verb == "go":
        return replace(now, near=True), None, "You are at the bed."
    if not now.near:
        return now, Reason.OUT_OF_REACH, "The bed is too far away."
    return replace(now, wet=True), None, "The bed is wet."


@dataclass(frozen=True)
class Tank:
    scene: Bed
    poured: int = 0

    @property
    def full(self) -> bool:
        return self.poured == 2


def pour(now: Tank, action: Action) -> tuple[Tank, Reason | None, str]:
    if action.verb == "go":
        return now, None, "You are at the bed."
    return replace(now, poured=now.poured + 1), None, "It takes up the water."


GARDEN = SmallWorld(
    name="garden",
    summary="a dry bed",
    scene=Bed,
    begin=lambda scene: State(scene, wet=scene.wet),
    verbs={
        Verb("go", "go to {}", ActionKind.GO): [("bed",)],
        Verb("water", "water {}"): [("bed",)],
    },
    act=act,
    goal=lambda now: (now.wet,),
    cells=lambda now: np.full((3, 3), "bed"),
    colours={"bed": "#408040"},
    things=lambda now: [],
    draw=lambda rng: ("water", "Water the bed.", Bed()),
)


def test_what_no_shared_kind_of_action_names_is_a_subtask_too() -> None:
    template = SmallTemplate(GARDEN)
    events = template.events(template.seed(random.Random(0), "garden-0"))
    assert [(event.wish, event.thing) for event in events] == [("water the bed", "bed")]


def test_what_has_to_be_done_twice_is_two_subtasks() -> None:
    world = replace(GARDEN, begin=lambda scene: Tank(scene), act=pour, goal=lambda now: (now.full,))
    template = SmallTemplate(world)
    task = template.seed(random.Random(0), "garden-0")
    first, second = events = template.events(task)
    assert first.wish == second.wish == "water the bed"
    assert second.needs == (first.name,) != (second.name,)
    assert list(Topology(events).order()) == events


def test_things_of_many_scenes_are_known() -> None:
    def things(now: State) -> list[SceneObject]:
        return [SceneObject("bed", "bed", {})] if now.wet else [SceneObject("pot", "pot", {})]

    world = replace(
        GARDEN, things=things, draw=lambda rng: ("water", "Water it.", Bed(wet=rng.random() < 0.3))
    )
    assert SmallTemplate(world).lexicon.kinds == {"bed", "pot"}


def test_a_world_whose_scenes_make_no_task_says_so() -> None:
    solved = replace(GARDEN, goal=lambda now: (True,))
    with pytest.raises(SceneError, match="garden: none of"):
        solved.task("garden-0", random.Random(0))


def test_an_action_of_another_verb_is_unknown_and_changes_nothing() -> None:
    registration = GARDEN.registration()
    env = registration.make("grid", registration.settings())
    env.reset(GARDEN.task("garden-0", random.Random(0)), seed=0)
    assert env.act(Action("water the bed", "go")).reason is Reason.UNKNOWN_ACTION
    assert env.act(env.vocabulary()[1]).reason is Reason.OUT_OF_REACH


def test_a_name_without_a_colour_is_not_drawn_black() -> None:
    registration = replace(GARDEN, colours={}).registration()
    env = registration.make("grid", registration.settings())
    env.reset(GARDEN.task("garden-0", random.Random(0)), seed=0)
    with pytest.raises(KeyError, match="bed"):
        env.observe()


def test_numbers_and_letters_of_any_language_tell_actions_apart() -> None:
    actions = [Action(f"take the {name}", "take") for name in ("box 1", "box 2", "öl")]
    assert [among(actions, action.text) for action in actions] == actions
    assert among(actions, "3. Take box 2.") == actions[1]
    assert among(actions, "take box 3") is None
    texts = ("set it to 5", "set it to -5", "1.5 turns", "5 turns")
    dials = [Action(text, "set") for text in texts]
    assert [among(dials, f"{action.text}.") for action in dials] == dials
    signs = [Action(f"press the {sign}", "press", (sign,)) for sign in ("+", "-", "🍎")]
    assert [among(signs, action.text) for action in signs] == signs
    assert [among(signs, f"1. Press {a.arguments[0]}.") for a in signs] == signs
    assert among(signs, "press") is None
