"""The embedded household against real AI2-THOR: figures, and what they are made of."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tarfile
from collections.abc import Iterator
from pathlib import Path

import fidelity_report as report
import numpy as np
import psutil
import pytest
from fidelity_replay import grid_agreement, visible
from fidelity_report import SOLVED, FidelityCheck, TrajectoryVerdict, center, edge, write
from waiting import PATIENCE, wait_for

from inhabit.envs.alfred.env import Alfred
from inhabit.envs.alfred.language.verbs import decode, grown, overlap
from inhabit.envs.alfred.tasks.trajectories import read
from inhabit.envs.alfred.world.settings import AlfredSettings
from inhabit.envs.simulators.household.geometry import grid

DATA = Path(os.environ.get("INHABIT_DATA", "../shared/data"))
needs_data = pytest.mark.skipif(not DATA.is_dir(), reason="ALFRED's trajectories are not here")


@pytest.fixture(scope="module")
def trajectories(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("alfred")
    with tarfile.open(DATA / "alfred" / "valid_seen.tar.xz") as archive:
        archive.extractall(folder, filter="data")
    return folder


@pytest.fixture(scope="module")
def some(trajectories: Path) -> list[Path]:
    paths = sorted(trajectories.rglob("traj_data.json"))
    return [paths[i * len(paths) // 6] for i in range(6)]


@pytest.fixture(scope="module")
def verdicts(trajectories: Path, some: list[Path]) -> Iterator[list[TrajectoryVerdict]]:
    with FidelityCheck(skills=False) as court:
        yield [court.judge(path, trajectories) for path in some]


@pytest.mark.slow
@needs_data
def test_most_of_a_sample_is_acted_and_seen_as_recorded(verdicts: list[TrajectoryVerdict]) -> None:
    found = report.figures(verdicts)
    assert sum(v.by_id == SOLVED for v in verdicts) >= 5, report.causes(verdicts)
    assert found["negative_controls"] == 0.0
    assert found["mask_median"] is not None and found["mask_median"] >= 0.65
    assert found["resting"] is not None and found["resting"] >= 0.9
    assert all(v.moves > 0 and v.seen for v in verdicts)


@pytest.mark.slow
@needs_data
def test_every_failure_has_its_cause_and_its_picture(
    verdicts: list[TrajectoryVerdict], tmp_path: Path
) -> None:
    write(verdicts, tmp_path)
    page = (tmp_path / "index.html").read_text()
    failed = [v for v in verdicts if SOLVED not in (v.by_id,) or v.by_mask != SOLVED]
    for verdict in failed:
        assert verdict.trajectory in page
    assert len(list(tmp_path.glob("*.png"))) == sum(v.picture is not None for v in failed)


@needs_data
def test_a_bad_trajectory_is_counted_and_the_next_is_judged(
    trajectories: Path, some: list[Path], tmp_path: Path
) -> None:
    for number, change in enumerate(({"floor_plan": "FloorPlan999"}, {"init_action": None})):
        spoilt = json.loads(some[0].read_text())
        spoilt["scene"].update(change)
        (tmp_path / str(number)).mkdir()
        (tmp_path / str(number) / "traj_data.json").write_text(json.dumps(spoilt))
    with FidelityCheck(skills=False) as court:
        verdicts = [court.judge(p, tmp_path) for p in sorted(tmp_path.rglob("traj_data.json"))]
    assert [v.by_id.startswith("scene refused: ") for v in verdicts] == [True, True]
    assert report.figures(verdicts)["plans_by_id"] == 0.0


@needs_data
def test_the_replay_planner_says_the_expert_s_steps_and_they_succeed(
    trajectories: Path, some: list[Path]
) -> None:
    folder = some[0].parent
    (task,) = read(folder, AlfredSettings(replay="id"))
    with Alfred("embedded", AlfredSettings(replay="id")) as env:
        env.reset(task, seed=0)
        said = []
        while plan := env.plan():
            outcome = env.act(plan[0])
            said.append(plan[0].verb)
            assert outcome.reason is None, (plan[0].text, outcome.feedback)
            if outcome.over:
                break
        met, total = env.progress()
    assert met == total
    assert said.count("move ahead") > 1 and "pick up" in said


@needs_data
def test_what_is_visible_in_real_frames_is_visible_here() -> None:
    assert visible(DATA / "thor_frames").f1 >= 0.90


@pytest.mark.skipif(
    grid.recorded_folder() is None, reason="`inhabit setup alfred` brings the grids"
)
def test_computed_cells_are_about_the_real_ones() -> None:
    found = grid_agreement().values()
    assert sum(found) / len(found) >= 0.75
    assert min(found) >= 0.35


@needs_data
@pytest.mark.slow
@pytest.mark.timeout(7200)
def test_the_whole_table_is_within_its_floors(trajectories: Path) -> None:
    done = subprocess.run(
        [
            *(sys.executable, "scripts/fidelity", "--json"),
            *("--trajectories", str(trajectories), "--frames", str(DATA / "thor_frames")),
        ],
        capture_output=True,
        text=True,
        timeout=7200,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    found = json.loads(done.stdout.splitlines()[-1])
    low = [
        key
        for key, bound in report.BOUNDS.items()
        if found[key] is not None and not bound.holds(found[key])
    ]
    assert not low, {key: found[key] for key in low}


def test_masks_are_decoded_grown_and_compared() -> None:
    mask = decode([(0, 3), (300, 3), (600, 3)])
    assert mask.shape == (300, 300) and mask.sum() == 9 and mask[:3, :3].all()
    assert center(mask) == (1.0, 1.0)
    assert center(np.zeros((300, 300), np.bool_)) is None
    aside = decode([(2, 3), (302, 3), (602, 3)])
    assert overlap(mask, aside) == pytest.approx(3 / 15)
    assert overlap(mask, np.zeros_like(mask)) == 0.0
    assert grown(mask, 2)[:5, :5].all() and grown(mask, 2).sum() == 25
    assert np.array_equal(grown(mask, 0), mask)
    assert edge(grown(mask, 2)).sum() < 25


@needs_data
@pytest.mark.slow
def test_nothing_outlives_the_program(trajectories: Path) -> None:
    command = [sys.executable, "scripts/fidelity", "--no-skills", "--trajectories"]
    program = psutil.Popen([*command, str(trajectories)], stderr=subprocess.DEVNULL)
    family: list[psutil.Process] = []

    def started() -> bool:
        family[:] = program.children(recursive=True)
        words = [" ".join(child.cmdline()) for child in family]
        return any("inhabit.envs.simulators.household.wire" in one for one in words)

    wait_for(started)
    assert len(family) > 2
    program.kill()
    program.wait()
    assert not psutil.wait_procs(family, timeout=PATIENCE)[1]
