"""`inhabit replan`: asks another agent or model about every recorded step."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Annotated

import typer
from pydantic import JsonValue

from inhabit.agents.deciding import close_agent
from inhabit.envs.host.credentials import redact
from inhabit.episodes.commands.options import BaseUrl, OneEpisode, PageFile, RunFolder
from inhabit.episodes.commands.output import Json, Set, Trust, answers, print_json, remarks
from inhabit.episodes.commands.progress import ProgressReport
from inhabit.episodes.playing import replan as replanning
from inhabit.episodes.playing.from_record import plan_like
from inhabit.episodes.playing.plan import RunPlan
from inhabit.episodes.recording.disk import write_text
from inhabit.episodes.recording.reader import EpisodeRecord, RecordError, Run
from inhabit.episodes.recording.schema import Sight
from inhabit.episodes.scoring.builtin_metrics import wilson
from inhabit.episodes.view import LackingError


def replan(
    run: RunFolder,
    model: Annotated[
        str | None,
        typer.Option(metavar="KIND:NAME", help="Model to ask. [default: that of the run]"),
    ] = None,
    agent: Annotated[
        str | None,
        typer.Option(
            metavar="NAME", help="Agent to ask, or FILE.py:NAME. [default: that of the run]"
        ),
    ] = None,
    base_url: BaseUrl = None,
    episode: OneEpisode = None,
    at_once: Annotated[int, typer.Option(min=1, help="Steps to ask about in parallel.")] = 4,
    out: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="File to write every step and answer to, as JSONL."),
    ] = None,
    page: PageFile = None,
    assignments: Set = None,
    trusted: Trust = False,
    as_json: Json = False,
) -> None:
    """Ask another agent or model about recorded steps.

    Needs no simulator. Prints how often both choose the same action.
    """
    found = Run.open(run)
    plan = plan_like(
        found.header,
        where=run,
        agent=agent,
        model=model,
        base_url=base_url,
        assignments=assignments or (),
        trusted=trusted,
    )
    if plan.agent.needs:
        raise LackingError(
            f"The agent {plan.agent.name!r} needs {', '.join(sorted(plan.agent.needs))}, which a "
            "recorded run cannot provide. Name another agent with --agent."
        )
    if plan.sight is Sight.OTHER:
        raise LackingError(
            "Pictures of another room are not on record, so no step can be asked again."
        )
    chosen = list(found.episodes()) if episode is None else [found.find(episode)]
    steps = asyncio.run(_ask(plan, chosen, at_once))
    if not steps:
        raise RecordError(f"{run}: no step is recorded yet, so there is nothing to ask about.")
    if out is not None:
        lines = [json.dumps(_row(step), ensure_ascii=False) + "\n" for step in steps]
        write_text(out, out.parent, redact("".join(lines)))
    if page is not None:
        _write_page(page, found, plan, steps)
    agreed = sum(step.agrees for step in steps)
    low, high = wilson(agreed, len(steps))
    answers().print(
        f"{agreed} of {len(steps)} steps agree: {100 * agreed / len(steps):.1f} % "
        f"(95 % interval: {100 * low:.1f} to {100 * high:.1f} %)"
    )
    if faults := [step.error for step in steps if step.error is not None]:
        told = f"At {len(faults)} of {len(steps)} steps the model failed: {faults[0]}"
        remarks().print(told, soft_wrap=True)
    if unseen := sum(step.unseen for step in steps):
        remarks().print(
            f"{unseen} of {len(steps)} steps were asked without their image: it was not recorded "
            "(frames=false), or can't be read.",
            soft_wrap=True,
        )
    if as_json:
        print_json(
            {
                "run": str(run),
                "agent": plan.agent.name,
                "model": plan.model,
                "steps": len(steps),
                "agreement": agreed / len(steps),
                "interval": [low, high],
                "faults": len(faults),
                "by_step": _by_step(steps),
            }
        )


async def _ask(
    plan: RunPlan, episodes: list[EpisodeRecord], at_once: int
) -> list[replanning.Replanned]:
    agent = plan.make_agent(plan.load_model())
    steps: list[replanning.Replanned] = []
    try:
        with ProgressReport("episodes", len(episodes)) as progress:
            for episode in episodes:
                asked = replanning.replan(
                    episode,
                    agent,
                    sight=plan.sight,
                    remember=plan.run_settings.remember,
                    at_once=at_once,
                )
                steps += [step async for step in asked]
                progress.advance()
    finally:
        await close_agent(agent)
    return steps


def _write_page(file: Path, run: Run, plan: RunPlan, steps: list[replanning.Replanned]) -> None:
    from inhabit.episodes.reports.page.differences import replan_items, write_differences

    name = run.folder.resolve().name
    asked = plan.agent.name if plan.model is None else f"{plan.agent.name} with {plan.model}"
    facts = {"Steps": str(len(steps)), "Agree": str(sum(step.agrees for step in steps))}
    title = f"{name}, replanned by {asked}"
    write_differences(file, title, (name, asked), facts, replan_items(steps, file))
    answers().print(str(file), soft_wrap=True)


def _row(step: replanning.Replanned) -> dict[str, JsonValue]:
    decision = step.decision
    return {
        "episode": step.episode.number,
        "id": step.episode.task.id,
        "step": step.step,
        "recorded": step.recorded.action,
        "action": decision.action.text if decision and decision.action else None,
        "stop": decision is not None and decision.stop,
        "raw": decision.raw if decision else "",
        "agrees": step.agrees,
        "error": step.error,
    }


def _by_step(steps: list[replanning.Replanned]) -> list[JsonValue]:
    numbers = sorted({step.step for step in steps})
    return [
        {
            "step": number,
            "steps": sum(step.step == number for step in steps),
            "agree": sum(step.agrees for step in steps if step.step == number),
        }
        for number in numbers
    ]
