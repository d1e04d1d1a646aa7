"""`inhabit setup`: brings what pip alone can't, and does ahead of time what would delay a run."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Annotated

import typer
from pydantic import BaseModel

from inhabit.agents.models.local.smollm2 import prepare
from inhabit.envs.core import TaskError, UnavailableError
from inhabit.envs.registry import Registration, find
from inhabit.episodes.commands.output import Json, answers, print_json, remarks
from inhabit.episodes.running.plan import find_backend, make_env
from inhabit.episodes.running.settings import RunSettings
from inhabit.episodes.running.tasks import gather

Tell = Callable[[str], None]


def setup(
    env: Annotated[str, typer.Argument(help="An environment that `inhabit envs` names.")],
    backend: Annotated[str | None, typer.Option(help="The simulator behind it.")] = None,
    as_json: Json = False,
) -> None:
    """Make an environment ready, so that its first run starts at once. Can be run twice."""
    registration = find(env)
    chosen = find_backend(registration, backend)
    told: list[str] = []

    def tell(sentence: str) -> None:
        told.append(sentence)
        (remarks() if as_json else answers()).print(sentence, soft_wrap=True)

    if registration.prepare is not None:
        registration.prepare(chosen, tell)
    _try_out(registration, chosen, tell)
    _prepare_model(tell)
    if as_json:
        print_json({"env": env, "backend": chosen, "ready": True, "told": list(told)})


def _try_out(registration: Registration, backend: str, tell: Tell) -> None:
    """Start it once and take a step: fills every cache that it has.

    Raises:
        UnavailableError: it lacks something on this machine; says what brings it.
        SimulatorError: it did not start.
    """
    settings: BaseModel = registration.settings()
    began = time.monotonic()
    try:
        task = gather(registration, settings, n=1, seed=0, source=None)[0]
    except TaskError:
        # It has no tasks of its own, so there is nothing to prepare before some are given.
        tell(f"{registration.name} ({backend}): nothing to try out without tasks.")
        return
    with make_env(registration, backend, settings, RunSettings()) as env:
        env.reset(task, seed=0)
        env.observe()
        for action in env.actions()[:1]:
            env.act(action)
            env.observe()
    seconds = time.monotonic() - began
    tell(f"{registration.name} ({backend}): started and stepped once, in {seconds:.1f} s.")


def _prepare_model(tell: Tell) -> None:
    """Convert the small text model that `rank` asks by default, where its package is here."""
    began = time.monotonic()
    try:
        folder = prepare()
    except UnavailableError as error:
        # Other agents do without it.
        tell(f"SmolLM2, for --agent rank: {error}")
    else:
        tell(f"SmolLM2, for --agent rank: in {folder}, after {time.monotonic() - began:.1f} s.")
