"""Action recognition: what is done in a short video, beside EgoPlan's planning questions.

EgoPlan-Bench tunes on such rows as well (Chen et al. 2023, section 5). The files are those of
`inhabit.eie.export.egoplan`, named `ActionRecognition_IT.json`, `_validation` and `_test`; a video
shows the moments before and after the action.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from pydantic import JsonValue

from inhabit.eie.checking.splits import Split
from inhabit.eie.examples.example import Example
from inhabit.eie.export.demonstrations import Demonstration
from inhabit.eie.export.distinct import ComparedRow
from inhabit.eie.export.egoplan import write_frame
from inhabit.eie.export.export import RunSource, SetSource
from inhabit.eie.export.exporter import Exporter
from inhabit.eie.export.files import ExportImage, json_arrays, picture

_FILES: dict[Split, str] = {
    "train": "ActionRecognition_IT.json",
    "val": "ActionRecognition_validation.json",
    "test": "ActionRecognition_test.json",
}
_QUESTION = "What action is performed in the video?"


@dataclass(frozen=True, slots=True)
class RecognitionRow:
    """A video and the action it shows."""

    split: Split
    frames: tuple[ExportImage, ...]
    answer: str
    wrong: tuple[str, ...]


def of_examples(examples: Iterable[Example], folder: Path) -> Iterator[RecognitionRow]:
    """A row for each recognition example.

    Raises:
        RecordError: an example names an image that is none of the set's.
    """
    for example in examples:
        if example.kind == "recognition":
            frames = tuple(picture(folder, place) for place in example.images)
            yield RecognitionRow(example.split, frames, example.right, example.wrong)


def of_demonstrations(demonstrations: Iterable[Demonstration]) -> Iterator[RecognitionRow]:
    """A row for each step that worked, all of them to train on."""
    for one in demonstrations:
        done = tuple(dict.fromkeys(step.action for step in one.steps if step.worked))
        for place, step in enumerate(one.steps):
            if step.worked:
                yield RecognitionRow(
                    split="train",
                    frames=one.pictures[place : place + 2],
                    answer=step.action,
                    wrong=tuple(action for action in done if action != step.action),
                )


def describe(one: RecognitionRow) -> ComparedRow:
    """What is compared of a row."""
    return ComparedRow(one.split, (), one.frames, one.answer, video=True)


def write(rows: Iterable[RecognitionRow], out: Path) -> int:
    """Write all of them, and return how many there were.

    Raises:
        RecordError: an image is gone.
        DiskError: something can't be written.
    """
    count = 0
    with json_arrays({split: out / name for split, name in _FILES.items()}) as files:
        for one in rows:
            name = f"{count + 1:06d}"
            for number, frame in enumerate(one.frames, 1):
                write_frame(frame, out / "frames", name, number)
            files[one.split](_sample(count, name, one))
            count += 1
    return count


def _sample(number: int, name: str, one: RecognitionRow) -> dict[str, JsonValue]:
    return {
        "sample_id": number,
        "video_source": "inhabit",
        "video_id": name,
        "question": _QUESTION,
        "answer": one.answer,
        "negative_answers": list(one.wrong),
        "start_frame": 1,
        "stop_frame": len(one.frames),
    }


def _write_run(source: RunSource, out: Path) -> int:
    return write(source.left_out.kept(lambda: of_demonstrations(source), describe), out)


def _write_set(source: SetSource, folder: Path, out: Path) -> int:
    source.left_out.counts["no_recognition"] = sum(one.kind != "recognition" for one in source)
    return write(source.left_out.kept(lambda: of_examples(source, folder), describe), out)


EXPORTER = Exporter(
    name="recognition",
    summary="EgoPlan-Bench: what is done in a video",
    write_run=_write_run,
    write_set=_write_set,
)
