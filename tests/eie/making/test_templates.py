"""What environments offer to EIE: valid tasks, valid variations, topologies that hold together."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest
from pydantic import BaseModel, ValidationError

from inhabit.eie.checking.claims import contradictions
from inhabit.eie.examples.topology import Topology, TopologyError, kind_of
from inhabit.envs.alfred.scenes.scene import AlfredGoal
from inhabit.envs.alfred.world.kinds import KIND_NAMES
from inhabit.envs.core import Env, Factual
from inhabit.envs.registry import find
from inhabit.envs.template import ActionKind, Event, Template

ENVS = ("toy", "alfred", "virtualhome")


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


@pytest.mark.parametrize("env", ENVS)
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


@pytest.mark.parametrize("env", ENVS)
def test_what_is_true_of_a_scene(env: str) -> None:
    """Things have unique names, lie on things, and goals speak of nothing else."""
    registration, template = find(env), _template(env)
    task = template.seed(random.Random(2), "two")
    made: Env = registration.make(registration.backends[0], registration.settings())
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
