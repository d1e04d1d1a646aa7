"""The map of an episode: the way that the state tells of, and what was acted on beside it."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path

import pytest
from browser import CHROMIUM, Browser
from made_run import HOSTILE, Made, write_run

from inhabit.envs.scene_plan import Footprint, PlanPose, ScenePlan, rectangle
from inhabit.episodes.playing.poses import pose_of, things_of
from inhabit.episodes.recording.reader import Run
from inhabit.episodes.recording.schema import RecordedSettings
from inhabit.episodes.reports.floorplan import WIDTH, FloorPlan, floor_plan, scene_plan
from inhabit.episodes.reports.page.pages import episode_page

STATE = {
    "agent": {"position": [1.0, 0.9, -2.5], "rotation": -90, "horizon": 30.0},
    "objects": [
        {"name": "mug_1", "position": [1.5, 0.8, -1.0]},
        {"name": 7, "position": [0, 0, 0]},
        {"name": "nowhere", "position": [0, math.nan, math.inf]},
        "nonsense",
    ],
}


def test_a_state_tells_where_the_agent_and_things_are() -> None:
    turned = {"position": [0, 0, 0], "rotation": -1e-15}
    assert (pose := pose_of({"agent": turned})) and pose.heading == 0  # type: ignore[dict-item]
    pose = pose_of(STATE)  # type: ignore[arg-type]
    assert pose is not None
    assert (pose.x, pose.z, pose.heading) == (1.0, -2.5, 270.0)
    assert [(t.name, t.x, t.z) for t in things_of(STATE)] == [("mug_1", 1.5, -1.0)]  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "agent",
    [
        None,
        {},
        {"position": [1, 2], "rotation": 0},
        {"position": [1, 2, "3"], "rotation": 0},
        {"position": [1, 2, 3], "rotation": True},
        {"position": [1, 2, 10**400], "rotation": 0},
    ],
)
def test_a_state_that_tells_nothing_is_no_place(agent: object) -> None:
    assert pose_of({"agent": agent}) is None  # type: ignore[dict-item]


def walked(folder: Path, name: str = "mug_1") -> Run:
    """A made run whose first episode goes 3 m along x, then looks along +z."""
    run = Run.open(write_run(folder, Made(episodes=1)))
    file = run.episode(0).file
    lines = [json.loads(line) for line in file.read_text().splitlines()]
    for line in lines:
        if line["kind"] == "start":
            line["things"] = [{"name": name, "x": 3.0, "z": 1.0}, {"name": "lamp", "x": 0, "z": 0}]
        if line["kind"] == "see":
            way = min(line["step"], 3)
            line["pose"] = {"x": way, "z": 0.5, "heading": 90.0 if way < 3 else 0.0}
    file.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return run


def drawn(run: Run) -> FloorPlan:
    attempt = run.episode(0).last()
    assert attempt is not None
    plan = floor_plan(attempt)
    assert plan is not None
    return plan


def test_the_way_is_drawn_to_scale(tmp_path: Path) -> None:
    plan = drawn(walked(tmp_path / "run"))
    xs = [stand.at.x for stand in plan.stands]
    assert xs[3] - xs[0] == pytest.approx(3 * plan.metre, abs=0.5)
    assert all(0 <= stand.at.x <= WIDTH and 0 <= stand.at.y <= plan.height for stand in plan.stands)
    assert [stand.heading for stand in plan.stands] == [90, 90, 90, 0, 0, 0]
    mug, lamp = plan.landmarks
    assert (mug.named, lamp.named) == (True, False), "Only what was acted on has its name written."
    assert mug.at.y < plan.stands[0].at.y, "What has a greater z is further up."


def test_a_name_that_ends_like_another_is_another(tmp_path: Path) -> None:
    run = walked(tmp_path / "run", name="the mug_1")
    file = run.episode(0).file
    file.write_text(file.read_text().replace('"lamp"', '"mug_1"'))
    assert [(mark.name, mark.named) for mark in drawn(run).landmarks] == [
        ("the mug 1", True),
        ("mug 1", False),
    ]


def test_a_record_without_places_has_no_map(tmp_path: Path) -> None:
    run = Run.open(write_run(tmp_path / "run"))
    attempt = run.episode(0).last()
    assert attempt is not None
    assert floor_plan(attempt) is None
    assert '<figure class="plan">' not in episode_page(run, run.episode(0), attempt)


@pytest.mark.skipif(CHROMIUM is None, reason="needs Chromium: apt-get install chromium")
def test_the_map_goes_along_from_step_to_step(tmp_path: Path) -> None:
    run = walked(tmp_path / "run", name=HOSTILE)
    attempt = run.episode(0).last()
    assert attempt is not None
    page = tmp_path / "page.html"
    page.write_text(episode_page(run, run.episode(0), attempt))
    with Browser(tmp_path / "profile") as browser:
        browser.open(page)
        now = "document.querySelector('.step:not([hidden]) .plan .stand.now').dataset.step"
        assert browser.run(now) == "0"
        browser.press("ArrowRight")
        assert browser.run(now) == "1"
        assert browser.run("document.querySelectorAll('.stand.later').length") == 4
        way = browser.run("document.querySelector('.way').getAttribute('points')").split()
        first = drawn(run).stands[:2]
        assert way == [f"{stand.at.x},{stand.at.y}" for stand in first], "Only the way so far."
        assert browser.run("document.title") != "owned"


SCENE = ScenePlan(
    rooms=(Footprint("kitchen", rectangle(2, 2, 3, 2.5)),),
    furniture=(
        Footprint("table_1", rectangle(3, 1, 1, 1)),
        Footprint("stool_2", rectangle(0, 4, 0.1, 0.1)),
    ),
    poses=tuple(PlanPose(x, 2, 90) for x in range(6)),
)


def test_a_map_has_walls_and_furniture_with_names_that_fit(tmp_path: Path) -> None:
    attempt = walked(tmp_path / "run").episode(0).last()
    assert attempt is not None
    plan = floor_plan(attempt, SCENE)
    assert plan is not None
    (room,) = plan.rooms
    assert room.label == "kitchen"
    corners = [(spot.x, spot.y) for spot in room.corners]
    assert max(x for x, _ in corners) - min(x for x, _ in corners) == pytest.approx(
        6 * plan.metre, abs=0.5
    )
    table, stool = plan.furniture
    assert (table.name, stool.label) == ("table_1", ""), "A name larger than its thing is left out."
    assert [stand.heading for stand in plan.stands][-1] == 0, "The record's own poses are drawn."


def test_a_room_is_named_where_nothing_else_is_written(tmp_path: Path) -> None:
    attempt = walked(tmp_path / "run").episode(0).last()
    assert attempt is not None
    table = Footprint("dining_table_1", rectangle(2, 4.1, 1, 0.3))
    plans = [floor_plan(attempt, replace(SCENE, furniture=one)) for one in ((), (table,))]
    free, taken = (plan.rooms[0].at for plan in plans if plan is not None)
    assert taken.x == free.x
    assert free.y < WIDTH / 4 < taken.y, "Under the upper wall stands the name of the table."


def test_poses_of_the_environment_stand_in_for_those_that_a_record_lacks(tmp_path: Path) -> None:
    run = Run.open(write_run(tmp_path / "run", Made(episodes=1)))
    attempt = run.episode(0).last()
    assert attempt is not None
    plan = floor_plan(attempt, SCENE)
    assert plan is not None
    assert [stand.step for stand in plan.stands] == [step.number for step in attempt.steps]


def test_a_page_opens_no_rooms_that_a_record_names(tmp_path: Path) -> None:
    """The scene of a record is drawn from what is installed, never from a folder it names."""
    run = Run.open(write_run(tmp_path / "run", Made(episodes=1)))
    attempt = run.episode(0).last()
    assert attempt is not None
    scene = {"room": "FloorPlan1"}
    task = attempt.start.task.model_copy(update={"env": "alfred", "scene": scene})
    posed = replace(attempt, start=attempt.start.model_copy(update={"task": task}))
    header = run.header.model_copy(update={"env": "alfred", "backend": "embedded"})
    drawn = scene_plan(header, posed)
    assert drawn is not None
    assert {"fridge_1", "sink_1"} <= {one.name for one in drawn.furniture}
    own = RecordedSettings(env={"rooms": str(tmp_path)})
    assert scene_plan(header.model_copy(update={"settings": own}), posed) is None
    assert scene_plan(header.model_copy(update={"env": "unknown"}), posed) is None
