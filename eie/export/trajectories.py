"""Whole episodes as conversations with rewards, for SFT and RL: parquet that `datasets` reads.

One row for each episode, those that failed too. `messages` are those of `rank` and `beam` with
`history=whole`: the user shows what was seen, the assistant says the action. `rewards` has a number
for each message of the assistant. Rows of one task are a group, as GRPO compares them (Shao et al.
2024, section 4.1): `advantage` is the return less the group's mean, over its standard deviation.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from statistics import fmean, pstdev
from typing import Any

import pyarrow as pa

from inhabit.agents.core import STOP, Step, View
from inhabit.agents.dialogue.prompt import Prompt, PromptSettings
from inhabit.agents.models.core import Message
from inhabit.eie.export.conversations import Placeholders
from inhabit.eie.export.exporter import of_episodes
from inhabit.eie.export.files import ExportImage, frame
from inhabit.eie.export.messages import MESSAGES, image_cell, message
from inhabit.eie.export.tables import PICTURE, table
from inhabit.envs.core import Observation
from inhabit.episodes.credit.credit import credits_of
from inhabit.episodes.credit.schema import EpisodeCredit
from inhabit.episodes.recording.reader import Attempt, EpisodeRecord, Run, StepRecord

_COLUMNS = pa.schema(
    [
        ("id", pa.string()),
        ("messages", MESSAGES),
        ("images", pa.list_(PICTURE)),
        ("rewards", pa.list_(pa.float64())),
        ("cost_to_go", pa.list_(pa.int64())),
        ("regret", pa.list_(pa.int64())),
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
    `raw` holds what a model said in full, empty where the action was chosen otherwise. `cost_to_go`
    and `regret` are those of `inhabit credit`, in actions, for each reward; null where it was not
    run, or the goal is out of reach.

    Args:
        runs: of the same or of different agents; episodes without an end or a step are left out.
        out: a folder.

    Raises:
        RecordError: a record or an image can't be read.
        DiskError: it can't be written.
    """
    groups: dict[str, str] = {}
    returns: dict[str, list[float]] = {}
    for _, episode, attempt in _ended(runs):
        if (task := _identity(episode)) not in groups:
            groups[task], number = episode.task.id, 1
            while groups[task] in returns:
                number += 1
                groups[task] = f"{episode.task.id} ({number})"
        returns.setdefault(groups[task], []).append(sum(_rewards(attempt)))
    if not groups:
        return 0
    prompt = Prompt("rank", settings=PromptSettings(history="whole", pictures=1_000_000))
    known = {run.folder: credits_of(run) for run in runs}
    with table(out / "data" / "train.parquet", _COLUMNS, together=4) as rows:
        for run, episode, attempt in _ended(runs):
            group = groups[_identity(episode)]
            row = _row(run, episode, attempt, returns[group], prompt)
            found = known[run.folder].get(episode.number)
            rows.add({**row, "group": group, **_credit(found, attempt)})
    return rows.rows


def _identity(episode: EpisodeRecord) -> str:
    """The whole task, since those of other files may have the same id; not where its files lie."""
    return episode.task.model_dump_json(
        exclude={"reference_cost": True, "scene": {"video": True, "image": True}}
    )


def _ended(runs: Sequence[Run]) -> Iterator[tuple[Run, EpisodeRecord, Attempt]]:
    for run in runs:
        for episode, attempt in run.ended():
            if any(_acted(attempt)):
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
        now = step.act.met / (step.act.total or 1) if step.act else share
        found.append(now - share)
        share = now
    return found


def _row(
    run: Run, episode: EpisodeRecord, attempt: Attempt, group: Sequence[float], prompt: Prompt
) -> Mapping[str, Any]:
    assert attempt.end is not None
    steps, rewards = list(_acted(attempt)), _rewards(attempt)
    shown = Placeholders()
    history = [_step(run, episode, step, shown) for step in steps]
    now = history.pop()
    seen = Observation(now.text, now.rgb)
    view = View(episode.task.goal, seen, (), tuple(history))
    asked = (*prompt.messages(view, images=True), Message("assistant", (now.action,)))
    told = [(one.role, shown.parts(one)) for one in asked]
    value = sum(rewards)
    return {
        "id": f"{run.name}/{episode.number:05d}",
        "messages": [message(role, parts) for role, parts in told],
        "images": [
            image_cell(part) for _, parts in told for part in parts if isinstance(part, ExportImage)
        ],
        "rewards": rewards,
        "return": value,
        "advantage": (value - fmean(group)) / (pstdev(group) + 1e-4),
        "success": attempt.end.success,
        "ending": attempt.end.ending,
        "env": run.header.env,
        "kind": episode.task.kind,
        "agent": run.header.agent,
        "raw": [step.decide.raw if step.decide else "" for step in steps],
    }


def _credit(found: EpisodeCredit | None, attempt: Attempt) -> Mapping[str, Any]:
    if found is None:
        return {"cost_to_go": None, "regret": None}
    of = {step.step: step for step in found.steps}
    steps = [of.get(step.number) for step in _acted(attempt)]
    return {
        "cost_to_go": [step and step.before and step.before.actions for step in steps],
        "regret": [step and step.regret and step.regret.actions for step in steps],
    }


def _step(run: Run, episode: EpisodeRecord, step: StepRecord, shown: Placeholders) -> Step:
    """A step as an agent that is asked later knows it."""
    assert step.decide is not None
    seen = frame(episode, step, f"{run.name}-{episode.number:05d}-")
    rgb = shown.add(seen) if seen else None
    action = STOP if step.decide.stop else step.decide.action or step.decide.raw
    reason, feedback = (step.act.reason, step.act.feedback) if step.act else (None, "")
    return Step(action, reason, feedback, rgb, step.see.text)


EXPORTER = of_episodes("trajectories", "whole episodes with rewards, failed ones too", write)
