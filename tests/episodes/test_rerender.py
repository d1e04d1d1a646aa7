"""Videos of recorded episodes rendered again: larger, and with the way between the steps."""

from __future__ import annotations

import shutil
from pathlib import Path

import av
import pytest
from PIL import Image
from toy_runs import play_toy, toy_tasks

from inhabit.cli import main
from inhabit.episodes.recording.reader import Run
from inhabit.episodes.reports.video.encode import RerenderError, VideoCamera, video_camera

SIZE = (320, 240)


def command(*words: str | Path) -> int:
    with pytest.raises(SystemExit) as left:
        main([str(word) for word in words])
    return int(left.value.code or 0)


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Run:
    folder = tmp_path_factory.mktemp("runs") / "house"
    words = ("run", "alfred", "--agent", "expert", "--n", 1, "--seed", 3, "--set", "wire=none")
    assert command(*map(str, words), "--set", "in_process=true", "--out", folder) == 0
    return Run.open(folder)


def camera(run: Run) -> VideoCamera:
    found = video_camera(run, SIZE, (), trusted=False)
    assert isinstance(found, VideoCamera)
    return found


def test_an_episode_is_rendered_larger_with_its_way(house: Run) -> None:
    attempt = house.episode(0).last()
    assert attempt is not None
    views = list(camera(house).views(attempt))
    assert len(views) == len(attempt.steps)
    assert {picture.size for view in views for picture in view[-1:]} == {SIZE}
    for step, view in zip(attempt.steps, views[1:], strict=False):
        assert step.act is not None
        assert len(view) == max(1, step.act.cost), "One image for each low-level step."


def test_a_step_without_effect_shows_what_was_seen_before(tmp_path: Path) -> None:
    actions = "turn right; put it in the fridge; turn left"
    words = ("--agent", "scripted", "--set", f"actions={actions}", "--n", "1", "--set", "wire=none")
    out = tmp_path / "run"
    assert command("run", "alfred", *words, "--set", "in_process=true", "--out", out) == 0
    run = Run.open(out)
    attempt = run.episode(0).last()
    assert attempt is not None
    _, turned, failed, _ = list(camera(run).views(attempt))
    assert failed == turned[-1:] and failed[0].size == SIZE


@pytest.mark.slow
def test_the_video_moves_and_has_a_poster(house: Run) -> None:
    assert command("show", house.folder, "--video") == 0
    folder = house.episode(0).folder
    plain = frames(folder / "episode.mp4")
    assert not (folder / "poster.jpg").exists()
    assert command("show", house.folder, "--video", "--size", "320x240") == 0
    assert frames(folder / "episode.mp4") > 3 * plain
    with Image.open(folder / "poster.jpg") as poster:
        assert poster.size == (1152, 648)


def frames(film: Path) -> int:
    with av.open(str(film)) as container:
        return sum(1 for _ in container.decode(video=0))


def test_a_record_that_comes_out_differently_is_not_rendered(house: Run, tmp_path: Path) -> None:
    folder = tmp_path / "bent"
    shutil.copytree(house.folder, folder)
    file = folder / "episodes/00000/episode.jsonl"
    attempt = house.episode(0).last()
    assert attempt is not None and attempt.steps[0].act is not None
    feedback = attempt.steps[0].act.feedback
    file.write_text(file.read_text().replace(feedback, "You fly away.", 1))
    run = Run.open(folder)
    bent = run.episode(0).last()
    assert bent is not None
    with pytest.raises(RerenderError, match="step 0 differs"):
        list(camera(run).views(bent))
    assert command("show", folder, "--video", "--size", "320x240") == 0
    assert (folder / "episodes/00000/episode.mp4").exists(), "The recorded images are shown."


def test_an_environment_that_can_not_says_so(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    run = play_toy(tmp_path / "run", tasks=toy_tasks(1), agent="expert")
    assert command("show", run.folder, "--video", "--size", "320x240") == 0
    assert "toy can't render recorded episodes again" in " ".join(capfd.readouterr().err.split())
    assert (run.episode(0).folder / "episode.mp4").exists()


@pytest.mark.parametrize("size", ["640", "axb", "9x9", "640x48000"])
def test_a_size_is_checked(tmp_path: Path, size: str) -> None:
    run = play_toy(tmp_path / "run", tasks=toy_tasks(1), agent="expert")
    assert command("show", run.folder, "--video", "--size", size) == 2
