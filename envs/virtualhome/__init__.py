"""VirtualHome: its own evolving graph, embedded, or Unity, behind one environment."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from inhabit.envs.core import Env, Task, TaskError
from inhabit.envs.registry import Need, Registration
from inhabit.envs.template import Template


class VirtualHomeSettings(BaseModel):
    """What `--set` may say of VirtualHome."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    width: int = Field(default=320, ge=16, le=4096)
    """Pixels."""
    height: int = Field(default=240, ge=16, le=4096)
    """Pixels."""
    view: Literal["first_person", "over_the_shoulder", "top_down", "none"] = "first_person"
    """Where the picture is taken from; "none" goes without pictures."""
    verbs: Literal["all", "unity"] = "all"
    """All actions of the evolving graph, or those alone that Unity carries out too."""
    host: str = "127.0.0.1"
    """Of a Unity simulator, or a server that speaks its protocol."""
    port: int = Field(default=8080, ge=1, le=65535)
    executable: str | None = None
    """Path of VirtualHome's Unity build, started headless; None connects to one that runs."""
    timeout: float = Field(default=60.0, gt=0.0)
    """Seconds that Unity may take for an answer."""


def _make(backend: str, settings: VirtualHomeSettings) -> Env:
    from inhabit.envs.virtualhome.env import make

    return make(backend, settings)


def _sample(n: int, seed: int, settings: VirtualHomeSettings) -> Iterable[Task]:
    from inhabit.envs.virtualhome.tasks.sampling import sample

    return sample(n, seed)


def _read(source: str, settings: VirtualHomeSettings) -> Iterable[Task]:
    if source not in ("eai", "eai-all"):
        raise TaskError(
            f"VirtualHome has no tasks called {source!r}. Use 'eai' (338 goal tasks of the "
            "eai-eval package), 'eai-all' (with the four that doing nothing satisfies), --n and "
            "--seed, or a JSONL of tasks."
        )
    from inhabit.envs.virtualhome.tasks.eai import tasks

    return tasks(vacuous=source == "eai-all")


def _needs(backend: str) -> Sequence[Need]:
    from inhabit.envs.virtualhome.setup import needs

    return needs(backend)


def _lacking_tasks() -> Sequence[Need]:
    from inhabit.envs.virtualhome.setup import lacking_tasks

    return lacking_tasks()


def _prepare(backend: str, tell: Callable[[str], None]) -> None:
    from inhabit.envs.virtualhome.setup import prepare

    prepare(backend, tell)


def _template(settings: VirtualHomeSettings) -> Template:
    from inhabit.envs.virtualhome.evolution.template import VirtualHomeTemplate

    return VirtualHomeTemplate()


REGISTRATION = Registration(
    name="virtualhome",
    summary="flats to live in, over VirtualHome's evolving graph, or its Unity simulator",
    backends=("embedded", "unity"),
    settings=VirtualHomeSettings,
    make=_make,
    sample=_sample,
    read=_read,
    needs=_needs,
    lacking_tasks=_lacking_tasks,
    domain="Domestic Robot",
    packages=("numba",),
    prepare=_prepare,
    template=_template,
)
