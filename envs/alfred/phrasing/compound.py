"""Words several goals, an order and a condition."""

from __future__ import annotations

import random
from collections.abc import Sequence

from inhabit.envs.alfred.language.verbs import word
from inhabit.envs.alfred.phrasing.goals import goal_in_words, put_in_words, sentence, wish
from inhabit.envs.alfred.phrasing.nouns import RoomNames
from inhabit.envs.alfred.scenes.initial_room import initial_room
from inhabit.envs.alfred.scenes.scene import AlfredScene
from inhabit.envs.world.phrasing import is_known, pick

_BOTH = (
    "{a} and {b}",
    "{a}, and {b}",
    "{a}, {b}",
    "{a}. {B}",
    "{a}. {B} too",
    "{a} and also {b}",
    "{a} as well as {b}",
    "{a}, and {b} as well",
    "{a} plus {b}",
    "{a}, {b} too",
    "{a}. Besides, {b}",
    "two things: {a}, and {b}",
)
_THREE = (
    "{a}, {b}, and {c}",
    "{a}. {B}. {C}",
    "{a}; {b}; {c}",
    "three things: {a}, {b}, and {c}",
    "{a}. Also, {b}, and {c}",
    "{a}, and {b}. Besides, {c}",
)
"""Wordings for three goals in any order."""
_ORDERED = (
    "first {a}, then {b}",
    "{a}, then {b}",
    "{a}. Then {b}",
    "{a}. Afterwards {b}",
    "{a} before you {b}",
    "after you {a}, {b}",
    "once you {a}, {b}",
    "{a}; when that is done, {b}",
    "{a}. Next, {b}",
    "{a}, and only then {b}",
    "{b}, but first {a}",
    "{b} only after you {a}",
)
_CONDITIONS = (
    "if {it_is} dirty, {wash} it. In any case, {put}",
    "{put}, but {wash} it first if it is dirty",
    "{put}. If it is dirty, {wash} it before that",
    "check whether {it_is} dirty and {wash} it if so, then {put_it}",
    "{put}, and {wash} it beforehand if it is not clean",
    "if {it_is} not clean, {wash} it, then {put_it}. Otherwise just {put_it}",
)


def scene_in_words(
    scene: AlfredScene, rng: random.Random, *, colors: bool = True, plain: bool = False
) -> str:
    """A text that means exactly the goals of a scene.

    Args:
        scene: with its goals, their order and their condition.
        rng: the source of randomness.
        colors: whether colours and materials of the embedded household may be told.
        plain: whether several goals name things by words that actions have, too.
    """
    if scene.condition is None and not scene.also:
        return goal_in_words(scene.goal, scene.room, rng, colors=colors)
    while True:
        first = _first(scene, rng, colors, plain)
        said = sentence(first if not scene.also else _joined(scene, first, rng, colors, plain))
        if not is_known(said):
            return said


def _first(scene: AlfredScene, rng: random.Random, colors: bool, plain: bool) -> str:
    """The first goal, with its condition if it has one."""
    if scene.condition is None:
        return wish(scene.goal, scene.room, rng, colors=colors, plain=plain)
    placed = scene.condition.clean
    names = RoomNames(initial_room(scene.room), rng, rng, colors)
    name = names.name(word(str(placed.object)), countable=True)
    terms = {
        "it_is": f"the {name} is",
        "wash": pick("clean", rng, lambda verb: " " not in verb),
        "put": put_in_words(placed, scene.room, rng, f"the {name}", colors=colors),
        "put_it": put_in_words(placed, scene.room, rng, "it", colors=colors),
    }
    return rng.choice(_CONDITIONS).format_map(terms)


def _joined(scene: AlfredScene, first: str, rng: random.Random, colors: bool, plain: bool) -> str:
    other = scene.also[0]
    second, *more = (wish(goal, scene.room, rng, colors=colors, plain=plain) for goal in scene.also)
    if more:
        a, b, c = rng.sample([first, second, *more], 3)
        terms = {"a": a, "b": b, "c": c, "A": _capital(a), "B": _capital(b), "C": _capital(c)}
        return rng.choice(_THREE).format_map(terms)
    forms: Sequence[str] = _ORDERED if scene.in_order else _BOTH
    if scene.condition is not None:
        # A sentence with a condition of its own stays one.
        forms = [form for form in forms if form.startswith("{a}. ")]
    form = rng.choice(forms)
    terms = {"a": first, "b": second, "A": _capital(first), "B": _capital(second)}
    if not scene.in_order and scene.condition is None and "look" not in other.type:
        terms = terms if rng.random() < 0.5 else _swapped(terms)
    return form.format_map(terms)


def _swapped(terms: dict[str, str]) -> dict[str, str]:
    return {"a": terms["b"], "b": terms["a"], "A": terms["B"], "B": terms["A"]}


def _capital(clause: str) -> str:
    return f"{clause[:1].upper()}{clause[1:]}"
