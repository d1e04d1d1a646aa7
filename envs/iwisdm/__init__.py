"""iWISDM: instructions about things seen in frames, one after another (Lei et al. 2024)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Literal

from pydantic import BaseModel, ConfigDict

from inhabit.envs.core import Env, Task, TaskError
from inhabit.envs.registry import Need, Registration

Level = Literal["single", "low", "medium", "high"]
Join = Literal["none", "queue", "overlap", "interleave", "condition"]


class IwisdmSettings(BaseModel):
    """What `--set` may say of iWISDM."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    level: Level = "low"
    """Of the tasks that are sampled; "single" ones have one frame."""
    join: Join = "none"
    """How two tasks are joined: one after the other, overlapping or interleaved; "condition" is a
    question that hangs on the answer to another."""
    showing: Literal["steps", "together"] = "steps"
    """One frame a step, and an answer or "null" to each; or all frames in one prompt, and the due
    answers one after the other, as the paper's models were asked."""


def _make(backend: str, settings: IwisdmSettings) -> Env:
    from inhabit.envs.iwisdm.env import Iwisdm

    return Iwisdm(settings)


def _sample(n: int, seed: int, settings: IwisdmSettings) -> Iterable[Task]:
    from inhabit.envs.iwisdm.tasks import sample

    return sample(n, seed, settings)


def _read(source: str, settings: IwisdmSettings) -> Iterable[Task]:
    raise TaskError(
        f"iWISDM has no tasks called {source!r}. Use --n and --seed with --set level=LEVEL, or a "
        "JSONL of tasks."
    )


def _needs(backend: str) -> Sequence[Need]:
    from inhabit.envs.iwisdm.library import installed

    fix = "inhabit setup iwisdm"
    return [] if installed() else [Need("iWISDM, in an interpreter of its own", fix)]


def _prepare(backend: str, tell: Callable[[str], None]) -> None:
    from inhabit.envs.iwisdm.library import prepare

    prepare(tell)


REGISTRATION = Registration(
    name="iwisdm",
    summary="iWISDM: instructions about things seen in frames, from simple to intricate",
    backends=("library",),
    settings=IwisdmSettings,
    make=_make,
    sample=_sample,
    read=_read,
    needs=_needs,
    packages=("numba",),
    prepare=_prepare,
)
