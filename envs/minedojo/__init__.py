"""MineDojo's names on a voxel world: Luanti with our mod, or MineDojo itself for its spaces."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from pydantic import BaseModel, ConfigDict, Field

from inhabit.envs.core import Env, Task
from inhabit.envs.registry import Need, Registration
from inhabit.envs.template import Template


class MineDojoSettings(BaseModel):
    """What `--set` may say of MineDojo."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    width: int = Field(default=256, ge=64, le=3840)
    """Pixels; a scene's `image_size` goes before."""
    height: int = Field(default=160, ge=64, le=2160)
    """Pixels."""
    deadline: int = Field(default=2400, ge=20, le=100_000)
    """Ticks (1/20 s of the game) that one action may take."""
    tasks: str | None = None
    """A `minedojo` wheel, or the folder of an installed one, that its tasks are read from; None
    looks where `inhabit setup minedojo` puts it."""
    python: str | None = None
    """Backend minedojo: an interpreter that can import it; None takes the one that `inhabit setup
    minedojo --backend minedojo` makes."""
    launch: float = Field(default=900.0, gt=0, le=7200)
    """Backend minedojo: seconds that Minecraft may take to start. The first time it is built."""


def _make(backend: str, settings: MineDojoSettings) -> Env:
    if backend == "minedojo":
        from inhabit.envs.minedojo.real.env import RealMineDojo

        return RealMineDojo(settings)
    from inhabit.envs.minedojo.env import MineDojo

    return MineDojo(settings)


def _sample(n: int, seed: int, settings: MineDojoSettings) -> Iterable[Task]:
    from inhabit.envs.minedojo.tasks.sampling import sample

    return sample(n, seed)


def _read(source: str, settings: MineDojoSettings) -> Iterable[Task]:
    from inhabit.envs.minedojo.tasks.official import read

    return read(source, settings.tasks)


def _needs(backend: str) -> Sequence[Need]:
    from inhabit.envs.minedojo.setup import needs

    return needs(backend)


def _prepare(backend: str, tell: Callable[[str], None]) -> None:
    from inhabit.envs.minedojo.setup import prepare

    prepare(backend, tell)


def _template(settings: MineDojoSettings) -> Template:
    from inhabit.envs.minedojo.evolution.template import MineDojoTemplate

    return MineDojoTemplate()


REGISTRATION = Registration(
    name="minedojo",
    summary="a voxel world under MineDojo's names: harvest, combat, tech tree, survival",
    backends=("luanti", "minedojo"),
    domain="Open-World Game",
    settings=MineDojoSettings,
    make=_make,
    sample=_sample,
    read=_read,
    needs=_needs,
    packages=("minecraft-data",),
    prepare=_prepare,
    template=_template,
)
