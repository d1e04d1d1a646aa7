"""A small world's side of EIE."""

from __future__ import annotations

import random
from dataclasses import dataclass, replace

import numpy as np
from pydantic import BaseModel

from inhabit.envs.core import Action, Reason
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


def test_numbers_and_letters_of_any_language_tell_actions_apart() -> None:
    actions = [Action(f"take the {name}", "take") for name in ("box 1", "box 2", "öl")]
    assert [among(actions, action.text) for action in actions] == actions
    assert among(actions, "3. Take box 2.") == actions[1]
    assert among(actions, "take box 3") is None
    texts = ("set it to 5", "set it to -5", "1.5 turns", "5 turns")
    dials = [Action(text, "set") for text in texts]
    assert [among(dials, f"{action.text}.") for action in dials] == dials
