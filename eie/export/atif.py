"""Whole episodes in Harbor's trajectory format, ATIF 1.8: a JSON file for each, images beside it.

A step of the user tells the goal and shows the first observation; a step of the agent calls the
tool `act`, whose result is the feedback and the next observation. Images are files that are named
by the SHA-256 of their content. `extra` holds what of the record ATIF has no field for, so that
`from_atif` makes the same record of it.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path

from pydantic import JsonValue

from inhabit.eie.export.exporter import of_episodes
from inhabit.eie.export.files import ImageFolder, frame, half_written
from inhabit.episodes.recording.reader import Attempt, EpisodeRecord, Run, StepRecord
from inhabit.episodes.recording.schema import Line, RunHeader

VERSION = "ATIF-v1.8"
Keep = Callable[[str, bytes], str]
"""Takes an image's name and content, and returns its name."""


def write(runs: Sequence[Run], out: Path) -> int:
    """Write `RUN-NUMBER.json` for every episode that has ended, and return how many there are.

    Raises:
        RecordError: a record or an image can't be read.
        DiskError: something can't be written.
    """
    images, count = ImageFolder(out / "images"), 0
    for run in runs:
        for episode, attempt in run.ended():
            told = trajectory(run, episode, attempt, images.add)
            with half_written(out / f"{run.name}-{episode.number:05d}.json") as half:
                half.write_text(json.dumps(told, indent=1) + "\n", encoding="utf-8")
            count += 1
    return count


def trajectory(
    run: Run, episode: EpisodeRecord, attempt: Attempt, keep: Keep
) -> dict[str, JsonValue]:
    """One episode that has ended, as ATIF has it.

    Raises:
        RecordError: an image can't be read.
        DiskError: an image can't be kept.
    """
    end = attempt.end
    assert end is not None
    seen: list[JsonValue] = []
    extra: dict[str, JsonValue] = {}
    for first in attempt.steps[:1]:  # None where the scene was refused.
        seen, extra["see"] = _seen(episode, first, keep)
    steps: list[JsonValue] = [
        {
            "step_id": 1,
            "timestamp": _time(attempt.start.time),
            "source": "user",
            "message": [{"type": "text", "text": episode.task.goal}, *seen],
            "extra": extra,
        }
    ]
    for step, after in zip(attempt.steps, [*attempt.steps[1:], None], strict=False):
        if step.decide is not None:
            steps.append(_agent_step(episode, step, after, keep, len(steps) + 1))
    return {
        "schema_version": VERSION,
        "session_id": run.name,
        "trajectory_id": f"{run.name}/{episode.number:05d}",
        "agent": {
            "name": run.header.agent,
            "version": run.header.software.get("inhabit", "unknown"),
            **({"model_name": run.header.model} if run.header.model else {}),
            "tool_definitions": [_TOOL],
        },
        "steps": steps,
        "final_metrics": {
            "total_prompt_tokens": end.tokens.read,
            "total_completion_tokens": end.tokens.written,
            "total_steps": len(steps),
            "extra": _rest(end),
        },
        "extra": {"run": _rest(run.header), "start": _rest(attempt.start)},
    }


_TOOL: JsonValue = {
    "type": "function",
    "function": {
        "name": "act",
        "description": "Do one action, in words.",
        "parameters": {"type": "object", "properties": {"action": {"type": "string"}}},
    },
}


def _agent_step(
    episode: EpisodeRecord, step: StepRecord, after: StepRecord | None, keep: Keep, number: int
) -> dict[str, JsonValue]:
    decide, act, call = step.decide, step.act, f"call-{step.number}"
    assert decide is not None
    told: dict[str, JsonValue] = {
        "step_id": number,
        "timestamp": _time(decide.time),
        "source": "agent",
        "message": decide.raw or decide.action or "",
        "llm_call_count": len(decide.calls),
        "extra": {"decide": _rest(decide, "action")},
    }
    if decide.calls:
        told["metrics"] = {
            "prompt_tokens": sum(one.tokens_in for one in decide.calls),
            "completion_tokens": sum(one.tokens_out for one in decide.calls),
        }
        if decide.reasoning:
            told["reasoning_content"] = decide.reasoning
    if decide.action is not None:
        arguments: JsonValue = {"action": decide.action}
        told["tool_calls"] = [
            {"tool_call_id": call, "function_name": "act", "arguments": arguments}
        ]
    if act is not None or after is not None:
        content: list[JsonValue] = [{"type": "text", "text": act.feedback}] if act else []
        extra: dict[str, JsonValue] = {"act": _rest(act, "feedback")} if act else {}
        if after is not None:
            seen, extra["see"] = _seen(episode, after, keep)
            content += seen
        result: dict[str, JsonValue] = {"content": content, "extra": extra}
        if decide.action is not None:
            result["source_call_id"] = call
        told["observation"] = {"results": [result]}
    return told


def _seen(
    episode: EpisodeRecord, step: StepRecord, keep: Keep
) -> tuple[list[JsonValue], dict[str, JsonValue]]:
    """An observation as content, its text and its image as a file; and the rest of its line."""
    see = step.see
    found: list[JsonValue] = [{"type": "text", "text": see.text}] if see.text else []
    if (image := frame(episode, step)) is not None:
        content = image.read()
        name = keep(f"{hashlib.sha256(content).hexdigest()}.jpg", content)
        source: JsonValue = {"media_type": "image/jpeg", "path": f"images/{name}"}
        found.append({"type": "image", "source": source})
    return found, _rest(see, "text")


def _rest(line: Line | RunHeader, *told: str) -> dict[str, JsonValue]:
    """What of a line is not `told` elsewhere."""
    return line.model_dump(mode="json", by_alias=True, exclude={"kind", *told})


def _time(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat()


EXPORTER = of_episodes(
    "atif", "whole episodes as Harbor's trajectories (ATIF), failed ones too", write
)
