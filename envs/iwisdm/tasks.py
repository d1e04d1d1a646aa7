"""Samples iWISDM trials as tasks."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from typing import NoReturn

from inhabit.envs.core import Task, TaskError
from inhabit.envs.iwisdm.library import TrialAuthor
from inhabit.envs.iwisdm.scene import IwisdmScene, IwisdmSettings


def read(source: str, settings: IwisdmSettings) -> NoReturn:
    """IWISDM has no named tasks.

    Raises:
        TaskError: always.
    """
    raise TaskError(
        f"Unknown iWISDM tasks {source!r}. Use --n and --seed with --set level=LEVEL, or a "
        "JSONL of tasks."
    )


def sample(n: int, seed: int, settings: IwisdmSettings) -> Iterator[Task]:
    """`n` trials; the first k trials do not depend on `n`.

    Raises:
        UnavailableError: the library is not there.
    """
    level, join = settings.level, settings.join
    author = TrialAuthor()
    try:
        for i in range(n):
            digest = hashlib.sha256(f"iwisdm {level} {join} {seed} {i}".encode()).digest()
            scene = IwisdmScene(level=level, join=join, seed=int.from_bytes(digest[:4]))
            trial = author.write(level, join, scene.seed)
            yield Task(
                id=f"iwisdm-{level}-{join}-{seed}-{i}",
                env="iwisdm",
                kind=level if join == "none" else f"{level}_{join}",
                goal=trial.instruction,
                scene=scene.model_dump(mode="json"),
                max_steps=len(trial.answers),
                reference_cost=len(trial.answers),
            )
    finally:
        author.close()
