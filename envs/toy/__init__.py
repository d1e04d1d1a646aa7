"""A tiny house of three rooms: instant, pure Python, with pictures. For testing what stands above.

Everything an environment can do, it does: expert, forks, tools, privileged state.
"""

from __future__ import annotations

from collections.abc import Iterable

from pydantic import BaseModel, ConfigDict, Field

from inhabit.envs.core import Env, Task, TaskError
from inhabit.envs.registry import Registration
from inhabit.envs.template import Template


class ToySettings(BaseModel):
    """What `--set` may say of the toy house."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    pixels: int = Field(default=96, ge=16, le=1024)
    """Side of the square picture."""
    delay: float = Field(default=0.0, ge=0.0, le=60.0)
    """Seconds that every action takes, to stand in for a slow simulator."""


def _make(backend: str, settings: ToySettings) -> Env:
    from inhabit.envs.toy.env import Toy

    return Toy(settings)


def _sample(n: int, seed: int, settings: ToySettings) -> Iterable[Task]:
    from inhabit.envs.toy.tasks import sample

    return sample(n, seed)


def _read(source: str, settings: ToySettings) -> Iterable[Task]:
    raise TaskError(
        f"The toy house has no tasks called {source!r}. Use --n and --seed, or a JSONL of tasks "
        "such as `inhabit tasks toy` prints."
    )


def _template(settings: ToySettings) -> Template:
    from inhabit.envs.toy.evolve import ToyTemplate

    return ToyTemplate()


REGISTRATION = Registration(
    name="toy",
    summary="a tiny house of three rooms, instant, for tests",
    backends=("grid",),
    domain="Domestic Robot",
    settings=ToySettings,
    make=_make,
    sample=_sample,
    read=_read,
    template=_template,
)
