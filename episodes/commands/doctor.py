"""`inhabit doctor` and `inhabit setup`: whether this machine is ready, and making it ready."""

from __future__ import annotations

import asyncio
import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import asdict
from typing import Annotated

import typer
from pydantic import BaseModel, JsonValue
from rich.table import Table
from rich.text import Text

from inhabit.agents.core import Call, Decision, ModelError, RequestError
from inhabit.agents.models import registry
from inhabit.agents.models.core import Ability, Model
from inhabit.agents.models.local.smollm2 import prepare
from inhabit.agents.models.probe import Probed, decision_cost, probe
from inhabit.envs.core import TaskError, UnavailableError
from inhabit.envs.registry import Registration, find
from inhabit.episodes.commands.options import Backend, BaseUrl, EnvName
from inhabit.episodes.commands.output import Json, Set, answers, print_json, remarks
from inhabit.episodes.episode import Episode
from inhabit.episodes.machine import CHECKS, Finding, Status
from inhabit.episodes.playing.plan import find_backend, make_env
from inhabit.episodes.playing.settings import RunSettings, at_address, divide
from inhabit.episodes.playing.tasks import gather

_LOOKS = {
    Status.OK: ("ok", "green"),
    Status.LACKING: ("missing", "yellow"),
    Status.BROKEN: ("broken", "red"),
}


def doctor(
    model: Annotated[
        str | None,
        typer.Option(
            metavar="KIND:NAME",
            help="Instead ask this model for each of its abilities, about one short request each.",
        ),
    ] = None,
    base_url: BaseUrl = None,
    assignments: Set = None,
    as_json: Json = False,
) -> None:
    """Check this machine or a model, and print fixes.

    Exit code 0; 1 if something is broken that the default environments and agents need, or if the
    model answers nothing.
    """
    if model is not None:
        works = probe_model(model, base_url, assignments or [], as_json=as_json)
        raise typer.Exit(0 if works else 1)
    if base_url is not None or assignments:
        raise typer.BadParameter("--base-url and --set belong to --model.")
    findings = [finding for check in CHECKS for finding in check()]
    broken = [finding for finding in findings if finding.state is Status.BROKEN]
    _print(findings, len(broken))
    if as_json:
        print_json({"ready": not broken, "findings": [asdict(finding) for finding in findings]})
    raise typer.Exit(1 if broken else 0)


def _print(findings: Sequence[Finding], broken: int) -> None:
    table = Table(box=None, show_header=False, pad_edge=False)
    for finding in findings:
        word, colour = _LOOKS[finding.state]
        text = Text(finding.found)
        if finding.state is not Status.OK:
            text.append(f"\nneeded for {finding.matters_to}", "dim")
            text.append(f"\nfix: {finding.fix}", "bold")
        table.add_row(Text(word, colour), Text(finding.what), text)
    console = answers()
    console.print(table)
    missing = sum(finding.state is Status.LACKING for finding in findings)
    if broken:
        console.print(f"\n{broken} broken. Apply these fixes first: the defaults need them.")
    else:
        console.print(f"\nThe defaults are ready. {missing} optional items are missing.")


_LOST = {
    Ability.IMAGES: "--set image=false for chat, or --sight none",
    Ability.SCHEMA: "--set lacks=schema: answers are parsed without it",
    Ability.TOOLS: "--set protocol=text for holmes",
    Ability.N_BEST: "--set votes=1",
    Ability.LOGPROBS: "--set lacks=logprobs: letters are generated",
}
"""Ability -> what to do without it."""


def probe_model(
    spec: str, base_url: str | None, assignments: Sequence[str], *, as_json: bool
) -> bool:
    """Ask the model `spec` for each of its abilities, and print a table.

    Returns:
        Whether it answers at all.

    Raises:
        ModelError, UnknownNameError, UnavailableError: it can't be loaded.
        SettingError: a setting is unknown or wrong.
    """
    owners: dict[str, type[BaseModel]] = {"model": registry.find(spec)[0].settings}
    there = {"model": at_address(owners["model"], base_url)}
    settings = divide(assignments, owners, there)["model"]
    with warnings.catch_warnings(record=True) as said:
        found, cost, paid = asyncio.run(_asked(spec, settings))
    calls = [*(call for one in found for call in one.calls), *paid]
    costs = {
        "requests": sum(call.requests for call in calls),
        "tokens_in": sum(call.tokens_in for call in calls),
        "tokens_out": sum(call.tokens_out for call in calls),
    }
    _print_probed(spec, found, cost, costs)
    for text in dict.fromkeys(str(one.message) for one in said):
        answers().print(Text(text))
    works = any(one.works for one in found)
    if as_json:
        rows: list[JsonValue] = [
            {"ability": one.ability.value, "works": one.works, "found": one.found} for one in found
        ]
        told: dict[str, JsonValue] = {"model": spec, "works": works, "abilities": rows}
        print_json(told | {"decision": cost or None} | costs)
    return works


async def _asked(
    spec: str, settings: BaseModel
) -> tuple[Sequence[Probed], dict[str, JsonValue], Sequence[Call]]:
    """What the model can do; what a decision costs, if it decides; and what was paid for that."""
    model, missing = await asyncio.to_thread(_loaded, spec, settings)
    found: list[Probed] = []
    cost: tuple[dict[str, JsonValue], Sequence[Call]] = {}, ()
    try:
        found = [one async for one in probe(model)]
        works = {one.ability for one in found if one.works}
        if works:
            cost = await decision_cost(model, images=Ability.IMAGES in works)
    except (ModelError, RequestError):
        pass  # The table says what fails.
    finally:
        await model.close()
    return [*found, *missing], *cost


def _loaded(spec: str, settings: BaseModel) -> tuple[Model, Sequence[Probed]]:
    """The model, with the scores that have to be switched on; or why it has none."""
    if getattr(settings, "prompt_logprobs", None) is not False:
        return registry.load(spec, settings), ()
    try:
        return registry.load(spec, settings.model_copy(update={"prompt_logprobs": True})), ()
    except ModelError as error:
        return registry.load(spec, settings), [Probed(Ability.RANK, False, str(error))]


def _print_probed(
    spec: str, found: Sequence[Probed], cost: dict[str, JsonValue], costs: dict[str, int]
) -> None:
    table = Table(box=None, show_header=False, pad_edge=False)
    for one in found:
        text = Text(one.found)
        if not one.works and one.ability in _LOST:
            text.append(f"\nwithout it: {_LOST[one.ability]}", "bold")
        table.add_row(
            Text("ok" if one.works else "no", "green" if one.works else "yellow"),
            Text(one.ability.value),
            text,
        )
    console = answers()
    console.print(table)
    if cost:
        console.print(
            "\nA decision of {agent} with {candidates} candidates and {images} images takes "
            "{requests} {word} and reads {tokens:,} tokens.".format(
                word="request" if cost["requests"] == 1 else "requests", **cost
            )
        )
    console.print(
        f"\n{spec}: {costs['requests']} answers, {costs['tokens_in']} tokens read and "
        f"{costs['tokens_out']} written."
    )


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
    """Start the environment and take one step, which fills every cache that it has."""
    settings: BaseModel = registration.settings()
    started = time.monotonic()
    try:
        task = gather(registration, settings, n=1, seed=0, source=None)[0]
    except TaskError as error:
        # Where it has no tasks of its own, nothing can be prepared before some are given.
        tell(f"{registration.name} ({backend}): not started. {error}")
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
