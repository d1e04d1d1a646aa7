"""What is added in a few rows is said, understood, offered, acted, sampled, solved and told of.

Each addition is a patch of a copy of the project. How many files it may touch is part of the test.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
ADDITIONS = Path(__file__).parent / "additions"
ALFRED = """
import json, random, sys
from inhabit.envs.alfred.env import Alfred
from inhabit.envs.alfred.evolution.template import AlfredTemplate
from inhabit.envs.alfred.tasks.sampling import possible_goals, sample, scene_for
from inhabit.envs.alfred.world.things import Rooms
from inhabit.envs.alfred.world.settings import AlfredSettings
from inhabit.envs.core import Task

def task(scene):
    return Task(id="added", env="alfred", kind=scene["goal"]["type"], goal="-", scene=scene)

def solved(env, task):
    env.reset(task, seed=0)
    while plan := env.plan():
        assert env.parse(plan[0].text) == plan[0]
        assert env.act(plan[0]).reason is None
    return env.progress()

def template(rooms=""):
    return AlfredTemplate(AlfredSettings(rooms=rooms))
"""
PLAYS = {
    "alfred_kind": ALFRED
    + """
name = "pick_heat_two_and_place"
tasks = list(sample(16, 3, AlfredSettings(), kinds=[name]))
assert tasks and {one.kind for one in tasks} == {name}
with Alfred(settings=AlfredSettings(wire="none")) as env:
    met, total = solved(env, tasks[0])
assert met == total >= 6
events = {event.name: event.needs for event in template().events(tasks[0])}
assert events["place another"] == ("heat another",) and events["place one"] == ("heat",)
assert name in json.dumps(template().schema()) and "eight types" in template().prose()
rng, made = random.Random(2), None
while made is None or made.kind != name:
    made = template().seed(rng, "made")
assert any(verb in made.goal.lower() for verb in ("heat", "hot", "warm", "microwave", "cook"))
""",
    "alfred_verb": ALFRED
    + """
goal = {"type": "pick_and_place_simple", "object": "Mug", "parent": "Cabinet"}
scene = {"room": "FloorPlan1", "goal": goal, "states": [{"object": "mug_1", "filled": "water"}]}
with Alfred(settings=AlfredSettings(wire="none", find="oracle")) as env:
    env.reset(task(scene), seed=0)
    assert env.act(env.parse("find the mug")).reason is None
    said = env.parse("pour out the mug")
    assert said.text == "empty the mug" and said in env.vocabulary() and said in env.actions()
    assert said in env.admissible() and env.act(said).feedback == "You empty the mug_1."
    mug = next(one for one in env.things() if one.name == "mug_1")
    assert mug.states["filled"] is False and said not in env.actions()
    assert template().action_kind(said) == "other"
""",
    "alfred_state": ALFRED
    + """
goal = {"type": "pick_and_place_simple", "object": "ToiletPaper", "parent": "Toilet"}
used = [{"object": "toilet paper_1", "used_up": True}]
settings = AlfredSettings(rooms=sys.argv[1], wire="none")
with Alfred(settings=settings) as env:
    env.reset(task({"room": "bath", "goal": goal, "states": used}), seed=0)
    rolls = [one for one in env.things() if one.kind == "toilet paper"]
    assert rolls[0].states["used_up"] is True
assert template().lexicon.states["used_up"] == ("used up", "fresh")
assert "used_up" in json.dumps(template().schema())
""",
    "alfred_type": ALFRED
    + """
where = Rooms(sys.argv[1])
goals = possible_goals("pick_and_place_simple", "attic", where)
goals = [goal for goal in goals if goal.object == "Lantern"]
made = None
while made is None:
    made = scene_for(random.choice(goals), "attic", random.Random(1), where)
with Alfred(settings=AlfredSettings(rooms=sys.argv[1], wire="none")) as env:
    met, total = solved(env, task(made.model_dump(mode="json", exclude_defaults=True)))
    assert met == total
    assert env.parse("grab the hurricane lamp").text == "pick up the lantern"
    assert {"turn on the lantern", "go to the lantern"} <= {a.text for a in env.vocabulary()}
assert "lantern" in template().lexicon.kinds
""",
    "virtualhome_kind": """
from inhabit.envs.virtualhome.env import EmbeddedVirtualHome
from inhabit.envs.virtualhome.tasks.sampling import sample
from inhabit.envs.virtualhome.world.settings import VirtualHomeSettings

task = next(iter(sample(1, 0)))
assert task.kind == "bedside" and " on " in task.goal
with EmbeddedVirtualHome(VirtualHomeSettings(view="none")) as env:
    env.reset(task, seed=0)
    for action in env.plan():
        assert env.act(action).reason is None
    assert env.progress() == (1, 1)
""",
    "virtualhome_type": """
from inhabit.envs.virtualhome.env import EmbeddedVirtualHome
from inhabit.envs.virtualhome.evolution.template import VirtualHomeTemplate
from inhabit.envs.virtualhome.tasks.sampling import sample
from inhabit.envs.virtualhome.world.settings import VirtualHomeSettings

with EmbeddedVirtualHome(VirtualHomeSettings(view="none")) as env:
    env.reset(next(iter(sample(1, 0))), seed=0)
    assert "grab the teacup" in {action.text for action in env.vocabulary()}
    assert any(thing.kind == "teacup" for thing in env.things())
    assert env.parse("grab a teacup").verb == "GRAB"
assert "teacup" in VirtualHomeTemplate().lexicon.kinds
""",
    "minedojo_kind": """
from inhabit.envs.minedojo.tasks.sampling import kinds, sample
from inhabit.envs.minedojo.tasks.scene import read_scene
from inhabit.envs.minedojo.world.settings import MineDojoSettings

assert "feast" in kinds(MineDojoSettings())
feast = next(task for task in sample(60, 0) if task.kind == "feast")
assert feast.goal.endswith("for a feast.") and sum(read_scene(feast).quantities.values()) == 3
""",
}
"""Addition -> what is tried with it, by a fresh interpreter."""
MOST = {"kind": 1, "verb": 3, "state": 3, "type": 2}
"""Files that it may touch."""


@pytest.fixture(scope="module")
def rooms(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A bathroom whose paper can be used up, and a bedroom with a lantern for its alarm clock."""
    from inhabit.envs.simulators.household.rooms.ithor import load

    folder = tmp_path_factory.mktemp("rooms")
    bath = [dict(one) for one in load("FloorPlan402").objects]
    for one in bath:
        one["canBeUsedUp"] = one["objectType"] == "ToiletPaper"
    attic = json.loads(json.dumps(load("FloorPlan303").objects).replace("AlarmClock", "Lantern"))
    for one in attic:
        one["toggleable"] |= one["objectType"] == "Lantern"
    for name, objects in (("bath", bath), ("attic", attic)):
        (folder / f"{name}.json").write_text(json.dumps({"objects": objects}))
    return folder


@pytest.mark.slow
@pytest.mark.parametrize("added", PLAYS)
def test_what_is_added_in_rows_is_known_everywhere(added: str, tmp_path: Path, rooms: Path) -> None:
    for package in ("envs", "agents", "episodes", "eie", "inhabit"):
        shutil.copytree(ROOT / package, tmp_path / package, symlinks=True)
    patch = ADDITIONS / f"{added}.patch"
    assert patch.read_text("utf-8").count("diff --git") <= MOST[added.partition("_")[2]]
    subprocess.run(["git", "apply", str(patch)], cwd=tmp_path, check=True)
    play = subprocess.run(
        [sys.executable, "-c", PLAYS[added], str(rooms)],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert play.returncode == 0, play.stderr[-3000:]
