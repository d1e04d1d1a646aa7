"""The 342 goal tasks and 518 programs of eai-eval, acted through our world."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from inhabit.envs.core import SceneError, TaskError, UnavailableError
from inhabit.envs.virtualhome.graph.goals import met
from inhabit.envs.virtualhome.graph.library import simulation
from inhabit.envs.virtualhome.graph.verbs import ScriptLine, parse_line
from inhabit.envs.virtualhome.graph.world import FlatWorld
from inhabit.envs.virtualhome.tasks import scene as eai
from inhabit.envs.virtualhome.tasks.scene import VirtualHomeScene


def _present() -> bool:
    try:
        simulation()
        eai.folder()
    except UnavailableError:
        return False
    return True


pytestmark = pytest.mark.skipif(
    not _present(), reason="VirtualHome or eai-eval is absent: run `inhabit setup virtualhome`"
)


def _end(number: str) -> tuple[FlatWorld, list[ScriptLine], bool]:
    """Where a program leads, what it did, and whether it ran to its end."""
    world = FlatWorld.of(eai.initial_graph(number), eai.equivalence())
    done: list[ScriptLine] = []
    for text in eai.read_program(number):
        line = parse_line(text)
        world, failure = world.step(line)
        if failure is not None:
            return world, done, False
        done.append(line)
    return world, done, True


@pytest.mark.slow
def test_programs_run_and_their_goals_hold() -> None:
    tasks = {str(t.scene["eai"]): t for t in eai.tasks(vacuous=True)}
    assert len(tasks) == 342
    ran, solved = 0, 0
    for number in eai.programs():
        world, done, whole = _end(number)
        ran += whole
        if number in tasks:
            goals = VirtualHomeScene.model_validate(dict(tasks[number].scene)).goals
            solved += met(goals, world, done) == len(goals)
    assert len(eai.programs()) == 518
    assert ran >= 516
    assert solved >= 341


def test_a_task_of_an_unknown_program_is_refused() -> None:
    scene = {"eai": "999_9", "goals": [{"kind": "action", "any_of": ["OPEN"]}]}
    with pytest.raises(SceneError, match="no program '999_9'"):
        eai.build_world(VirtualHomeScene.model_validate(scene))


@pytest.mark.parametrize("text", ["{}", "[", '{"scene_1": {"t": {"27_2": {}}}}'])
def test_files_of_another_form_are_named(
    text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    goals = tmp_path / "resources/virtualhome/task_state_LTL_formula_accurate.json"
    goals.parent.mkdir(parents=True)
    goals.write_text(text)
    monkeypatch.setenv("INHABIT_EAI", str(tmp_path))
    with pytest.raises(TaskError, match=f"^{re.escape(str(goals))}.*is not in the form"):
        list(eai.tasks())


def test_what_doing_nothing_solves_is_kept_apart() -> None:
    kept = list(eai.tasks())
    vacuous = {t.id for t in eai.tasks(vacuous=True)} - {t.id for t in kept}
    assert vacuous == {"eai-84_1", "eai-93_1", "eai-339_1", "eai-627_1"}
    for task in kept[::60]:
        scene = VirtualHomeScene.model_validate(dict(task.scene))
        world = FlatWorld.of(eai.initial_graph(str(scene.eai)), eai.equivalence())
        assert met(scene.goals, world, ()) < len(scene.goals)
