"""Steps of runs as a folder for the Hugging Face hub: a card, and a row with an image for each.

The card names the figures of each run and the columns. The hub's viewer shows images of rows.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from inhabit.eie.export.exporter import of_episodes
from inhabit.eie.export.files import frame, half_written
from inhabit.eie.export.messages import image_cell
from inhabit.eie.export.tables import PICTURE, table
from inhabit.eie.sets.card import templates
from inhabit.episodes.recording.reader import Attempt, EpisodeRecord, Run
from inhabit.episodes.scoring.scores import score

_COLUMNS: Mapping[str, tuple[pa.DataType, str]] = {
    "run": (pa.string(), "name of the run"),
    "episode": (pa.int32(), "its number in the run, from 0"),
    "step": (pa.int32(), "from 0; the last one of an episode may have no action"),
    "goal": (pa.string(), "the instruction"),
    "image": (PICTURE, "what the agent saw before it acted"),
    "text": (pa.string(), "what it was told with the image"),
    "action": (pa.string(), "what it did; null where it stopped, or nothing was understood"),
    "raw": (pa.string(), "a model's whole reply"),
    "reason": (pa.string(), "why the action had no effect; null if it worked"),
    "feedback": (pa.string(), "what the environment said to it"),
    "met": (pa.int32(), "goal conditions that hold after the action"),
    "total": (pa.int32(), "goal conditions in all"),
    "ending": (pa.string(), "how the episode ended"),
    "success": (pa.bool_(), "whether all goal conditions held then"),
    "env": (pa.string(), "environment"),
    "kind": (pa.string(), "kind of task"),
    "task": (pa.string(), "id of the task"),
    "agent": (pa.string(), "agent, and its model"),
}
"""Column -> its type, and what it holds."""


def write(runs: Sequence[Run], out: Path) -> int:
    """Write `data/train.parquet` and `README.md`, and return the number of episodes.

    Raises:
        RecordError: a record or an image can't be read.
        DiskError: it can't be written.
    """
    schema = pa.schema([(name, kind) for name, (kind, _) in _COLUMNS.items()])
    count = 0
    with table(out / "data" / "train.parquet", schema, together=64) as rows:
        for run in runs:
            for episode, attempt in run.ended():
                count += bool(attempt.steps)
                for row in _rows(run, episode, attempt):
                    rows.add(row)
    with half_written(out / "README.md") as half:
        half.write_bytes(card(runs, rows.rows).encode("utf-8", "replace"))
    return count


def _rows(run: Run, episode: EpisodeRecord, attempt: Attempt) -> Iterator[Mapping[str, Any]]:
    end = attempt.end
    assert end is not None
    for step in attempt.steps:
        see, decide, act = step.see, step.decide, step.act
        seen = frame(episode, step, f"{run.name}-{episode.number:05d}-")
        yield {
            "run": run.name,
            "episode": episode.number,
            "step": step.number,
            "goal": episode.task.goal,
            "image": image_cell(seen) if seen else None,
            "text": see.text,
            "action": decide.action if decide else None,
            "raw": decide.raw if decide else "",
            "reason": act.reason if act else None,
            "feedback": act.feedback if act else "",
            "met": act.met if act else None,
            "total": act.total if act else None,
            "ending": end.ending,
            "success": end.success,
            "env": run.header.env,
            "kind": episode.task.kind,
            "task": episode.task.id,
            "agent": _agent(run),
        }


def card(runs: Sequence[Run], rows: int) -> str:
    """The card of these runs: what the hub reads, figures, columns, and how to load it."""
    envs = sorted({run.header.env for run in runs})
    size = next((text for most, text in _SIZES if rows < most), "1M<n<10M")
    return (
        templates()
        .get_template("hub.md")
        .render(
            # A text of JSON is one of YAML.
            title=json.dumps(f"Episodes in {', '.join(envs)}"),
            size=size,
            envs=envs,
            rows=rows,
            runs=[(run, _agent(run), score(run)) for run in runs],
            columns={name: told for name, (_, told) in _COLUMNS.items()},
        )
    )


_SIZES = (
    (1_000, "n<1K"), (10_000, "1K<n<10K"), (100_000, "10K<n<100K"), (1_000_000, "100K<n<1M"),
)  # fmt: skip
"""The hub's categories of sizes."""


def _agent(run: Run) -> str:
    return " ".join(filter(None, [run.header.agent, run.header.model]))


EXPORTER = of_episodes(
    "hub", "steps of runs with images and a card, for the Hugging Face hub", write
)
