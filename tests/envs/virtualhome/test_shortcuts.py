"""The shortcuts through VirtualHome's evolving graph against the original functions."""

from __future__ import annotations

import random
from collections.abc import Iterator

import pytest
from present import needs_virtualhome
from sampling import every

from inhabit.envs.virtualhome.graph import library, world
from inhabit.envs.virtualhome.graph import library as shortcuts
from inhabit.envs.virtualhome.graph.verbs import VERBS, ScriptLine, ScriptObject
from inhabit.envs.virtualhome.graph.world import FlatWorld
from inhabit.envs.virtualhome.tasks import scene as scenes
from inhabit.envs.virtualhome.tasks.sampling import sample
from inhabit.envs.virtualhome.tasks.scene import VirtualHomeScene, build_world

pytestmark = needs_virtualhome
LINES = 400


@pytest.fixture
def original(monkeypatch: pytest.MonkeyPatch) -> library.GraphLibrary:
    """A second copy of the library, repaired but without the shortcuts."""
    library.load()
    with monkeypatch.context() as patched:
        patched.setattr(library, "_NAME", "_virtualhome_without_shortcuts")
        patched.setattr(shortcuts, "install", lambda environment: None)
        return library.load.__wrapped__()


@pytest.mark.parametrize("seed", every(3, range(3)))
def test_random_lines_change_the_same(
    seed: int, original: library.GraphLibrary, monkeypatch: pytest.MonkeyPatch
) -> None:
    (task,) = sample(1, seed)
    scene = VirtualHomeScene.model_validate(task.scene)
    quick = build_world(scene)
    with monkeypatch.context() as patched:
        patched.setattr(world, "load", lambda: original)
        # Not the flat that is kept, whose library is the other one.
        patched.setattr(scenes, "_start_of", scenes._start_of.__wrapped__)
        slow = build_world(scene)
    done = 0
    for line in random_lines(quick, random.Random(seed)):
        quick, failure = quick.step(line)
        with monkeypatch.context() as patched:
            patched.setattr(world, "load", lambda: original)
            slow, same_failure = slow.step(line)
            expected = slow.changes()
        assert failure == same_failure
        assert quick.changes() == expected, line
        done += failure is None
    assert done > LINES / 4
    edges = list(quick.edges())
    for node in quick.nodes():
        on = {there for there, relation, here in edges if (relation, here) == ("ON", node.id)}
        assert quick.sources_of(node.id, "ON") == on


def random_lines(flat: FlatWorld, draw: random.Random) -> Iterator[ScriptLine]:
    """Lines on few objects, so that many succeed: each is walked to before."""
    nodes = [node for node in flat.nodes() if node.category not in ("Rooms", "Characters")]
    things = [ScriptObject(node.class_name, node.id) for node in draw.sample(nodes, 25)]
    for _ in range(LINES // 2):
        action = draw.choice(sorted(VERBS))
        chosen = tuple(draw.sample(things, VERBS[action].arity))
        if chosen:
            yield ScriptLine("WALK", chosen[-1:], 0)
        yield ScriptLine(action, chosen, 0)
