"""`inhabit credit`: what each recorded action cost compared with the best one."""

from __future__ import annotations

from collections import Counter
from typing import Annotated, Any

import typer
from rich.table import Table
from rich.text import Text

from inhabit.episodes.commands.options import RunFolder
from inhabit.episodes.commands.output import Json, Set, Trust, answers, facts, print_json
from inhabit.episodes.commands.progress import ProgressReport
from inhabit.episodes.credit.credit import credit_run
from inhabit.episodes.credit.schema import EpisodeCredit, StepCredit, total
from inhabit.episodes.playing.from_record import env_of_run
from inhabit.episodes.recording.folder import held
from inhabit.episodes.recording.reader import RecordError, Run
from inhabit.episodes.reports.wording import counted

_WORST = 5
"""Steps that are listed."""


def credit(
    run: RunFolder,
    candidates: Annotated[
        int, typer.Option(min=0, help="Best-ranked actions to try at each step beside the chosen.")
    ] = 0,
    assignments: Set = None,
    trusted: Trust = False,
    as_json: Json = False,
) -> None:
    """Show what each action cost compared with the best one.

    Re-executes the episodes. Before and after each action, the expert solves the task in a copy of
    the state. The difference is the regret of the action. Writes credit.jsonl into the run folder.
    """
    found = Run.open(run)
    make = env_of_run(found, assignments or (), trusted=trusted)
    episodes = []
    with held(run), ProgressReport("episodes", len(found.tasks)) as progress:
        for _, one in credit_run(found, make, options=candidates):
            episodes.append(one)
            progress.advance()
    if not episodes:
        raise RecordError(f"{run}: no episode has ended yet, so there is nothing to tell.")
    _print(episodes)
    if as_json:
        print_json({"run": str(run), **_figures(episodes)})


def _figures(episodes: list[EpisodeCredit]) -> dict[str, Any]:
    steps = [step for episode in episodes for step in episode.steps]
    regret = total(step.regret for step in steps)
    lost = [step for step in steps if step.cause is not None]
    causes = Counter(step.cause.value for step in lost if step.cause is not None)
    return {
        "episodes": len(episodes),
        "steps": len(steps),
        "regret": {
            "actions": regret.actions / len(episodes),
            "steps": regret.steps / len(episodes),
        },
        "steps_with_regret": len(lost),
        "causes": dict(sorted(causes.items())),
        "closed": sum(episode.closed is not None for episode in episodes),
        "late": sum(episode.late is not None for episode in episodes),
    }


def _print(episodes: list[EpisodeCredit]) -> None:
    of = _figures(episodes)
    regret, causes = of["regret"], of["causes"]
    rows = {
        "episodes": str(of["episodes"]),
        "regret an episode": f"{regret['actions']:.1f} actions, {regret['steps']:.1f} low-level "
        "steps",
        "steps with regret": f"{of['steps_with_regret']} of {of['steps']}",
        **{f"   {cause}": str(count) for cause, count in causes.items()},
        "goal put out of reach": counted(of["closed"], "episode"),
        "no time left": counted(of["late"], "episode"),
    }
    answers().print(facts(rows.items()))
    worst = sorted(
        ((step, episode) for episode in episodes for step in episode.steps if step.cause),
        key=lambda pair: _loss(pair[0]),
        reverse=True,
    )[:_WORST]
    if worst:
        table = Table("episode", "step", "costliest actions", "regret", "cause", box=None)
        for step, episode in worst:
            cells = str(episode.episode), str(step.step), step.action or "(no action)", _said(step)
            table.add_row(*map(Text, (*cells, step.cause.value if step.cause else "")))
        answers().print(table)


def _said(step: StepCredit) -> str:
    if step.regret is None:
        return "the goal"
    low = counted(step.regret.steps, "low-level step")
    return f"{counted(step.regret.actions, 'action')}, {low}"


def _loss(step: StepCredit) -> tuple[bool, int, int]:
    regret = step.regret
    return regret is None, regret.steps if regret else 0, regret.actions if regret else 0
