"""What environments offer to EIE: valid tasks, valid variations, topologies that hold together."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest
from pydantic import BaseModel, ValidationError
from sampling import every

from inhabit.eie.checking.claims import contradictions
from inhabit.eie.examples.topology import Topology, TopologyError, kind_of
from inhabit.envs.alfred.scenes.scene import AlfredGoal
from inhabit.envs.alfred.world.kinds import KIND_NAMES
from inhabit.envs.core import Action, Env, Factual, Task
from inhabit.envs.minedojo.tasks.language import understand
from inhabit.envs.registry import find
from inhabit.envs.template import ActionKind, Event, Template

ENVS = ("alfred", "toy", "virtualhome")


def _template(env: str) -> Template:
    registration = find(env)
    assert registration.template is not None
    return registration.template(registration.settings())


def _scene(env: str) -> type[BaseModel]:
    if env == "toy":
        from inhabit.envs.toy.env import Toy

        return Toy.Scene
    if env == "alfred":
        from inhabit.envs.alfred.env import Alfred

        return Alfred.Scene
    from inhabit.envs.virtualhome.env import VirtualHome

    return VirtualHome.Scene


@pytest.mark.parametrize("env", every(2, ENVS))
def test_seeds_and_what_becomes_of_them(env: str) -> None:
    template, scene = _template(env), _scene(env)
    rng = random.Random(1)
    task = template.seed(rng, "one")
    assert task == template.seed(random.Random(1), "one")
    made = {change: template.evolve(task, change, rng, change) for change in template.changes}
    assert sum(evolved is not None for evolved in made.values()) >= 2
    for evolved in (task, *(t for t in made.values() if t is not None)):
        assert evolved.env == env and template.room(evolved)
        scene.model_validate(dict(evolved.scene))
        events = Topology(template.events(evolved)).order()
        names = [event.name for event in events]
        assert all(names.index(n) < names.index(e.name) for e in events for n in e.needs)
    json.dumps(template.schema())
    assert template.prose()


@pytest.mark.parametrize("env", every(2, ENVS))
def test_what_is_true_of_a_scene(env: str) -> None:
    """Things have unique names, lie on things, and goals speak of nothing else."""
    registration, template = find(env), _template(env)
    task = template.seed(random.Random(2), "two")
    settings = registration.settings.model_validate({"wire": "none"} if env == "alfred" else {})
    made: Env = registration.make(registration.backends[0], settings)
    with made:
        made.reset(task, seed=1)
        assert isinstance(made, Factual)
        things = made.things()
        names = {thing.name for thing in things}
        assert len(names) == len(things) > 3
        for thing in things:
            assert thing.support is None or thing.support in names
            assert set(thing.states) <= set(template.lexicon.states)
            assert kind_of(thing.name) and thing.pixels >= 0
        assert any(thing.pixels for thing in things)
        assert contradictions(task.goal, things, template.lexicon, wish=True) == []


def test_every_form_of_a_goal_is_a_goal() -> None:
    """Whoever is held to the schema can't leave out what a type needs, or say what it has no use
    for."""
    schema: Any = _template("alfred").schema()
    rng, types = random.Random(4), set()
    for form in schema["$defs"]["Goal"]["anyOf"]:
        for _ in range(20):
            said = {
                name: field["const"] if "const" in field else rng.choice(field["vocabulary"])
                for name, field in form["properties"].items()
            }
            types.add(AlfredGoal.model_validate(said).type)
            for name in set(form["required"]) - {"sliced"}:
                with pytest.raises(ValidationError):
                    AlfredGoal.model_validate({k: v for k, v in said.items() if k != name})
    assert types == set(KIND_NAMES)


def test_a_topology_that_can_never_come_about_is_refused() -> None:
    copy = Event("take", "take it", "", ActionKind.TAKE, "cup", needs=("put",))
    put = Event("put", "put it", "", ActionKind.PUT, "shelf", needs=("take",))
    with pytest.raises(TopologyError, match="wait for one another"):
        Topology([copy, put])
    with pytest.raises(TopologyError, match="needs 'put'"):
        Topology([copy])
    with pytest.raises(TopologyError, match="same name"):
        Topology([copy, copy])


def test_a_plan_tells_which_subtasks_are_done_next_open_and_blocked() -> None:
    template = _template("alfred")
    kinds = {"heat": "pick_heat_then_place_in_recep", "place": "pick_and_place_simple"}
    task = template.seed(random.Random(3), "one").model_copy(
        update={
            "scene": {
                "room": "FloorPlan1",
                "goal": {"type": kinds["heat"], "object": "Egg", "parent": "CounterTop"},
                "also": [{"type": kinds["place"], "object": "Mug", "parent": "Shelf"}],
            }
        }
    )
    topology = Topology(template.events(task))
    heated = [
        Action("open the microwave", "open", ("microwave",)),
        Action("put it in the microwave", "put", ("microwave",)),
        Action("turn on the microwave", "turn on", ("microwave",)),
        Action("pick up the egg", "pick up", ("egg",)),
    ]
    placed = [Action("put it on the countertop", "put", ("countertop",))]
    mug = [
        Action("pick up the mug", "pick up", ("mug",)),
        Action("put it on the shelf", "put", ("shelf",)),
    ]
    take = heated[-1:]

    def states(plan: list[Action]) -> str:
        return " ".join(one.state for one in topology.moment(plan, template))

    assert [one.name for one in topology.moment([], template)] == [
        *("take", "heat", "place"), *("take 2", "place 2"),
    ]  # fmt: skip
    assert states([*take, *heated, *placed, *mug]) == "next blocked blocked open blocked"
    assert states([*heated, *placed, *mug]) == "done next blocked open blocked"
    # Heated, and put aside: picking it up again is no subtask.
    assert states([*take, *placed, *mug]) == "done done next open blocked"
    assert states([*mug, *heated, *placed]) == "done open blocked next blocked"
    assert states([mug[1]]) == "done done done done next"
    assert states([]) == "done done done done done"


def test_subtasks_at_one_place_are_told_apart_by_what_is_moved() -> None:
    events = [
        Event(f"place {kind}", f"put the {kind} in the sink", "", ActionKind.PUT, "sink")
        for kind in ("apple", "egg")
    ]
    put = Action("put it in the sink", "put", ("sink",))
    take = Action("pick up the apple", "pick up", ("apple",))
    graph = Topology(events).moment([put, take, put], _template("alfred"), "egg")
    assert [one.state for one in graph] == ["open", "next"]
    graph = Topology(events).moment([put], _template("alfred"), "egg")
    assert [one.state for one in graph] == ["done", "next"]


def test_subtasks_are_told_apart_whatever_a_wish_calls_a_thing() -> None:
    """VirtualHome's "cellphone" is a "cell phone" in words."""
    said = {"cellphone": "cell phone", "alarmclock": "alarm clock"}
    events = [
        event
        for kind, words in said.items()
        for event in (
            Event(f"take {kind}", f"pick up the {words}", "", ActionKind.TAKE, kind),
            Event(f"put {kind}", f"put the {words}", "", ActionKind.PUT, "sink", (f"take {kind}",)),
        )
    ]
    put = Action("put it in the sink", "put", ("sink",))
    take = Action("pick up the alarmclock", "pick up", ("alarmclock",))
    graph = Topology(events).moment([take, put], _template("alfred"))
    assert [one.state for one in graph] == ["done", "done", "next", "blocked"]


def test_what_is_made_at_a_station_is_done_only_when_it_is_made() -> None:
    template = _template("minedojo")
    scene = {
        "task": "harvest",
        "target_names": ["cooked_porkchop"],
        "initial_inventory": [
            {"slot": number, "name": name, "quantity": 9}
            for number, name in enumerate(("porkchop", "coal", "cobblestone", "crafting_table"))
        ],
    }
    task = Task(id="cook", env="minedojo", kind="harvest", goal="Cook.", scene=scene, max_steps=9)
    plan = [
        action
        for text in (
            "place crafting_table",
            "craft furnace",
            "place furnace",
            "smelt cooked_porkchop",
        )
        if (action := understand(text)) is not None
    ]
    topology = Topology(template.events(task))
    for done, states in enumerate(
        (
            "next blocked blocked blocked",
            "done next blocked blocked",
            "done done next blocked",
            "done done done next",
        )
    ):
        graph = topology.moment(plan[done:], template)
        assert " ".join(one.state for one in graph) == states
    assert len(topology.done(plan, template)) == len(plan)
