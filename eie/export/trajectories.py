"""Whole episodes as conversations with rewards, for SFT and RL: parquet that `datasets` reads.

One row for each episode, those that failed too. `messages` takes turns: the user shows what was
seen, the assistant says the action. `rewards` has a number for each message of the assistant. Rows
of one task are a group, as GRPO compares them (Shao et al. 2024, section 4.1): `advantage` is the
return less the group's mean, over its standard deviation.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from statistics import fmean, pstdev
from typing import Any

import pyarrow as pa

from inhabit.eie.export.files import ExportImage, picture
from inhabit.eie.export.messages import MESSAGES, image_cell, text_part
from inhabit.eie.export.tables import PICTURE, table
from inhabit.episodes.recording.reader import Attempt, Episode, Run, StepRecord

STOP = "stop"
_COLUMNS = pa.schema(
    [
        ("id", pa.string()),
        ("messages", MESSAGES),
        ("images", pa.list_(PICTURE)),
        ("rewards", pa.list_(pa.float64())),
        ("return", pa.float64()),
        ("group", pa.string()),
        ("advantage", pa.float64()),
        ("success", pa.bool_()),
        ("ending", pa.string()),
        ("env", pa.string()),
        ("kind", pa.string()),
        ("agent", pa.string()),
        ("raw", pa.list_(pa.string())),
    ]
)


def write(runs: Sequence[Run], out: Path) -> int:
    """Write `data/train.parquet`, and return how many rows it has.

    A step's reward is the change in the share of goal conditions that hold; a return is their sum.
    `raw` holds what a model said in full, empty where the action was chosen otherwise.

    Args:
        runs: of the same or of different agents; episodes without an end or a step are left out.
        out: a folder.

    Raises:
        RecordError: a record or an image can't be read.
        DiskError: it can't be written.
    """
    groups: dict[str, list[float]] = {}
    for _, episode, attempt in _ended(runs):
        groups.setdefault(episode.task.id, []).append(sum(_rewards(attempt)))
    if not groups:
        return 0
    with table(out / "data" / "train.parquet", _COLUMNS, together=4) as rows:
        for run, episode, attempt in _ended(runs):
            rows.add(_row(run, episode, attempt, groups[episode.task.id]))
    return rows.rows


def _ended(runs: Sequence[Run]) -> Iterator[tuple[Run, Episode, Attempt]]:
    for run in runs:
        for episode in run.episodes():
            attempt = episode.last()
            if attempt is not None and attempt.end is not None and any(_acted(attempt)):
                yield run, episode, attempt


def _acted(attempt: Attempt) -> Iterator[StepRecord]:
    """The steps at which something was done or the agent stopped."""
    for step in attempt.steps:
        if step.decide is not None and (step.act is not None or step.decide.stop):
            yield step


def _rewards(attempt: Attempt) -> list[float]:
    start = attempt.start
    share = (start.met or 0) / (start.total or 1)
    found = []
    for step in _acted(attempt):
        now = step.act.met / step.act.total if step.act else share
        found.append(now - share)
        share = now
    return found


def _row(run: Run, episode: Episode, attempt: Attempt, group: Sequence[float]) -> Mapping[str, Any]:
    assert attempt.end is not None
    steps, rewards = list(_acted(attempt)), _rewards(attempt)
    pictures: list[ExportImage] = []
    messages = []
    for number, step in enumerate(steps):
        seen, before = step.see, steps[number - 1] if number else None
        if seen.frame is not None:
            name = f"{run.folder.name}-{episode.number:05d}-"
            pictures.append(picture(episode.folder, seen.frame, prefix=name, root=run.folder))
        parts = [{"type": "image", "text": None}] if seen.frame is not None else []
        told = before.act.feedback if before and before.act else f"Goal: {episode.task.goal}"
        text = "\n".join(line for line in (told, seen.text) if line)
        messages.append({"role": "user", "content": [*parts, text_part(text)]})
        messages.append({"role": "assistant", "content": [text_part(_said(step))]})
    value = sum(rewards)
    return {
        "id": f"{run.folder.name}/{episode.number:05d}",
        "messages": messages,
        "images": [image_cell(one) for one in pictures],
        "rewards": rewards,
        "return": value,
        "group": episode.task.id,
        "advantage": (value - fmean(group)) / (pstdev(group) + 1e-4),
        "success": attempt.end.success,
        "ending": attempt.end.ending,
        "env": run.header.env,
        "kind": episode.task.kind,
        "agent": run.header.agent,
        "raw": [step.decide.raw if step.decide else "" for step in steps],
    }


def _said(step: StepRecord) -> str:
    assert step.decide is not None
    return STOP if step.decide.stop else step.decide.action or step.decide.raw
