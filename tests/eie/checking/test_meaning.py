"""Goals of authors are read back: what means something else than the scene wants is found."""

from __future__ import annotations

import pytest

from inhabit.eie.checking.meaning import misread
from inhabit.envs.alfred.evolution.template import AlfredTemplate
from inhabit.envs.alfred.world.settings import AlfredSettings
from inhabit.envs.core import SceneObject, Task

TEMPLATE = AlfredTemplate(AlfredSettings())
GOAL = {"type": "pick_heat_then_place_in_recep", "object": "Mug", "parent": "CounterTop"}
TASK = Task(id="t", env="alfred", kind="", goal="-", scene={"room": "FloorPlan1", "goal": GOAL})
KINDS = ("mug", "cup", "apple", "countertop", "microwave", "fridge", "floor lamp", "drawer")
THINGS = [SceneObject(f"{kind}_1", kind, {}) for kind in KINDS]


def found(goal: str) -> str:
    return misread(goal, TEMPLATE.events(TASK), THINGS, TEMPLATE.lexicon)


@pytest.mark.parametrize(
    "goal",
    [
        "Heat a mug and put it on the counter.",
        "Could you kindly put a warm mug on the countertop for me?",
        "Please microwave the mug, then place it on the counter next to the fridge, thank you.",
        "I would like you to take the mug, warm it up and set it on the counter.",
    ],
)
def test_what_means_the_same_is_kept(goal: str) -> None:
    assert found(goal) == ""


@pytest.mark.parametrize(
    ("goal", "why"),
    [
        ("Please do not heat the mug; put it on the counter.", "'not'"),
        ("Never put a warm mug on the counter.", "'never'"),
        ("Heat the mug and put it on the counter unless it is dirty.", "'unless'"),
        ("Heat a mug and put it on the counter twice.", "'twice'"),
        ("Heat two mugs and put them on the counter.", "two things"),
        ("Put a mug on the counter.", "does not say so"),
        ("Chill a mug and put it on the counter.", "wants to heat"),
        ("Heat an apple and put it on the counter.", "does not name it"),
        ("Heat a mug and put it in the drawer.", "does not name it"),
        ("Heat a mug, put it on the counter and open the drawer.", "drawer"),
        ("Heat the mug, put it on the counter, and turn on the lamp.", "light"),
        ("Take the heated mug from the counter.", "out of"),
    ],
)
def test_what_means_something_else_is_told(goal: str, why: str) -> None:
    assert why in found(goal)
