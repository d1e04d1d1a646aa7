"""Episodes as rollouts of NeMo Gym: JSON lines whose `ng_trajectory` (1.0) holds the conversation.

Each line is the episode's trajectory in ATIF with NeMo Gym's names: calls of the tool `act` and
their results, with images as `data:` URLs. What a turn was asked is what the conversation holds
before its answer, and is not repeated.
"""

from __future__ import annotations

import base64
import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from inhabit.eie.export.atif import trajectory
from inhabit.eie.export.exporter import of_episodes
from inhabit.eie.export.files import half_written
from inhabit.envs.core import Task
from inhabit.episodes.recording.reader import Run

_Item = dict[str, Any]
_Images = Mapping[str, bytes]
"""Path in the trajectory -> content."""


def write(runs: Sequence[Run], out: Path) -> int:
    """Write `rollouts.jsonl`, a line for each episode that has ended, and return how many.

    Episodes of one task, in whichever runs, are rollouts of that task.

    Raises:
        RecordError: a record or an image can't be read.
        DiskError: it can't be written.
    """
    tasks: dict[str, int] = {}
    rollouts: Counter[int] = Counter()
    with half_written(out / "rollouts.jsonl") as half, half.open("w", encoding="utf-8") as file:
        for task, row in _rows(runs):
            index = tasks.setdefault(task.model_dump_json(exclude={"reference_cost"}), len(tasks))
            place = {"_ng_task_index": index, "_ng_rollout_index": rollouts[index]}
            file.write(json.dumps({**place, **row}) + "\n")
            rollouts[index] += 1
    return rollouts.total()


def _rows(runs: Sequence[Run]) -> Iterator[tuple[Task, Mapping[str, Any]]]:
    for run in runs:
        for episode, attempt in run.ended():
            assert attempt.end is not None
            if not attempt.steps:
                continue
            images: dict[str, bytes] = {}

            def keep(name: str, content: bytes, images: dict[str, bytes] = images) -> str:
                images[f"images/{name}"] = content
                return name

            row = _row(trajectory(run, episode, attempt, keep), images)
            reward = attempt.end.met / (attempt.end.total or 1)
            yield episode.task, {**row, "reward": reward, "task": episode.task.id}


def _row(told: Mapping[str, Any], images: _Images) -> Mapping[str, Any]:
    first, *later = told["steps"]
    task, rollout = told["trajectory_id"], f"{told['trajectory_id']}:0"
    asked: _Item = {
        "type": "message",
        "role": "user",
        "content": _content(first["message"], images),
    }
    items, turns = [asked], []
    calls: list[_Item] = []
    for number, step in enumerate(later, 1):
        said = _said(step)
        turns.append(
            {
                "invocation_id": "root",
                "task_id": task,
                "rollout_id": rollout,
                "turn_no": number,
                "timestamp": step["extra"]["decide"]["time"],
                "answer": said,
                "step_count": len(calls),
                "model_calls": [],
            }
        )
        items += said
        for result in step.get("observation", {}).get("results", []):
            output = _content(result["content"], images)
            call = result.get("source_call_id")
            if call is None:
                items.append({"type": "message", "role": "user", "content": output})
                continue
            items.append({"type": "function_call_output", "call_id": call, "output": output})
            calls.append(
                {
                    "kind": "tool_call",
                    "invocation_id": "root",
                    "tool_call_id": call,
                    "tool_name": "act",
                    "status": "completed",
                    "output": output,
                }
            )
    root = {"kind": "agent_invocation", "invocation_id": "root", "status": "completed"}
    return {
        "agent_ref": {"type": "responses_api_agents", "name": told["agent"]["name"]},
        "responses_create_params": {"input": [asked]},
        "ng_trajectory": {
            "schema_version": "1.0",
            "task_id": task,
            "rollout_id": rollout,
            "invocations": [{**root, "model_calls": [], "conversation": items}],
            "turns": turns,
            "model_calls": [],
            "tool_calls": calls,
            "gaps": [],
        },
    }


def _said(step: Mapping[str, Any]) -> list[_Item]:
    said: list[_Item] = []
    if step["message"] and step["message"] != _action(step):
        text = {"type": "output_text", "text": step["message"], "annotations": []}
        id = f"message-{step['step_id']}"
        kind = {"type": "message", "role": "assistant", "status": "completed"}
        said.append({**kind, "id": id, "content": [text]})
    for call in step.get("tool_calls", []):
        arguments = json.dumps(call["arguments"])
        kind = {"type": "function_call", "name": "act", "status": "completed"}
        said.append({**kind, "call_id": call["tool_call_id"], "arguments": arguments})
    return said


def _action(step: Mapping[str, Any]) -> str | None:
    return next((call["arguments"]["action"] for call in step.get("tool_calls", [])), None)


def _content(parts: Sequence[Mapping[str, Any]], images: _Images) -> list[_Item]:
    found: list[_Item] = []
    for part in parts:
        if part["type"] == "text":
            found.append({"type": "input_text", "text": part["text"]})
            continue
        encoded = base64.b64encode(images[part["source"]["path"]]).decode()
        url = f"data:{part['source']['media_type']};base64,{encoded}"
        found.append({"type": "input_image", "image_url": url, "detail": "auto"})
    return found


EXPORTER = of_episodes("nemo", "whole episodes as rollouts of NeMo Gym, failed ones too", write)
