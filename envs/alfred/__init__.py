"""ALFRED: the seven household tasks of Shridhar et al. (2020) in AI2-THOR's 120 rooms.

Acted live through AI2-THOR's own unmodified client, on the embedded household (the default) or on
a user's own build of Unity.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence

from inhabit.envs.alfred.settings import AlfredSettings
from inhabit.envs.core import Env, Task
from inhabit.envs.registry import Need, Registration
from inhabit.envs.template import Template


def _make(backend: str, settings: AlfredSettings) -> Env:
    from inhabit.envs.alfred.env import Alfred

    return Alfred(backend, settings)


def _sample(n: int, seed: int, settings: AlfredSettings) -> Iterable[Task]:
    from inhabit.envs.alfred.scenes.rooms import Rooms
    from inhabit.envs.alfred.tasks.sampling import sample

    return sample(n, seed, settings.split, Rooms(settings.rooms, settings.cells))


def _read(source: str, settings: AlfredSettings) -> Iterable[Task]:
    from pathlib import Path

    from inhabit.envs.alfred.tasks.trajectories import read

    return read(
        Path(source),
        annotator=settings.annotator,
        bad=settings.bad_files,
        steps=settings.replay != "off",
    )


def _needs(backend: str) -> Sequence[Need]:
    if backend != "unity":
        return ()
    from pathlib import Path

    from inhabit.envs.alfred.setup import needs

    return tuple(needs(os.environ, Path.home()))


def _quickest(backend: str, settings: AlfredSettings) -> AlfredSettings:
    if backend != "embedded" or "wire" in settings.model_fields_set:
        return settings
    return settings.model_copy(update={"wire": "none"})


def _filmed(settings: AlfredSettings) -> AlfredSettings:
    return settings.model_copy(update={"clips": True, "film": "whole"})


def _template(settings: AlfredSettings) -> Template:
    from inhabit.envs.alfred.evolution.template import AlfredTemplate

    return AlfredTemplate(settings.split)


def _prepare(backend: str, tell: Callable[[str], None]) -> None:
    from inhabit.envs.alfred.setup import prepare

    prepare(backend, tell)


REGISTRATION = Registration(
    name="alfred",
    summary="ALFRED's seven household tasks in AI2-THOR's 120 rooms",
    backends=("embedded", "unity"),
    settings=AlfredSettings,
    make=_make,
    sample=_sample,
    read=_read,
    needs=_needs,
    agent="planner",
    domain="Domestic Robot",
    packages=("ai2thor", "procthor", "alfworld", "numba"),
    prepare=_prepare,
    quickest=_quickest,
    filmed=_filmed,
    template=_template,
)
