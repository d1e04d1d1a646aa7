"""Converts EgoPlan-Bench's records to tasks. Invalid records are skipped with a warning."""

from __future__ import annotations

import logging
import random
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NoReturn

from pydantic import ValidationError

from inhabit.envs.core import Task, TaskError
from inhabit.envs.egoplan.scene import EgoPlanScene, EgoPlanSettings, Stretch
from inhabit.envs.egoplan.videos import VideoError, check, find
from inhabit.envs.multiple_choice import json_list

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
    choices = [record.get(f"choice_{letter}") for letter in _LETTERS]
    if any(choice is not None for choice in choices):
        texts = [choice.strip() for choice in choices if isinstance(choice, str)]
        letter = str(record.get("golden_choice_idx", "")).strip().lower()
        if len(letter) != 1 or letter not in _LETTERS[: len(texts)]:
            raise ValueError(
                f"its golden_choice_idx {letter!r} is not one of its {len(texts)} choices"
            )
        right = texts[_LETTERS.index(letter)]
    else:
        right = str(record.get("answer") or "").strip()
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
