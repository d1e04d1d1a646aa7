"""Reads EgoPlan-Bench's records as tasks, and single frames of the videos they are about."""

from __future__ import annotations

import logging
import random
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NoReturn

import av
import numpy as np
from numpy.typing import NDArray
from PIL import Image
from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from inhabit.envs.core import Task, TaskError
from inhabit.envs.egoplan import EgoPlanSettings
from inhabit.envs.multiple_choice import answer_is_an_option, json_list
from inhabit.envs.pictures import read_image


class Stretch(BaseModel):
    """An action done before, where it is to be seen in the video."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    narration: str
    start: int = Field(ge=0)
    """First frame."""
    stop: int = Field(ge=0)
    """Last frame."""

    @model_validator(mode="after")
    def _forwards(self) -> Stretch:
        if self.stop < self.start:
            raise ValueError(f"it ends at frame {self.stop}, before its start at {self.start}")
        return self


class EgoPlanScene(BaseModel):
    """A video, a moment, and the options. Which is right an agent doesn't see."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    actions: tuple[str, ...] = Field(min_length=2)
    """The options, all different."""
    answer: int = Field(ge=0)
    """Index of the right option in `actions`."""
    source: str = ""
    """Where the video is from, such as "Ego4D"."""
    done: tuple[Stretch, ...] = ()
    """The task's progress, oldest first."""
    moment: int = Field(default=0, ge=0)
    """Frame of the current observation."""
    video: Path | None = None
    """A video, or a folder of numbered frames; None to go without images."""

    _answer_is_an_option = model_validator(mode="after")(answer_is_an_option)


VIDEOS = frozenset({".mp4", ".mkv", ".avi", ".mov", ".webm"})
_PICTURES = frozenset({".jpg", ".jpeg", ".png"})
_NUMBER = re.compile(r"(\d+)$")


class VideoError(ValueError):
    """A video cannot be decoded or has no such frame. Names both."""


_LOCAL = {"protocol_whitelist": "file"}
"""A video that is a playlist opens no network address."""


def keyframes(start: int, stop: int, n: int) -> Sequence[int]:
    """`n` evenly spaced frame numbers from `start` to `stop`, both included; fewer in short
    clips.
    """
    return sorted({round(number) for number in np.linspace(start, stop, n).tolist()})


def find(root: Path) -> Mapping[str, Path]:
    """Videos and frame folders at any depth below `root`, by their names without suffix."""
    found: dict[str, Path] = {}
    for path in sorted(root.rglob("*")):
        if path.suffix.lower() in VIDEOS and path.is_file():
            found.setdefault(path.stem, path)
        elif path.suffix.lower() in _PICTURES and _NUMBER.search(path.stem):
            found.setdefault(path.parent.name, path.parent)
    return found


def check(video: Path) -> None:
    """Check that a video can be opened.

    Raises:
        VideoError: it cannot.
    """
    if video.is_dir():
        return
    try:
        with av.open(str(video), options=_LOCAL) as container:
            if not container.streams.video:
                raise VideoError(f"{video} has no video stream")
    except (av.FFmpegError, OSError) as error:
        raise VideoError(f"can't decode {video}: {error}") from error


def frames(video: Path, numbers: Sequence[int], *, pixels: int) -> list[NDArray[np.uint8]]:
    """Frames by number, each uint8 (H, W, 3), longest side at most `pixels`.

    A number beyond the end of the video is its last frame: narrations often end after it. Where a
    video leaves frames out, the last one before them stands for them.

    Raises:
        VideoError: the video cannot be decoded, or a numbered image is missing.
    """
    wanted = sorted(set(numbers))
    if not wanted:
        return []
    frames = _pictures(video, wanted) if video.is_dir() else _decoded(video, wanted)
    small = {number: _shrunk(frame, pixels) for number, frame in frames.items()}
    return [small[number] for number in numbers]


def _decoded(video: Path, wanted: Sequence[int]) -> dict[int, Image.Image]:
    found: dict[int, Image.Image] = {}
    last: av.VideoFrame | None = None
    left = [*wanted]
    try:
        with av.open(str(video), options=_LOCAL) as container:
            for number, frame in _from(container, wanted[0]):
                while left and left[0] < number:
                    found[left.pop(0)] = _image(last or frame)
                last = frame
                if number >= wanted[-1]:
                    break
            if last is None:
                raise VideoError(f"{video} has no frames")
            return found | {number: _image(last) for number in left}
    except (av.FFmpegError, OSError) as error:
        raise VideoError(f"can't decode {video}: {error}") from error


def _image(frame: av.VideoFrame) -> Image.Image:
    return Image.fromarray(frame.to_ndarray(format="rgb24"))


def _from(
    container: av.container.InputContainer, first: int
) -> Iterator[tuple[int, av.VideoFrame]]:
    """Frames with their numbers, from the last key frame before `first`."""
    stream = container.streams.video[0]
    # The average is lower where frames are left out; the guess is a multiple where one is late.
    rate, average = stream.guessed_rate, stream.average_rate
    if average and not (rate and rate < 1.5 * average):
        rate = average
    if not (rate and stream.time_base):
        yield from enumerate(container.decode(stream))
        return
    start = stream.start_time or 0
    if first:
        container.seek(start + int(first / rate / stream.time_base), stream=stream)
    for frame in container.decode(stream):
        if frame.pts is None:
            raise VideoError("a frame has no timestamp")
        yield round(float((frame.pts - start) * stream.time_base * rate)), frame


def _pictures(folder: Path, wanted: Sequence[int]) -> dict[int, Image.Image]:
    """Reads images whose names end in their numbers, such as frame_0000000042.jpg."""
    by_number = {
        int(match[1]): path
        for path in sorted(folder.iterdir())
        if path.suffix.lower() in _PICTURES and (match := _NUMBER.search(path.stem))
    }
    if not by_number:
        raise VideoError(f"{folder} has no numbered frames")
    found: dict[int, Image.Image] = {}
    for number in wanted:
        path = by_number.get(min(number, max(by_number)))
        if path is None:
            raise VideoError(f"{folder} has no frame {number}")
        try:
            found[number] = read_image(path).convert("RGB")
        except ValueError as error:
            raise VideoError(f"{path} can't be read: {error}") from error
    return found


def _shrunk(picture: Image.Image, pixels: int) -> NDArray[np.uint8]:
    picture.thumbnail((pixels, pixels))
    return np.asarray(picture.convert("RGB"))


_LOG = logging.getLogger("inhabit.egoplan")
_LETTERS = "abcd"
_ASKED = (
    "{task} The task's progress is demonstrated in the provided video. My current field of view is "
    "shown in the provided image. What should be my next action? Please output the most reasonable "
    "action you think, expressed in a short phrase."
)
"""The benchmark's own prompt, with its options hidden (EgoPlan-Bench, Chen et al. 2023)."""


def sample(n: int, seed: int, settings: EgoPlanSettings) -> NoReturn:
    """EgoPlan-Bench cannot be sampled.

    Raises:
        TaskError: always.
    """
    raise TaskError(
        "No EgoPlan-Bench tasks are included. Pass its JSON with --tasks FILE and its "
        "videos with --set videos=FOLDER. `inhabit export --format egoplan` writes such files."
    )


def read(source: str, settings: EgoPlanSettings) -> Iterator[Task]:
    """A task for every record of a JSON file, or of all files in a folder.

    Records that make no sense, and those whose videos are missing or don't decode, are named in a
    warning, passed over and counted. Where no video is there at all, all is played without.

    Raises:
        TaskError: there is nothing to read, or nothing that makes sense.
    """
    path = Path(source)
    root = settings.videos or (path if path.is_dir() else path.parent)
    videos = find(root) if root.is_dir() else {}
    if settings.videos is not None and not videos:
        raise TaskError(f"{settings.videos} contains no videos and no folders of numbered frames.")
    kept = total = 0
    taken: set[str] = set()
    for file in _files(path):
        seen: set[str] = set()
        for number, record in enumerate(json_list(file)):
            total += 1
            try:
                task = _task(record, number, videos)
                if task.id in seen:
                    raise ValueError(f"another record has the same sample_id {task.id!r}")
            except (ValueError, VideoError) as error:
                _LOG.warning("%s, record %d is passed over: %s.", file, number, _first(error))
                continue
            seen.add(task.id)
            kept += 1
            if task.id in taken:  # Every file numbers its records from 0.
                task = task.model_copy(update={"id": f"{file.stem}/{task.id}"})
            taken.add(task.id)
            yield task
    if not total:
        raise TaskError(f"{source} contains no records.")
    if not kept:
        raise TaskError(f"All {total} records of {source} are invalid.")
    if kept < total:
        _LOG.warning("%d of %d records at %s are passed over.", total - kept, total, source)


def asked(goal: str) -> str:
    """The benchmark's question about a goal such as "make a salad" or "making a salad"."""
    goal = " ".join(goal.split()).rstrip(".")
    goal = goal[:1].lower() + goal[1:]
    doing = re.fullmatch(r"\w*[aeiouy]\w*ing", goal.partition(" ")[0]) is not None
    task = f"I am tasked with {goal}." if doing else f"My current task is to {goal}."
    return _ASKED.replace("{task}", task)


def _files(source: Path) -> Sequence[Path]:
    if source.is_file():
        return [source]
    found = sorted(source.glob("*.json")) if source.is_dir() else []
    if not found:
        raise TaskError(f"Found no EgoPlan-Bench JSON at {source}.")
    return found


def _task(record: Any, number: int, videos: Mapping[str, Path]) -> Task:
    if not isinstance(record, dict):
        raise ValueError("it is not a JSON object")
    goal = record.get("task_goal")
    if not isinstance(goal, str) or not goal.strip():
        raise ValueError("it has no task_goal")
    name = str(record.get("sample_id", number))
    options, answer = _options(record, name)
    source = str(record.get("video_source") or "unknown")
    scene = EgoPlanScene(
        actions=options,
        answer=answer,
        source=source,
        done=tuple(_done(record.get("task_progress_metadata"))),
        moment=_frame(record, "current_observation_frame"),
        video=_video(record, videos),
    )
    return Task(
        id=f"{source}/{name}",
        env="egoplan",
        kind=source,
        goal=asked(goal),
        scene=scene.model_dump(mode="json"),
        max_steps=1,
        reference_cost=1,
    )


def _options(record: Mapping[str, Any], name: str) -> tuple[tuple[str, ...], int]:
    """The options and the index of the right one; in the training form, the answer among its
    negatives.
    """
    found = {letter: record.get(f"choice_{letter}") for letter in _LETTERS}
    choices = {letter: text.strip() for letter, text in found.items() if isinstance(text, str)}
    answer = str(record.get("answer") or "").strip()
    if any(choice is not None for choice in found.values()):
        texts = [*choices.values()]
        letter = str(record.get("golden_choice_idx", "")).strip().lower()
        if letter not in choices:
            raise ValueError(
                f"its golden_choice_idx {letter!r} is not one of its {len(texts)} choices"
            )
        right = choices[letter]
        if answer in {*texts} - {right, ""}:
            raise ValueError(
                f"its answer {answer!r} is not the choice of its golden_choice_idx {letter!r}"
            )
    else:
        right = answer
        negatives = record.get("negative_answers")
        wrong = [str(text).strip() for text in negatives] if isinstance(negatives, list) else []
        texts = [right, *wrong]
        random.Random(f"egoplan {name}").shuffle(texts)
    options = tuple(dict.fromkeys(text for text in texts if text))
    if not right or len(options) < 2:
        raise ValueError("it has fewer than two distinct choices, or no answer")
    return options, options.index(right)


def _done(progress: object) -> Iterator[Stretch]:
    for one in progress if isinstance(progress, list) else ():
        if not isinstance(one, dict):
            raise ValueError("its task_progress_metadata is not a list of objects")
        yield Stretch(
            narration=str(one.get("narration_text") or ""),
            start=_frame(one, "start_frame"),
            stop=_frame(one, "stop_frame"),
        )


def _frame(fields: Mapping[str, Any], name: str) -> int:
    number = fields.get(name)
    if not isinstance(number, int) or isinstance(number, bool) or number < 0:
        raise ValueError(f"its {name} is not a frame number: {number!r}")
    return number


def _video(record: Mapping[str, Any], videos: Mapping[str, Path]) -> Path | None:
    """The video of a record; None if there are no videos at all."""
    if not videos:
        return None
    video = videos.get(str(record.get("video_id")))
    if video is None:
        raise ValueError(f"there is no video {str(record.get('video_id'))!r}")
    check(video)
    return video.absolute()


def _first(error: Exception) -> str:
    if isinstance(error, ValidationError):
        return error.errors()[0]["msg"].removeprefix("Value error, ")
    return str(error)
