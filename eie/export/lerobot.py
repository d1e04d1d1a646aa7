"""LeRobot v3: the episodes of a run that went well, with a video of what was seen.

Source of the form: LeRobotDataset v3.0, where many episodes share a file and `meta/episodes` tells
them apart. A step of an episode is one high-level action, and lasts a second. `action` is the
displacement that it caused, in the frame of the agent before the step, as LeRobot's policies for
mobile robots predict it; `observation.state` is where the agent stands. Where the simulator tells
no poses, `action` is the index of the action's words and `observation.state` is left out.
`language.action` holds the words, `language.action_index` their index in `meta/actions.json`, and
`language.observation` what the agent was told.
"""

from __future__ import annotations

import itertools
import json
import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray
from pydantic import JsonValue

from inhabit.eie.export.demonstrations import Demonstration
from inhabit.eie.export.distinct import ComparedRow
from inhabit.eie.export.export import RunSource
from inhabit.eie.export.exporter import Exporter
from inhabit.eie.export.files import ExportImage, half_written
from inhabit.eie.export.tables import Stats, table
from inhabit.episodes.recording.reader import RecordError
from inhabit.episodes.recording.schema import PoseRecord
from inhabit.episodes.reports.video.encode import mp4

FRAMES_PER_SECOND = 1
_OPTIONS = {"preset": "veryfast", "crf": "18", "g": "2"}
"""Options of the encoder: every other frame is whole, so that any of them is found quickly."""


CAMERA = "observation.images.front"
LARGEST = 200
"""Megabytes of a video after which the next episode begins another one."""
_CHUNK = 1000
"""Files in a folder, at most."""
_PLACE = "chunk-{chunk_index:03d}/file-{file_index:03d}"
ACTION, STATE = "action", "observation.state"
_NUMBERS = {
    "language.action_index": "int64",
    "next.done": "bool",
    "timestamp": "float32",
    "frame_index": "int64",
    "episode_index": "int64",
    "index": "int64",
    "task_index": "int64",
}
_TEXTS = ("language.action", "language.observation")
_NO_MOTION: Mapping[str, Sequence[str]] = {ACTION: ("index",)}
_MOTION: Mapping[str, Sequence[str]] = {
    ACTION: ("forward_m", "right_m", "turn_rad"),
    STATE: ("x_m", "z_m", "sin_heading", "cos_heading"),
}
"""Vector -> the names of its numbers: displacement in metres along and to the right of the heading,
and clockwise turn in (-pi, pi]; position in metres, and the heading clockwise from +z."""
_EPISODES = pa.schema(
    [
        ("episode_index", pa.int64()),
        ("tasks", pa.list_(pa.string())),
        ("length", pa.int64()),
        ("dataset_from_index", pa.int64()),
        ("dataset_to_index", pa.int64()),
        ("data/chunk_index", pa.int64()),
        ("data/file_index", pa.int64()),
        (f"videos/{CAMERA}/chunk_index", pa.int64()),
        (f"videos/{CAMERA}/file_index", pa.int64()),
        (f"videos/{CAMERA}/from_timestamp", pa.float64()),
        (f"videos/{CAMERA}/to_timestamp", pa.float64()),
        ("meta/episodes/chunk_index", pa.int64()),
        ("meta/episodes/file_index", pa.int64()),
    ]
)


def write(demonstrations: Iterable[Demonstration], out: Path, *, env: str) -> int:
    """Write all of them, and return how many episodes there were.

    `env` stands as the robot's type. All images have one size.

    Raises:
        RecordError: an image is gone, or of another size than the others.
        DiskError: something can't be written.
    """
    rest = iter(demonstrations)
    first = next(rest, None)
    totals = _Totals(_MOTION if first is not None and first.poses else _NO_MOTION)
    with table(_file(out, "meta/episodes", 0, "parquet"), _EPISODES) as episodes:
        for part in itertools.count():
            if first is None:
                break
            with (
                table(_file(out, "data", part, "parquet"), totals.columns()) as rows,
                half_written(_file(out, f"videos/{CAMERA}", part, "mp4")) as half,
                mp4(half, FRAMES_PER_SECOND, _OPTIONS) as shown,
            ):
                for one in itertools.chain([first], rest):
                    since = shown.frames
                    for row, rgb in totals.steps(one):
                        rows.add(row)
                        shown.add(rgb[: rgb.shape[0] // 2 * 2, : rgb.shape[1] // 2 * 2])
                    episodes.add(totals.episode(one, part, since))
                    if half.exists() and half.stat().st_size > LARGEST << 20:
                        break
            first = next(rest, None)
    _write_tasks(out / "meta/tasks.parquet", list(totals.tasks))
    _write_json(out / "meta/actions.json", list(totals.actions))
    if totals.frames:
        _write_json(out / "meta/stats.json", totals.figures())
    _write_json(out / "meta/info.json", _info(totals, env))
    return totals.episodes


def describe(one: Demonstration) -> ComparedRow:
    """What is compared of an episode."""
    told = (one.task.goal, *(step.action for step in one.steps))
    return ComparedRow("train", told, one.pictures, "", video=True)


class _Totals:
    def __init__(self, vectors: Mapping[str, Sequence[str]]) -> None:
        self.vectors = vectors
        self.episodes = 0
        self.frames = 0
        self.side: tuple[int, ...] = (0, 0)
        """Height and width of every image, in pixels."""
        self.tasks: dict[str, int] = {}
        self.actions: dict[str, int] = {}
        self._stats: defaultdict[str, Stats] = defaultdict(Stats)

    def columns(self) -> pa.Schema:
        """Of the table of frames."""
        return pa.schema(
            [
                (name, pa.list_(pa.float32(), len(names)) if len(names) > 1 else pa.float32())
                for name, names in self.vectors.items()
            ]
            + [(name, pa.type_for_alias(kind)) for name, kind in _NUMBERS.items()]
            + [(name, pa.string()) for name in _TEXTS]
        )

    def steps(self, one: Demonstration) -> Iterator[tuple[Mapping[str, Any], NDArray[np.uint8]]]:
        """The rows of an episode, each with what was seen."""
        task = self.tasks.setdefault(one.task.goal, len(self.tasks))
        for place, step in enumerate(one.steps):
            rgb = self._sized(step.seen)
            index = self.actions.setdefault(step.action, len(self.actions))
            vectors = self._vectors(one, place, index)
            numbers = {
                "language.action_index": index,
                "next.done": place == len(one.steps) - 1,
                "timestamp": place / FRAMES_PER_SECOND,
                "frame_index": place,
                "episode_index": self.episodes,
                "index": self.frames,
                "task_index": task,
            }
            self._stats[CAMERA].add(rgb[::4, ::4].reshape(-1, 3) / 255)
            for name, number in numbers.items():
                self._stats[name].add([float(number)])
            for name, vector in vectors.items():
                self._stats[name].add([vector])
            told = {n: v if len(v) > 1 else v[0] for n, v in vectors.items()}
            yield (
                {
                    **told,
                    **numbers,
                    "language.action": step.action,
                    "language.observation": step.text,
                },
                rgb,
            )
            self.frames += 1

    def episode(self, one: Demonstration, part: int, since: int) -> Mapping[str, Any]:
        """The row of an episode whose steps are told, and whose video began at frame `since`."""
        length = len(one.steps)
        chunk, file = divmod(part, _CHUNK)
        self.episodes += 1
        return {
            "episode_index": self.episodes - 1,
            "tasks": [one.task.goal],
            "length": length,
            "dataset_from_index": self.frames - length,
            "dataset_to_index": self.frames,
            "data/chunk_index": chunk,
            "data/file_index": file,
            f"videos/{CAMERA}/chunk_index": chunk,
            f"videos/{CAMERA}/file_index": file,
            f"videos/{CAMERA}/from_timestamp": since / FRAMES_PER_SECOND,
            f"videos/{CAMERA}/to_timestamp": (since + length) / FRAMES_PER_SECOND,
            "meta/episodes/chunk_index": 0,
            "meta/episodes/file_index": 0,
        }

    def figures(self) -> Mapping[str, JsonValue]:
        """Statistics of every number; of images a channel each, in 0..1, every fourth pixel."""
        return {
            name: dict(stats.result((3, 1, 1) if name == CAMERA else (-1,)))
            for name, stats in self._stats.items()
        }

    def _vectors(
        self, one: Demonstration, place: int, index: int
    ) -> Mapping[str, tuple[float, ...]]:
        if self.vectors is _NO_MOTION:
            return {ACTION: (float(index),)}
        if not one.poses:
            raise RecordError(
                f"Episode {one.number} has no poses and earlier ones have: export runs of one "
                "environment and version."
            )
        return {ACTION: _motion(*one.poses[place : place + 2]), STATE: _state(one.poses[place])}

    def _sized(self, shown: ExportImage) -> NDArray[np.uint8]:
        rgb = shown.pixels()
        if self.frames == 0:
            self.side = rgb.shape[:2]
        if rgb.shape[:2] != self.side:
            raise RecordError(
                f"{shown.file} has another size than the images before it, and a video has one."
            )
        return rgb


def _state(pose: PoseRecord) -> tuple[float, ...]:
    """Where the agent stands, as `_MOTION` names it."""
    heading = math.radians(pose.heading)
    return pose.x, pose.z, math.sin(heading), math.cos(heading)


def _motion(before: PoseRecord, after: PoseRecord) -> tuple[float, ...]:
    east, north = after.x - before.x, after.z - before.z
    heading = math.radians(before.heading)
    forward = north * math.cos(heading) + east * math.sin(heading)
    right = east * math.cos(heading) - north * math.sin(heading)
    turn = math.radians(after.heading - before.heading)
    return forward, right, math.pi - (math.pi - turn) % math.tau


def _info(totals: _Totals, env: str) -> Mapping[str, JsonValue]:
    height, width = (side // 2 * 2 for side in totals.side)
    features: dict[str, JsonValue] = {
        CAMERA: {
            "dtype": "video",
            "shape": [height, width, 3],
            "names": ["height", "width", "channels"],
            "info": {
                "video.height": height,
                "video.width": width,
                "video.codec": "h264",
                "video.pix_fmt": "yuv420p",
                "video.is_depth_map": False,
                "video.fps": FRAMES_PER_SECOND,
                "video.channels": 3,
                "has_audio": False,
            },
        }
    }
    for name, names in totals.vectors.items():
        features[name] = {"dtype": "float32", "shape": [len(names)], "names": list(names)}
    for name, kind in [*_NUMBERS.items(), *((name, "string") for name in _TEXTS)]:
        features[name] = {"dtype": kind, "shape": [1], "names": None}
    return {
        "codebase_version": "v3.0",
        "robot_type": env,
        "total_episodes": totals.episodes,
        "total_frames": totals.frames,
        "total_tasks": len(totals.tasks),
        "chunks_size": _CHUNK,
        "data_files_size_in_mb": 100,
        "video_files_size_in_mb": LARGEST,
        "fps": FRAMES_PER_SECOND,
        "splits": {"train": f"0:{totals.episodes}"},
        "data_path": f"data/{_PLACE}.parquet",
        "video_path": f"videos/{{video_key}}/{_PLACE}.mp4",
        "features": features,
    }


def _file(out: Path, inside: str, part: int, ending: str) -> Path:
    chunk, file = divmod(part, _CHUNK)
    return out / inside / f"{_PLACE.format(chunk_index=chunk, file_index=file)}.{ending}"


def _write_tasks(file: Path, tasks: Sequence[str]) -> None:
    """A table from `task`, its index as pandas understands it, to `task_index`."""
    described = {
        "index_columns": ["task"],
        "column_indexes": [],
        "columns": [
            {
                "name": name,
                "field_name": name,
                "pandas_type": kind,
                "numpy_type": numpy,
                "metadata": None,
            }
            for name, kind, numpy in (
                ("task_index", "int64", "int64"),
                ("task", "unicode", "object"),
            )
        ],
        "pandas_version": "2.0.0",
    }
    columns = pa.schema(
        [("task_index", pa.int64()), ("task", pa.string())],
        metadata={"pandas": json.dumps(described)},
    )
    made = pa.Table.from_pydict({"task_index": range(len(tasks)), "task": list(tasks)}, columns)
    with half_written(file) as half:
        pq.write_table(made, half)


def _write_json(file: Path, content: JsonValue | Mapping[str, JsonValue]) -> None:
    with half_written(file) as half:
        half.write_text(json.dumps(content, indent=4), encoding="utf-8")


def _write_run(source: RunSource, out: Path) -> int:
    shown = source.left_out.kept(lambda: source, describe)
    return write(shown, out, env=source.run.header.env)


EXPORTER = Exporter(
    name="lerobot",
    summary="LeRobot v3: episodes with motions and videos",
    write_run=_write_run,
    unit="episode",
)
