"""Mutated tasks: each is rejected, and for the right reason."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import pytest

from inhabit.eie.examples.draft import Draft
from inhabit.eie.examples.example import Refused, Rejection
from inhabit.eie.examples.settings import SynthSettings
from inhabit.eie.making.author import AuthorReply, AuthorRequest, Procedural
from inhabit.eie.making.pipeline import Pipeline
from inhabit.envs.alfred.language.verbs import word
from inhabit.envs.alfred.scenes.initial_room import InitialRoom, initial_room
from inhabit.envs.alfred.scenes.scene import AlfredGoal
from inhabit.envs.alfred.world.things import PLACES, records
from inhabit.envs.core import Env
from inhabit.envs.registry import find
from inhabit.envs.template import Template

Plain = dict[str, Any]
Mutation = Callable[[Plain, InitialRoom, random.Random], Plain | None]

R = Rejection


def _scene(task: Plain, **changes: Any) -> Plain:
    return {**task, "scene": {**task["scene"], **changes}}


def unknown_object(task: Plain, room: InitialRoom, rng: random.Random) -> Plain | None:
    name = rng.choice(["Unicorn", "LightSaber", "Zebra", "Trombone"])
    return _scene(task, goal={**task["scene"]["goal"], "object": name})


def object_the_room_cannot_hold(task: Plain, room: InitialRoom, rng: random.Random) -> Plain | None:
    absent = _absent(room)
    return _scene(task, goal={**_simple(room, rng), "object": rng.choice(absent)})


def place_out_of_reach(task: Plain, room: InitialRoom, rng: random.Random) -> Plain | None:
    far = rng.choice([-1, 1]) * (20 + rng.randrange(36) * 0.25)
    return _scene(task, start={"x": far, "z": 0.0})


def state_that_the_type_lacks(task: Plain, room: InitialRoom, rng: random.Random) -> Plain | None:
    items = [n for n in room.items if not room.thing(n).openable and not room.thing(n).toggleable]
    state = rng.choice(["open", "on"])
    return _scene(task, states=[{"object": rng.choice(items), state: True}])


def held_that_cannot_be_held(task: Plain, room: InitialRoom, rng: random.Random) -> Plain | None:
    fixed = [
        room.name_of(t)
        for type in ("CounterTop", "Sofa", "Bed", "Fridge", "Sink", "SinkBasin", "Desk", "Drawer")
        for t in room.of_type(type)
    ]
    return _scene(task, held=rng.choice(fixed)) if fixed else None


def wrong_count(task: Plain, room: InitialRoom, rng: random.Random) -> Plain | None:
    noun = word(task["scene"]["goal"]["object"])
    return {**task, "goal": f"There are {rng.randrange(7, 99)} {noun}s. Fetch one of them."}


def absent_thing_in_the_text(task: Plain, room: InitialRoom, rng: random.Random) -> Plain | None:
    absent = _absent(room)
    return {**task, "goal": f"{task['goal']} Leave the {word(rng.choice(absent))} alone."}


def already_solved(task: Plain, room: InitialRoom, rng: random.Random) -> Plain | None:
    pairs = [
        (room.type(name), holder.type)
        for name in room.items
        if (holder := room.holder(room.thing(name))) is not None
        and holder.type in ("CounterTop", "DiningTable", "Desk", "Bed", "Sofa", "SideTable")
    ]
    if not pairs:
        return None
    object, parent = rng.choice(sorted(pairs))
    goal = AlfredGoal(type="pick_and_place_simple", object=object, parent=parent)
    return _scene(task, goal=goal.model_dump(exclude_none=True), placements=[])


def unsolvable(task: Plain, room: InitialRoom, rng: random.Random) -> Plain | None:
    single = sorted({room.type(n) for n in room.items if _alone(room, room.type(n))})
    goal = {**_simple(room, rng), "type": "pick_two_obj_and_place", "object": rng.choice(single)}
    text = f"Gather the {word(goal['object'])}s on the {word(goal['parent'])}."
    return {**_scene(task, goal=goal), "goal": text}


def hidden_key_concept(task: Plain, room: InitialRoom, rng: random.Random) -> Plain | None:
    """What lies in something closed, which nobody needs to open, can't be in the image."""
    scene, goal = task["scene"], task["scene"]["goal"]
    if "spawn_seed" in scene:
        return None
    elsewhere = {one["object"] for key in ("placements", "states") for one in scene.get(key, ())}
    elsewhere |= {one["receptacle"] for one in scene.get("placements", ())}
    opened = {goal.get("parent"), "Microwave", "Fridge"} | {
        holder.type
        for n in room.items
        if room.type(n) in (goal["object"], goal.get("movable"), "Knife", "ButterKnife")
        and (holder := room.holder(room.thing(n))) is not None
    }
    shut = [
        word(room.type(n))
        for n in room.items
        if _alone(room, room.type(n))
        and (holder := room.holder(room.thing(n))) is not None
        and holder.shut
        and holder.type not in opened
        and not elsewhere & {n, room.name_of(holder)}
        and room.type(n) != goal["object"]
    ]
    concept = rng.choice(sorted(shut)) if shut else None
    return {**task, "key_concepts": [concept]} if concept else None


def _alone(room: InitialRoom, type: str) -> bool:
    """Whether there is one of that type, within reach or not."""
    return sum(r["objectType"] == type for r in records(room.name)) == 1


def _absent(room: InitialRoom) -> list[str]:
    """Types of which there is none, within reach or not."""
    there = {r["objectType"] for r in records(room.name)}
    return sorted(type for type in PLACES if type not in there)


def _simple(room: InitialRoom, rng: random.Random) -> Plain:
    holders = [t for t in ("CounterTop", "DiningTable", "Desk", "Bed", "Sofa") if room.count(t)]
    return {
        "type": "pick_and_place_simple",
        "object": room.type(rng.choice(list(room.items))),
        "parent": rng.choice(holders or ["Shelf"]),
    }


MUTATIONS: Mapping[Mutation, Rejection] = {
    unknown_object: R.UNKNOWN_NAME,
    object_the_room_cannot_hold: R.REFUSED,
    place_out_of_reach: R.REFUSED,
    state_that_the_type_lacks: R.REFUSED,
    held_that_cannot_be_held: R.REFUSED,
    wrong_count: R.CONTRADICTION,
    absent_thing_in_the_text: R.CONTRADICTION,
    already_solved: R.ALREADY_SOLVED,
    unsolvable: R.UNSOLVABLE,
    hidden_key_concept: R.HIDDEN,
}


@pytest.fixture(scope="module")
def alfred() -> Iterator[tuple[Env, Template]]:
    registration = find("alfred")
    settings = registration.fastest_settings("embedded", registration.settings())
    assert registration.template is not None
    with registration.make("embedded", settings) as env:
        yield env, registration.template(settings)


_LONGER = frozenset({"also", "condition", "disturbances"})


def _mutants(mutation: Mutation, template: Template, count: int) -> Iterator[AuthorReply]:
    author = Procedural("alfred", template)
    rng = random.Random(mutation.__name__)
    number = made = 0
    while made < count:
        answer = author.reply(AuthorRequest(number, seed=7))
        number += 1
        assert isinstance(answer.raw, dict)
        task: Plain = dict(answer.raw)
        if not _LONGER.isdisjoint(task["scene"]):  # What is wrong with one goal, another may hide.
            continue
        mutant = mutation(task, initial_room(task["scene"]["room"]), rng)
        if mutant is not None:
            made += 1
            yield AuthorReply(mutant, answer.name)


def _judged(
    alfred: tuple[Env, Template], mutation: Mutation, count: int
) -> tuple[Counter[str], int]:
    """Reasons that mutants were rejected for, and how many were kept."""
    env, template = alfred
    pipeline = Pipeline("alfred", template, SynthSettings(longest=50), seed=7)
    reasons: Counter[str] = Counter()
    kept = 0
    for number, mutant in enumerate(_mutants(mutation, template, count)):
        concepts = tuple(mutant.raw.get("key_concepts", ()))  # type: ignore[union-attr]
        first = None
        for piece in pipeline.pieces(env, mutant, "mutant", number):
            if isinstance(piece, Refused):
                # What an author says of a moment is only read where that can be asked about.
                about = bool(concepts) and f"key concept {concepts[0]!r}" in piece.sentence
                first = piece if about else first or piece
            elif isinstance(piece, Draft) and piece.example.kind != "recognition":
                kept += not concepts or piece.example.key_concepts == concepts
            if not concepts and first is not None:
                break
            if len(reasons) > 10 * count:
                break
        reasons[first.rejection if first is not None else "none"] += 1
    return reasons, kept


@pytest.mark.parametrize(
    "mutation",
    # Those of a hidden concept are long looked for.
    [pytest.param(m, marks=pytest.mark.slow if m is hidden_key_concept else ()) for m in MUTATIONS],
    ids=lambda m: m.__name__,
)
def test_a_few_mutants_are_rejected(alfred: tuple[Env, Template], mutation: Mutation) -> None:
    reasons, kept = _judged(alfred, mutation, 2)
    assert kept == 0 and reasons == {MUTATIONS[mutation]: 2}


@pytest.mark.slow
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("mutation", MUTATIONS, ids=lambda m: m.__name__)
def test_two_hundred_mutants_are_rejected(alfred: tuple[Env, Template], mutation: Mutation) -> None:
    reasons, kept = _judged(alfred, mutation, 200)
    assert kept == 0 and reasons["none"] == 0
    # What an author says of a moment is not read where the task has none to ask about.
    read = 200 - (reasons[R.AMBIGUOUS] if mutation is hidden_key_concept else 0)
    assert read >= 150 and reasons[MUTATIONS[mutation]] >= 0.95 * read
