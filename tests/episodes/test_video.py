"""Videos of real and of made-up episodes, opened again and looked at."""

from __future__ import annotations

import resource
import tempfile
import time
from dataclasses import replace
from pathlib import Path

import av
import numpy as np
import pytest
from made_run import Made, write_run
from numpy.typing import NDArray
from PIL import Image
from sampling import every
from toy_runs import play_toy, toy_tasks

from inhabit.episodes.recording.disk import DiskError
from inhabit.episodes.recording.reader import RecordError, Run
from inhabit.episodes.reports.video import encode
from inhabit.episodes.reports.video.lettering import font
from inhabit.episodes.reports.video.slide import BAD, GOOD, SIZE, Slide, draw
from inhabit.episodes.reports.video.slides import shots
from inhabit.episodes.scoring.likelihood import Share


def pictures(film: Path) -> list[NDArray[np.uint8]]:
    with av.open(str(film)) as container:
        return [frame.to_ndarray(format="rgb24") for frame in container.decode(video=0)]


def has(picture: NDArray[np.uint8] | Image.Image, colour: tuple[int, int, int]) -> bool:
    """Whether a hundred pixels or so are of that colour, as far as a video keeps it."""
    away = np.abs(np.asarray(picture, np.int16) - np.asarray(colour, np.int16)).max(axis=-1)
    return int((away < 24).sum()) > 60


def test_the_film_of_a_real_episode(tmp_path: Path) -> None:
    run = play_toy(tmp_path / "run", tasks=toy_tasks(1), agent="expert")
    film = encode.write(run.episode(0), run.header)
    frames = pictures(film)
    attempt = run.episode(0).last()
    assert attempt is not None and attempt.end is not None
    assert film.name == "episode.mp4"
    assert frames[0].shape == (SIZE[1], SIZE[0], 3)
    assert len(frames) >= 2 * attempt.end.steps
    assert has(frames[-1], GOOD) and not has(frames[0], GOOD)
    assert sorted(p.name for p in run.episode(0).folder.glob("*.mp4*")) == ["episode.mp4"]


def test_a_full_place_for_temporary_files_is_not_called_that_of_the_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A limit on the size of files stands in for a full disk."""
    run = play_toy(tmp_path / "run", tasks=toy_tasks(1), agent="expert")
    (tmp_path / "small").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "small"))
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, before[1]))
    try:
        with pytest.raises(DiskError, match=rf"{tmp_path}/small/\S+ can't be written"):
            encode.write(run.episode(0), run.header)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def test_a_result_is_told_beside_the_image_that_shows_it(tmp_path: Path) -> None:
    run = play_toy(tmp_path / "run", tasks=toy_tasks(1), agent="expert")
    attempt = run.episode(0).last()
    assert attempt is not None and len(attempt.steps) > 2
    told = [one.slide for one in shots(run.episode(0), attempt, run.header) if one.slide.feedback]
    assert [(slide.at, slide.seen) for slide in told] == [
        (step.number, step.see.text) for step in attempt.steps[1:]
    ]


def test_the_same_record_gives_the_same_bytes(tmp_path: Path) -> None:
    films = []
    for name in ("one", "two"):
        run = Run.open(write_run(tmp_path / name))
        films.append(encode.write(run.episode(0), run.header).read_bytes())
    assert films[0] == films[1]


def test_fifteen_steps_are_quick(tmp_path: Path) -> None:
    run = Run.open(write_run(tmp_path / "run", Made(episodes=1, steps=15)))
    began = time.process_time()
    encode.write(run.episode(0), run.header)
    assert time.process_time() - began < 3


def test_a_gif_shows_every_slide(tmp_path: Path) -> None:
    run = Run.open(write_run(tmp_path / "run", Made(episodes=1, steps=3)))
    with Image.open(encode.write(run.episode(0), run.header, gif=True)) as gif:
        assert gif.format == "GIF"
        assert gif.size == (SIZE[0] // 2, SIZE[1] // 2)
        assert getattr(gif, "n_frames", 1) == 2 + 2 * 3


@pytest.mark.parametrize("damage", every(3, ["no picture", "lost", "a folder"]))
def test_a_picture_that_can_not_be_read_spoils_no_film(tmp_path: Path, damage: str) -> None:
    run = Run.open(write_run(tmp_path / "run", Made(episodes=1)))
    frame = run.episode(0).folder / "frames" / "0002.jpg"
    frame.unlink()
    if damage == "no picture":
        frame.write_bytes(b"GIF89a no picture")
    elif damage == "a folder":
        frame.mkdir()
    assert len(pictures(encode.write(run.episode(0), run.header))) > 10


def test_an_episode_without_pictures_shows_what_was_told(tmp_path: Path) -> None:
    run = Run.open(write_run(tmp_path / "run", Made(episodes=1, sight=False)))
    left = pictures(encode.write(run.episode(0), run.header))[5][:, : SIZE[1]]
    assert left.std() > 5


def test_what_was_never_begun_has_no_film(tmp_path: Path) -> None:
    run = Run.open(write_run(tmp_path / "run", Made(cut_off=True)))
    assert encode.write(run.episode(2), run.header).exists()
    with pytest.raises(RecordError, match="never begun"):
        encode.write(run.episode(3), run.header)


def slide(**told: object) -> Slide:
    return Slide(picture=None, seen="", heading="toy", goal="a goal", **told)  # type: ignore[arg-type]


def test_feedback_has_the_colour_of_what_came_of_it() -> None:
    worked, failed = draw(slide(feedback="It is done.")), draw(slide(feedback="No.", worked=False))
    assert has(worked, GOOD) and not has(worked, BAD)
    assert has(failed, BAD) and not has(failed, GOOD)


def test_the_heading_stays_beside_a_long_count() -> None:
    count, corner = "step 1000 of 1000", (SIZE[0] - 160, 20, SIZE[0], 60)
    long, bare = (replace(slide(count=count), heading=text) for text in ("x" * 200, ""))
    pixels = [np.asarray(draw(one).crop(corner)) for one in (long, bare)]
    wide = int(font(15).getlength(count)) + 32  # with the margin
    assert (pixels[0][:, -wide:] == pixels[1][:, -wide:]).all()


def test_a_bar_is_as_long_as_its_share() -> None:
    lengths = []
    for share in (0.25, 0.5, 1.0):
        drawn = draw(slide(action="go", shares=(Share("go", share, -1.0, -1.0),)))
        pixels = np.asarray(drawn, np.int16)
        accent = np.abs(pixels - (240, 190, 92)).max(axis=-1) < 10
        lengths.append(int(accent.sum(axis=1).max()))
    assert lengths[0] / lengths[2] == pytest.approx(0.25, abs=0.03)
    assert lengths[1] / lengths[2] == pytest.approx(0.5, abs=0.03)
