"""The mind of a chat endpoint that knows how the tasks of a toy house are solved."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any

from inhabit.envs.core import Task
from inhabit.envs.toy.env import Toy


def text_of(message: dict[str, Any]) -> str:
    content = message["content"]
    if isinstance(content, str):
        return content
    return "".join(part.get("text", "") for part in content)


def images_of(message: dict[str, Any]) -> list[str]:
    content = message["content"]
    return (
        []
        if isinstance(content, str)
        else [p["image_url"]["url"] for p in content if "image_url" in p]
    )


class Solver:
    """Says the next action of each task's plan, by the goal and the number of steps told."""

    def __init__(self, tasks: Sequence[Task]) -> None:
        self.plans: dict[str, list[str]] = {}
        with Toy() as house:
            for task in tasks:
                house.reset(task, seed=0)
                self.plans[task.goal] = [a.text for a in house.plan()]
        assert len(self.plans) == len(tasks), "Goals tell these tasks apart."

    def next(self, request: dict[str, Any]) -> str:
        told = next(text_of(m) for m in request["messages"] if m["role"] == "user")
        goal = re.search("^Goal: (.*)$", told, re.MULTILINE)
        steps = re.findall(r"^(\d+)\. .* -> ", told, re.MULTILINE)
        assert goal is not None
        plan = self.plans[goal[1]]
        done = int(steps[-1]) if steps else 0
        return plan[done] if done < len(plan) else "stop"

    def json(self, request: dict[str, Any]) -> str:
        return json.dumps(
            {"description": "A house.", "reasoning": "The plan.", "action": self.next(request)}
        )
