"""Plain data that environments share: validated scenes, digests, seeds and tables."""

from __future__ import annotations

import csv
import hashlib
import json
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from inhabit.envs.core import SceneError, Task
from inhabit.envs.entries import first_problem

S = TypeVar("S", bound=BaseModel)


def validated_scene(model: type[S], task: Task, context: Mapping[str, Any] | None = None) -> S:
    """The scene of a task as its model.

    Args:
        model: the environment's `Scene`.
        task: whose scene is validated.
        context: passed to the model's validators.

    Raises:
        SceneError: names the task, the first invalid field, and what is wrong with it.
    """
    try:
        return model.model_validate(dict(task.scene), context=dict(context or {}))
    except ValidationError as error:
        raise SceneError(f"Task {task.id!r}, scene, {first_problem(error)}.") from error


def state_digest(state: object) -> str:
    """The first 16 hexadecimal digits of the SHA-256 of plain data, its keys sorted."""
    return hashlib.sha256(json.dumps(state, sort_keys=True).encode()).hexdigest()[:16]


def seed_of(*parts: object) -> int:
    """A seed from texts and numbers, equal in every process."""
    text = " ".join(map(str, parts))
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:4], "big")


@cache
def csv_rows(package: str, name: str) -> Sequence[Mapping[str, str]]:
    """The rows of a CSV file that lies in a package, such as "furniture.csv"."""
    text = files(package).joinpath(name).read_text("utf-8")
    return list(csv.DictReader(text.splitlines()))
