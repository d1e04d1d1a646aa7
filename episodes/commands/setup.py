"""`inhabit setup`: downloads and prepares what a first run would have to wait for."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Annotated

import typer
from pydantic import BaseModel

from inhabit.agents.core import Decision
from inhabit.agents.models.local.smollm2 import prepare
from inhabit.envs.core import TaskError, UnavailableError
from inhabit.envs.registry import Registration, find
from inhabit.episodes.commands.options import Backend, EnvName
from inhabit.episodes.commands.output import Json, answers, print_json, remarks
from inhabit.episodes.episode import Episode
from inhabit.episodes.playing.plan import find_backend, make_env
from inhabit.episodes.playing.settings import RunSettings
from inhabit.episodes.playing.tasks import gather

Tell = Callable[[str], None]


def setup(
    env: EnvName,
    backend: Backend = None,
    model: Annotated[
        bool,
        typer.Option(
            "--model/--no-model", help="Also prepare the text model that `rank` uses by default."
        ),
    ] = True,
    as_json: Json = False,
) -> None:
    """Download and prepare what an environment needs.

    Also starts the environment once, which fills its caches. Can be run again at any time.
    """
    registration = find(env)
    chosen = find_backend(registration, backend)
    told: list[str] = []

    def tell(sentence: str) -> None:
        told.append(sentence)
        (remarks() if as_json else answers()).print(sentence, soft_wrap=True)

    if registration.prepare is not None:
        registration.prepare(chosen, tell)
    _start_once(registration, chosen, tell)
    if model:
        _prepare_model(tell)
    if as_json:
        print_json({"env": env, "backend": chosen, "ready": True, "told": list(told)})


def _start_once(registration: Registration, backend: str, tell: Tell) -> None:
    """Start the environment and take one step, which fills every cache that it has.

    Raises:
        UnavailableError: something is missing on this machine.
        SimulatorError: the environment did not start.
    """
    settings: BaseModel = registration.settings()
    started = time.monotonic()
    try:
        task = gather(registration, settings, n=1, seed=0, source=None)[0]
    except TaskError:
        # It has no tasks of its own, so nothing can be prepared before some are given.
        tell(f"{registration.name} ({backend}): not started, because it has no built-in tasks.")
        return
    # What is compiled or unpacked at the first start takes minutes on a busy machine.
    env = make_env(registration, backend, settings, RunSettings(deadline=600, reset_deadline=1800))
    with Episode(env, task, remember=0) as episode:
        start = episode.reset()
        _ = start.observation
        for action in start.candidates[:1]:
            _ = episode.act(Decision(action)).observation
    seconds = time.monotonic() - started
    tell(f"{registration.name} ({backend}): started and took one step in {seconds:.1f} s.")


def _prepare_model(tell: Tell) -> None:
    """Convert the weights of the small text model that `rank` asks by default."""
    started = time.monotonic()
    try:
        folder = prepare()
    except UnavailableError as error:
        # Other agents work without it.
        tell(f"SmolLM2, for --agent rank: {error}")
    else:
        seconds = time.monotonic() - started
        tell(f"SmolLM2, for --agent rank: ready in {folder} ({seconds:.1f} s).")
