"""`inhabit judge` scores perception, cognition and action at every step of a run; `inhabit credit`
tells what each recorded action cost compared with the best one.
"""

from __future__ import annotations

import asyncio
import sys
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Annotated, Any

import typer
from pydantic import BaseModel, JsonValue
from rich.table import Table
from rich.text import Text

from inhabit.agents.core import ModelError
from inhabit.agents.models import registry as models
from inhabit.agents.models.core import Ability
from inhabit.envs.core import Env
from inhabit.envs.registry import find
from inhabit.episodes.commands.options import BaseUrl, RunFolder
from inhabit.episodes.commands.output import (
    Json,
    Set,
    Trust,
    answers,
    facts,
    print_json,
    tell_unended,
)
from inhabit.episodes.commands.progress import ProgressReport
from inhabit.episodes.credit.credit import credit_run
from inhabit.episodes.credit.schema import EpisodeCredit, StepCredit, total
from inhabit.episodes.judging import sheet
from inhabit.episodes.judging.chat import ChatJudge
from inhabit.episodes.judging.oracle import Oracle
from inhabit.episodes.judging.schema import StepLine, file_of, judged
from inhabit.episodes.judging.scores import Dimension, Judge
from inhabit.episodes.judging.sheet import Kappa, kappa
from inhabit.episodes.judging.summary import KindSummary, PartScore, Summary, calibration, summarize
from inhabit.episodes.judging.walk import judge_run
from inhabit.episodes.playing.from_record import env_of_run
from inhabit.episodes.playing.settings import SettingError, assigned, at_address, divide
from inhabit.episodes.recording.disk import write_text
from inhabit.episodes.recording.folder import held
from inhabit.episodes.recording.reader import RecordError, Run
from inhabit.episodes.reports.wording import counted

Agreement = Mapping[Dimension, Kappa]


def judge(
    run: RunFolder,
    by: Annotated[
        str,
        typer.Option(
            "--judge",
            metavar="oracle|KIND:NAME",
            help="Who judges: the simulator state (oracle) or a chat model.",
        ),
    ] = Oracle.name,
    base_url: BaseUrl = None,
    assignments: Set = None,
    sample: Annotated[
        int | None,
        typer.Option(min=1, help="With --csv: number of steps to sample. [default: all]"),
    ] = None,
    as_csv: Annotated[
        bool,
        typer.Option("--csv", help="Print a CSV sheet for human annotators instead of scores."),
    ] = False,
    labels: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Annotated CSV sheet; prints Cohen's kappa with the judge."
        ),
    ] = None,
    against: Annotated[
        str | None,
        typer.Option(
            metavar="oracle|KIND:NAME",
            help="Another judge of this run; prints Cohen's kappa with it.",
        ),
    ] = None,
    plot: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="SVG file for the reliability diagram of ranked actions."
        ),
    ] = None,
    trusted: Trust = False,
    as_json: Json = False,
) -> None:
    """Score perception, cognition and action at every step.

    Re-executes the episodes to know what was right at each step. Episodes that this judge has
    scored before are not scored again.
    """
    if sample is not None and not as_csv:
        raise typer.BadParameter("--sample needs --csv.")
    if as_csv and (as_json or labels or against or plot):
        raise typer.BadParameter("--csv excludes --json, --labels, --against and --plot.")
    if labels and against:
        raise typer.BadParameter("--labels and --against exclude each other: give one at a time.")
    found = Run.open(run)
    of_env, of_judge = _divided(found, by, assignments or [])
    make = env_of_run(found, of_env, trusted=trusted)
    with held(run / "judgements", inside=run):
        asyncio.run(_judge(found, _make_judge(by, base_url, of_judge), make))
    steps, episodes = judged(found, file_of(found, by))
    if not episodes:
        raise RecordError(f"{run}: no episode has ended yet, so there is nothing to judge.")
    tell_unended([found])
    if as_csv:
        sheet.write(sheet.draw(steps, sample or len(steps)), found, sys.stdout)
        return
    agreement = _agreement(found, steps, labels, against)
    summary = summarize(str(run), by, steps, episodes)
    _print(summary, agreement)
    if plot is not None:
        _draw(steps, plot)
    if as_json:
        plain: JsonValue = summary.model_dump(mode="json")
        assert isinstance(plain, dict)
        print_json({**plain, "agreement": {part.value: _row(k) for part, k in agreement.items()}})


def _divided(run: Run, by: str, assignments: list[str]) -> tuple[list[str], list[str]]:
    """What is set of the environment, and what of the judge's model."""
    owners: dict[str, type[BaseModel]] = {"env": find(run.header.env).settings}
    if by != Oracle.name:
        owners["model"] = models.find(by)[0].settings
    of_env: list[str] = []
    of_judge: list[str] = []
    for one in assignments:
        (owner, _), *_ = assigned([one], owners)
        (of_env if owner == "env" else of_judge).append(one)
    return of_env, of_judge


async def _judge(run: Run, who: Judge, make: Callable[[], Env]) -> None:
    try:
        _, done = judged(run, file_of(run, who.name))
        with ProgressReport("episodes", len(run.tasks), done=len(done)) as progress:
            await judge_run(run, who, make, watch=lambda _: progress.advance())
    finally:
        await who.close()


def _make_judge(by: str, base_url: str | None, given: list[str]) -> Judge:
    if by == Oracle.name:
        if base_url is not None:
            raise SettingError("The oracle asks no model: remove --base-url.")
        return Oracle()
    kind = models.find(by)[0].settings
    there = {"model": at_address(kind, base_url)}
    model = models.load(by, divide(given, {"model": kind}, there)["model"])
    if Ability.WORDS not in model.abilities:
        raise ModelError(f"{by} generates no text, so it cannot judge.")
    return ChatJudge(model, name=by)


def _agreement(
    run: Run, steps: list[StepLine], labels: Path | None, against: str | None
) -> Agreement:
    """Kappa per part with what people, or another judge, say of the same steps."""
    theirs: dict[tuple[int, int], Mapping[Dimension, int]] = {}
    if labels is not None:
        theirs.update(sheet.read(labels))
    if against is not None:
        others, _ = judged(run, file_of(run, against))
        if not others:
            raise RecordError(
                f"{against!r} has not judged {run.folder}. Run `inhabit judge "
                f"{run.folder} --judge {against}` first."
            )
        theirs.update(((step.episode, step.step), _scores(step)) for step in others)
    found: dict[Dimension, Kappa] = {}
    for part in Dimension if theirs else ():
        pairs = [
            (ours[part], other[part])
            for step in steps
            if part in (ours := _scores(step))
            and part in (other := theirs.get((step.episode, step.step), {}))
        ]
        if pairs:
            found[part] = kappa([a for a, _ in pairs], [b for _, b in pairs])
    return found


def _scores(step: StepLine) -> Mapping[Dimension, int]:
    verdicts = {part: step.judged.of(part).score for part in Dimension}
    return {part: score for part, score in verdicts.items() if score is not None}


def _print(summary: Summary, agreement: Agreement) -> None:
    columns = ("P", "C", "A", "genuine", "chance", "always first", "steps", "no action")
    table = Table("task type", *columns, box=None)
    for name, domain in (*summary.domains.items(), ("all", summary.overall)):
        table.add_row(
            Text(name, overflow="fold"), *_cells(domain), str(domain.steps), str(domain.abstained)
        )
    console = answers()
    console.print(table)
    overall = summary.overall
    for part in ("perception", "cognition", "action", "genuine"):
        console.print(f"{part}: {_sentence(getattr(overall, part))}")
    for what, counts in (
        ("first mistake in", summary.first_mistakes),
        ("consequence", summary.consequences),
        ("failure types", summary.failures),
    ):
        said = ", ".join(f"{name} {n}" for name, n in counts.items() if n) or "none"
        console.print(f"{what}: {said}")
    console.print(f"episodes that recovered from their first mistake: {summary.recovered}")
    if summary.calibration_error is not None:
        console.print(
            f"expected calibration error of ranked actions: {summary.calibration_error:.3f}"
        )
    for part, one in agreement.items():
        console.print(
            f"kappa, {part.value}: {one.value:.2f} (95 % interval: {one.low:.2f} to "
            f"{one.high:.2f}), "
            f"{one.items} steps"
        )


def _draw(steps: list[StepLine], file: Path) -> None:
    calibrated = calibration(steps)
    if calibrated is None:
        raise RecordError("This run has no ranked actions, so there is no confidence to plot.")
    write_text(file, file.parent, calibrated.svg())


def _cells(domain: KindSummary) -> list[str]:
    parts = (domain.perception, domain.cognition, domain.action, domain.genuine)
    return [*map(_number, (*(part.mean for part in parts), domain.chance, domain.always_first))]


def _sentence(score: PartScore) -> str:
    if score.mean is None or score.interval is None:
        return "unjudged" if score.given else "not given"
    low, high = score.interval
    judged = f"{score.judged} of {score.given} judged"
    return f"{score.mean:.3f} (95 % interval: {low:.3f} to {high:.3f}; {judged})"


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.2f}"


def _row(one: Kappa) -> JsonValue:
    return {
        "kappa": None if one.value != one.value else one.value,
        "interval": None if one.low != one.low else [one.low, one.high],
        "items": one.items,
        "agreeing": one.agreeing,
    }


_WORST = 5
"""Steps that are listed, at most."""


def credit(
    run: RunFolder,
    candidates: Annotated[
        int,
        typer.Option(min=0, help="Best-ranked actions to try at each step beside the chosen one."),
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
    with held(run, inside=run), ProgressReport("episodes", len(found.tasks)) as progress:
        for _, one in credit_run(found, make, options=candidates):
            episodes.append(one)
            progress.advance()
    if not episodes:
        raise RecordError(f"{run}: no episode has ended yet, so there is nothing to tell.")
    tell_unended([found])
    _print_credit(episodes)
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


def _print_credit(episodes: list[EpisodeCredit]) -> None:
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
