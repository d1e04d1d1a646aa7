"""Reasons agree with things that are named in the plural, and claim no purpose that is none."""

from __future__ import annotations

import random

from inhabit.eie.examples.context import StepContext
from inhabit.eie.examples.tempting import against
from inhabit.eie.examples.wording import explain
from inhabit.envs.core import Action, Observation, SceneObject
from inhabit.envs.template import ActionKind
from inhabit.envs.virtualhome.evolution.template import VirtualHomeTemplate
from inhabit.envs.virtualhome.world.settings import VirtualHomeSettings

TEMPLATE = VirtualHomeTemplate(VirtualHomeSettings())
THINGS = (
    SceneObject("bananas_1", "bananas", {}, support="dresser_1", pixels=400),
    SceneObject("dresser_1", "dresser", {"open": False}, pixels=900),
    SceneObject("box_1", "box", {}, pixels=300),
    SceneObject("fridge_1", "fridge", {"open": False}, pixels=900),
)
GRAB = Action("grab the bananas", "GRAB", ("bananas",))
PUT = Action("put the box on the dresser", "PUTBACK", ("box", "dresser"))
PUT_IN = Action("put the box in the fridge", "PUTIN", ("box", "fridge"))


def _reasons(*plan: Action, things: tuple[SceneObject, ...] = THINGS) -> set[str]:
    context = StepContext(Observation(""), things, (), plan)
    return {explain(context, None, TEMPLATE, random.Random(i)).reason for i in range(40)}


def test_bananas_are_and_a_box_is() -> None:
    after = Action("put the bananas in the fridge", "PUTIN", ("bananas", "fridge"))
    for reason in _reasons(GRAB, after):
        assert "bananas are on the dresser" in reason
        assert "pick them up" in reason.lower() or "pick up the bananas" in reason.lower()


def test_what_is_put_down_is_not_put_down_for_something_else() -> None:
    assert TEMPLATE.action_kind(PUT) is ActionKind.PUT
    held = (*THINGS[:2], SceneObject("box_1", "box", {}, held=True, pixels=300), THINGS[3])
    for reason in _reasons(PUT, GRAB, things=held):
        assert "bananas" not in reason


CLOSED = {"closed", "closed.", "closed,", "opened"}
"""Words of sentences about what has to be opened first."""


def test_only_what_a_thing_is_put_in_has_to_be_open() -> None:
    context = StepContext(Observation(""), (*THINGS[:2], *THINGS[3:], _held()), (), (GRAB,))
    said = {against(context, (GRAB, PUT), TEMPLATE, random.Random(i)) for i in range(20)}
    assert not any("closed" in sentence for sentence in said)
    said = {against(context, (GRAB, PUT_IN), TEMPLATE, random.Random(i)) for i in range(20)}
    assert "Nothing can be put in the fridge while it is closed." in said
    assert len(said) > 1
    assert all("fridge" in sentence and {*sentence.split()} & CLOSED for sentence in said)


def _held() -> SceneObject:
    return SceneObject("box_1", "box", {}, held=True, pixels=300)
