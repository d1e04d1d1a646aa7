"""`inhabit run`: runs episodes, records them, and prints the metrics."""

from __future__ import annotations

import asyncio
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, nullcontext
from dataclasses import replace
from functools import partial
from pathlib import Path
from threading import Thread
from typing import Annotated, Literal

import typer
from rich.console import Console

from inhabit.agents.core import Agent, Grant
from inhabit.envs.core import Task
from inhabit.envs.errors import ExitCode
from inhabit.envs.registry import find
from inhabit.episodes.commands.interrupt import interruptible
from inhabit.episodes.commands.options import (
    Backend,
    BaseUrl,
    EnvName,
    Kinds,
    Ray,
    Rooms,
    complete_agent,
    names_in,
)
from inhabit.episodes.commands.output import Json, Set, answers, facts, print_json, remarks
from inhabit.episodes.commands.progress import ProgressReport
from inhabit.episodes.playing.plan import RunPlan, plan
from inhabit.episodes.playing.run import Watch, record_run, resumed, unfinished
from inhabit.episodes.playing.settings import RunSettings, check_cluster
from inhabit.episodes.playing.tasks import gather, next_room
from inhabit.episodes.recording.folder import begin, check_model, folder_of, held
from inhabit.episodes.recording.index import Index
from inhabit.episodes.recording.reader import EpisodeRecord, Run
from inhabit.episodes.recording.schema import Choice, EndLine, Sight
from inhabit.episodes.reports.wording import counted
from inhabit.episodes.scoring.builtin_metrics import SUCCESS
from inhabit.episodes.scoring.scores import Measured, Scores, score
from inhabit.episodes.scoring.sight import sight_rows


def run(
    env: EnvName,
    out: Annotated[
        Path,
        typer.Option(
            metavar="FOLDER",
            help="Folder to record into. If it holds a run of the same command, that run is "
            "continued.",
        ),
    ],
    agent: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            autocompletion=complete_agent,
            help="Agent that acts, from `inhabit agents`, or a class, object or function "
            "in a file, as FILE.py:NAME. "
            "[default: the environment's own agent, where it has one]",
        ),
    ] = None,
    model: Annotated[
        str | None,
        typer.Option(
            metavar="KIND:NAME",
            help="Model that the agent asks, such as local:smollm2 or openai:NAME. [default: the "
            "agent's own]",
        ),
    ] = None,
    base_url: BaseUrl = None,
    backend: Backend = None,
    n: Annotated[
        int | None,
        typer.Option("--n", min=1, help="Number of tasks. [default: all tasks of --tasks]"),
    ] = None,
    seed: Annotated[
        int, typer.Option(help="Seed of the sampled tasks, the episodes and the agent.")
    ] = 0,
    tasks: Annotated[
        str | None,
        typer.Option(
            metavar="SOURCE",
            help="Where tasks come from: a .jsonl file, a frozen task set, or a folder or name "
            "that the environment reads. [default: sample --n tasks]",
        ),
    ] = None,
    kinds: Kinds = None,
    rooms: Rooms = None,
    workers: Annotated[int, typer.Option(min=1, help="Episodes to run in parallel.")] = 1,
    max_steps: Annotated[
        int | None,
        typer.Option(min=1, help="Actions per episode, at most. [default: each task's own limit]"),
    ] = None,
    candidates: Annotated[
        Choice | None,
        typer.Option(
            help="Actions the agent chooses from: every action that the environment can express "
            "(vocabulary), those plausible from what was observed (seen), or those that would "
            "succeed (oracle, privileged). The last two are listed among the grants. [default: "
            "vocabulary; seen for the agent human]"
        ),
    ] = None,
    sight: Annotated[
        Literal["shown", "blank", "none", "other", "all"],
        typer.Option(
            help="Images the agent is given: its own (shown), black ones (blank), none, those of "
            "another room (other); or all four, one run after the other, to measure what its own "
            "are worth. The other three lie in FOLDER/sights."
        ),
    ] = "shown",
    grant: Annotated[
        list[Grant] | None,
        typer.Option(
            help="Give the agent privileged access: the expert's plan (expert), trying actions in "
            "a copy of the scene (lookahead), or questions to the simulator (tools). Repeat for "
            "more. What an agent needs is granted without this option."
        ),
    ] = None,
    retry_faults: Annotated[
        bool | None,
        typer.Option(
            "--retry-faults/--no-retry-faults",
            help="Play episodes again that a fault of the model or a spent budget has ended. "
            "[default: only those without a step]",
        ),
    ] = None,
    ray: Ray = False,
    assignments: Set = None,
    as_json: Json = False,
) -> None:
    """Run an agent on tasks and record every step.

    The same command continues an interrupted run; with a larger --n it adds tasks to it.
    """
    if n is None and tasks is None:
        raise typer.BadParameter("Give a number of tasks (--n) or a source of tasks (--tasks).")
    decides = agent or find(env).agent
    if decides is None:
        raise typer.BadParameter(
            f"{env} has no agent of its own: name one with --agent. `inhabit agents` lists them."
        )
    if retry_faults is not None:
        assignments = [*(assignments or ()), f"run.retry_faults={retry_faults}"]
    chosen = plan(
        env,
        decides,
        backend=backend,
        model=model,
        base_url=base_url,
        assignments=assignments or (),
        candidates=candidates,
        grants=grant or (),
        max_steps=max_steps,
        seed=seed,
    )
    check_cluster(chosen.run_settings, ray=ray)
    gathered = gather(
        chosen.env,
        chosen.settings["env"],
        n=n,
        seed=seed,
        source=tasks,
        kinds=names_in(kinds),
        rooms=names_in(rooms),
    )
    sights = tuple(Sight) if sight == "all" else (Sight(sight),)
    if Sight.OTHER in sights:
        next_room(gathered, gathered[0])  # Before an episode is spent.
    play = play_on_cluster if ray else _play
    with held(out):
        for one in sights:
            folder = folder_of(out, one) if sight == "all" else out
            with held(folder, out) if folder != out else nullcontext():
                if len(sights) > 1:
                    remarks().print(f"--sight {one}: {folder}", soft_wrap=True)
                playing = play(replace(chosen, sight=one), gathered, folder, workers)
                asyncio.run(interruptible(playing, out))
        found = Run.open(out)
        index = Index(found)
        scores = score(found, index)
        ends = list(index.ends())
    console = remarks() if as_json else answers()
    print_scores(scores, console)
    print_faults(ends, console)
    if as_json:
        print_json(scores)
    if scores.episodes == scores.faults:
        raise typer.Exit(int(ExitCode.STOPPED))


async def _play(chosen: RunPlan, tasks: Sequence[Task], out: Path, workers: int) -> Run:
    watching = partial(_with_bar, chosen.run_settings)
    return await record_run(
        chosen, tasks, out, command=command_line(), workers=workers, watching=watching
    )


@contextmanager
def _with_bar(settings: RunSettings, run: Run, agent: Agent) -> Iterator[Watch]:
    with ExitStack() as stack:
        if agent.interactive:
            address = stack.enter_context(_live_page(run))
            remarks().print(f"Live page with full-size images: {address}", soft_wrap=True)
        bar = stack.enter_context(
            EpisodeProgress(len(run.tasks), ended_before(run, settings), silent=agent.interactive)
        )
        yield bar.ended


@contextmanager
def _live_page(run: Run) -> Iterator[str]:
    """Serve the run's page on this machine, as `inhabit watch` does."""
    from inhabit.episodes.reports.page.watch import PageServer

    with PageServer(run) as server:
        serving = Thread(target=server.serve_forever, name="live page", daemon=True)
        serving.start()
        try:
            yield server.address
        finally:
            server.shutdown()


async def play_on_cluster(chosen: RunPlan, tasks: Sequence[Task], out: Path, workers: int) -> Run:
    """Play `tasks` into `out` on a Ray cluster, or continue the run there.

    Raises:
        SettingError: the model has a budget, which no cluster keeps, or the agent is in a file.
        UserError: as `record_run`.
    """
    # Ray takes seconds to import, and few installations have it.
    from inhabit.episodes.cluster.jobs import connected
    from inhabit.episodes.cluster.run import check_plan, probe, run_on_cluster

    check_plan(chosen)
    found = resumed(chosen, tasks, out, command_line())
    if found is not None and next(unfinished(found, chosen.run_settings), None) is None:
        return found
    async with connected(chosen.run_settings.ray_address):
        header = await probe(chosen, tasks, command_line())
        if found is None:
            found = begin(out, header, tasks)
        elif header.model_details:
            check_model(found, header.model_details, chosen.without_effect())
        with EpisodeProgress(len(found.tasks), ended_before(found, chosen.run_settings)) as bar:
            await run_on_cluster(found, chosen, workers=workers, watch=bar.ended)
    return found


def command_line() -> Sequence[str]:
    """The words of this command."""
    return ["inhabit", *sys.argv[1:]]


class EpisodeProgress(ProgressReport):
    """Episodes that have ended, the success rate so far, faults and tokens."""

    def __init__(self, total: int, ends: Iterable[EndLine], *, silent: bool = False) -> None:
        self._ended = self._solved = self._faults = self._tokens = 0
        for end in ends:
            self._count(end)
        super().__init__("episodes", total, done=self._ended, note=self._rate(), silent=silent)

    def ended(self, episode: EpisodeRecord, end: EndLine) -> None:
        """Count an episode that has ended."""
        self._count(end)
        self.advance(note=self._rate())

    def _count(self, end: EndLine) -> None:
        self._ended += 1
        self._solved += end.success
        self._faults += end.is_fault
        self._tokens += end.tokens.read + end.tokens.written

    def _rate(self) -> str:
        if not self._ended:
            return ""
        faults = f", {counted(self._faults, 'fault')}" if self._faults else ""
        tokens = f", {self._tokens:,} tokens" if self._tokens else ""
        return f"{100 * self._solved / self._ended:.0f} % solved{faults}{tokens}"


def ended_before(run: Run, settings: RunSettings) -> Iterator[EndLine]:
    """The ends of the episodes that are not played again."""
    return (end for end in Index(run).ends() if end and not settings.plays_again(end))


_MOST_KINDS = 12
"""Task types that get a row each; more would hide the other rows."""
_MOST_CAUSES = 3
"""Causes of faults that are printed."""
_LONGEST_CAUSE = 400
"""Characters of a cause that is printed, at most."""


def print_scores(scores: Scores, console: Console) -> None:
    """Print the metrics of a run."""
    seconds = scores.seconds
    read = f"{scores.tokens.read:,} read, {scores.tokens.written:,} written"
    success, *others = [(one.metric.title, str(one)) for one in scores.measured()]
    rows = [
        ("episodes", f"{scores.episodes} of {scores.planned}"),
        (success[0], success[1] + _faults(scores)),
        *_by_kind(scores),
        *_by_benchmark(scores),
        *others,
        *([] if scores.sight is None else sight_rows(scores.sight)),
        ("endings", ", ".join(f"{k.value} {v}" for k, v in scores.endings.items() if v) or "none"),
        ("attempts", str(scores.attempts)),
        ("steps", str(scores.steps)),
        *([("tokens", read)] if scores.tokens.read else ()),
        (
            "seconds",
            f"simulator {seconds.simulator:.1f}, model {seconds.model:.1f}, "
            f"record {seconds.record:.1f}, other {seconds.other:.1f}",
        ),
        ("run folder", scores.run),
    ]
    console.print(facts(rows))


def print_faults(ends: Iterable[EndLine | None], console: Console) -> None:
    """Print what ended episodes early, by a fault or a spent budget: the most frequent first.

    Goals that hold at the start are told too: such a task is a mistake of who wrote it.
    """
    ended = [end for end in ends if end is not None]
    if solved := sum(end.success and not end.steps for end in ended):
        console.print(f"\n{counted(solved, 'episode')} solved at the start, without an action.")
    # The sentence that an error begins with, without what the simulator printed.
    causes = Counter(
        next(iter(end.error.strip().splitlines()), "")[:_LONGEST_CAUSE]
        for end in ended
        if end.error
    )
    if not causes:
        return
    console.print(f"\n{counted(causes.total(), 'episode')} ended early:", style="bold")
    for cause, count in causes.most_common(_MOST_CAUSES):
        console.print(f"  {count} x {cause}", soft_wrap=True)
    if (others := len(causes) - _MOST_CAUSES) > 0:
        console.print(f"  and {others} other causes; the page of each episode has its own.")


def _by_benchmark(scores: Scores) -> list[tuple[str, str]]:
    """A line for each metric of the benchmark that was run."""
    if (found := scores.benchmark) is None:
        return []
    values = {name: f"{value:g}" for name, value in found.metrics.items()} | {
        name: f"failed: it {why}" for name, why in found.failed.items()
    }
    return [
        ("benchmark", f"{found.name}, version {found.version}"),
        *((f"  {name}", value) for name, value in values.items()),
    ]


def _by_kind(scores: Scores) -> list[tuple[str, str]]:
    if not 1 < len(scores.kinds) <= _MOST_KINDS:
        return []
    return [
        (
            f"  {kind}",
            f"{Measured(SUCCESS, one.success_rate, one.success_interval)} of {one.episodes}",
        )
        for kind, one in scores.kinds.items()
    ]


def _faults(scores: Scores) -> str:
    return f", {scores.faults} of {scores.episodes} ended by a fault" if scores.faults else ""
