"""A video of several episodes side by side."""

from __future__ import annotations

from pathlib import Path

import av
import numpy as np
import pytest
from made_run import HOSTILE, Made, write_run
from PIL import Image
from sampling import every
from toy_runs import play_toy, toy_tasks

from inhabit.cli import main
from inhabit.episodes.recording.reader import Run
from inhabit.episodes.reports.video.side_by_side import Side, frames_together, size_together


def show(*words: str | Path) -> int:
    with pytest.raises(SystemExit) as left:
        main(["show", *map(str, words)])
    assert isinstance(left.value.code, int)
    return left.value.code


def test_agents_do_the_same_task_side_by_side(tmp_path: Path) -> None:
    runs = tmp_path / "runs"
    one = play_toy(runs / "expert", tasks=toy_tasks(2), agent="expert").episode(1).last()
    other = play_toy(runs / "random", tasks=toy_tasks(2)).episode(1).last()
    assert one is not None and other is not None
    film = tmp_path / "film.mp4"
    assert show(runs, "--together", film, "--episode", "toy-0-1") == 0
    with av.open(str(film)) as opened:
        frames = [frame.to_ndarray(format="rgb24") for frame in opened.decode(video=0)]
    width, height = size_together(2)
    assert frames[0].shape == (height, width, 3)
    assert len(frames) == 4 + 2 * max(len(one.steps), len(other.steps)) + 5
    # The expert's side stands still once it is done; the other one's goes on.
    late = frames[4 + 2 * len(one.steps)], frames[-1]
    left, right = (np.s_[92:508, 16:432], np.s_[92:, 448:])
    assert np.abs(late[0][left].astype(int) - late[1][left]).max() < 40
    assert np.abs(late[0][right].astype(int) - late[1][right]).max() > 100


def test_what_they_do_alike_at_first_is_left_out(tmp_path: Path) -> None:
    first, last = ["go to the kitchen", "look around"], ["go to the hall", "go to the bedroom"]
    sides = []
    for name in last:
        run = play_toy(
            tmp_path / name,
            tasks=toy_tasks(1),
            agent="scripted",
            assignments=[f"actions={'; '.join([*first, name])}"],
        )
        attempt = run.episode(0).last()
        assert attempt is not None
        sides.append(Side(name, run.episode(0), attempt))
    steps = len(sides[0].attempt.steps) - len(first)
    assert len([*frames_together(sides)]) == 1 + 2 * steps + 1


@pytest.mark.parametrize("sides", every(5, [1, 2, 3, 4, 5, 6]))
def test_every_number_of_sides_fits(tmp_path: Path, sides: int) -> None:
    run = Run.open(write_run(tmp_path / "run", Made(goal=HOSTILE, action=HOSTILE, steps=2)))
    attempt = run.episode(0).last()
    assert attempt is not None
    frames = list(frames_together([Side(HOSTILE, run.episode(0), attempt)] * sides))
    assert {picture.size for picture, _ in frames} == {size_together(sides)}
    assert all(length % 2 == 0 for length in size_together(sides)), "As films want it."


def test_a_gif_too(tmp_path: Path) -> None:
    write_run(tmp_path / "run", Made(steps=2))
    film = tmp_path / "film.gif"
    assert show(tmp_path / "run", "--together", film, "--episode", "0", "--episode", "1") == 0
    with Image.open(film) as opened:
        assert opened.n_frames > 2  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["film.mp4"], "not 0"),
        (["film.mp4", *["--episode", "0"] * 7], "not 7"),
        (["film.avi", "--episode", "0"], "not 'film.avi'"),
    ],
)
def test_what_does_not_fit_is_a_sentence(
    tmp_path: Path, words: list[str], says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    write_run(tmp_path / "run", Made(steps=1))
    assert show(tmp_path / "run", "--together", *words) == 2
    assert says in " ".join(capsys.readouterr().err.replace("│", " ").split())
