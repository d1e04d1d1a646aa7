"""Every action of every verb, about every node of a flat: what comes of it is always told."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import pytest
from present import needs_eai, needs_virtualhome

from inhabit.envs.core import Action, Outcome, Reason
from inhabit.envs.plain_data import validated_scene
from inhabit.envs.virtualhome.env import EmbeddedVirtualHome
from inhabit.envs.virtualhome.graph.names import NodeNames
from inhabit.envs.virtualhome.graph.verbs import VERBS, say
from inhabit.envs.virtualhome.tasks.sampling import sample
from inhabit.envs.virtualhome.tasks.scene import VirtualHomeScene, build_world, character_of
from inhabit.envs.virtualhome.tasks.scene import tasks as eai_tasks
from inhabit.envs.virtualhome.world.settings import VirtualHomeSettings

pytestmark = needs_virtualhome

OPPOSITES = (
    {"OPEN", "CLOSED"}, {"ON", "OFF"}, {"PLUGGED_IN", "PLUGGED_OUT"}, {"SITTING", "LYING"},
    {"CLEAN", "DIRTY"},
)  # fmt: skip
ROOMS = ("kitchen", "dining_room", "livingroom", "home_office", "bedroom", "bathroom")


def do(env: EmbeddedVirtualHome, text: str) -> Outcome:
    action = env.parse(text)
    assert action is not None, text
    return env.act(action)


def begun(flat: str) -> tuple[EmbeddedVirtualHome, list[str]]:
    """A flat of which every room was seen, and the names of all its nodes."""
    if flat == "eai":
        task = next(task for task in eai_tasks() if task.id == "eai-70_1")
    else:
        task = next(iter(sample(1, seed=6)))
    env = EmbeddedVirtualHome(VirtualHomeSettings(view="none"))
    env.reset(task, seed=0)
    for room in ROOMS:
        if env.parse(f"walk to the {room}") is not None:
            do(env, f"walk to the {room}")
    return env, [*NodeNames(build_world(validated_scene(VirtualHomeScene, task))).all().values()]


def laden(flat: EmbeddedVirtualHome) -> list[str]:
    """Before the fridge, with both hands full of what is then told."""
    taken: list[str] = []
    for walk in [a for a in flat.admissible() if a.verb == "WALK"]:
        there = flat.fork()
        there.act(walk)
        for grab in [a for a in there.admissible() if a.verb == "GRAB"][: 2 - len(taken)]:
            flat.act(walk)
            assert flat.act(grab).reason is None
            taken.append(grab.arguments[0])
        if len(taken) == 2:
            break
    do(flat, "walk to the fridge")
    return taken


def seated(flat: EmbeddedVirtualHome) -> list[str]:
    """On the sofa, with empty hands."""
    for text in ("walk to the sofa", "sit on the sofa"):
        assert do(flat, text).reason is None
    return ["fridge_1"]


def at_first(flat: EmbeddedVirtualHome) -> list[str]:
    """Where the tour of the rooms has ended."""
    return ["fridge_1"]


def everything(nodes: Sequence[str], others: Sequence[str]) -> Iterator[Action]:
    """Every verb about every node; where it takes two things, with each of `others`."""
    for verb in VERBS.values():
        match verb.arity:
            case 0:
                yield Action(say(verb.name), verb.name)
            case 1:
                yield from (Action(say(verb.name, n), verb.name, (n,)) for n in nodes)
            case _:
                pairs = {pair for n in nodes for o in others for pair in ((o, n), (n, o))}
                yield from (Action(say(verb.name, *p), verb.name, p) for p in sorted(pairs))


def contradictions(env: EmbeddedVirtualHome) -> list[str]:
    """What can't be true of any flat."""
    world = env._world
    assert world is not None
    found = [
        f"{node} is {sorted(pair)}"
        for node in world.nodes()
        for pair in OPPOSITES
        if pair <= node.states
    ]
    for hand in ("HOLDS_RH", "HOLDS_LH"):
        held = world.targets(character_of(world), hand)
        if len(held) > 1:
            found.append(f"{held} in one hand")
    return found


@pytest.mark.parametrize(
    ("flat", "moment"),
    [
        pytest.param("eai", laden, marks=[needs_eai, pytest.mark.slow]),
        pytest.param("ours", laden, marks=pytest.mark.slow),
        pytest.param("ours", seated, marks=pytest.mark.slow),
        pytest.param("eai", at_first, marks=[needs_eai, pytest.mark.slow]),
    ],
)
def test_whatever_is_done_an_outcome_tells_what_came_of_it(
    flat: str, moment: Callable[[EmbeddedVirtualHome], list[str]]
) -> None:
    env, nodes = begun(flat)
    assert len(nodes) > 150
    others = moment(env)
    before, wrong = env.digest(), contradictions(env)
    tried = changed = 0
    for action in everything(nodes, others):
        after = env.fork()
        outcome = after.act(action)
        tried += 1
        assert isinstance(outcome, Outcome)
        assert outcome.feedback
        assert (outcome.met, outcome.total) == after.progress()
        if outcome.reason is None:
            changed += 1
            assert contradictions(after) == wrong, action.text
        else:
            assert isinstance(outcome.reason, Reason)
            assert outcome.reason is not Reason.UNKNOWN_ACTION, (action.text, outcome.feedback)
            assert after.digest() == before, action.text
    assert env.digest() == before
    assert tried >= 40 * len(nodes)
    assert changed > 50
