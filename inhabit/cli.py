"""The command `inhabit`: its commands, and what it says and returns where something is wrong."""

from __future__ import annotations

import sys
from collections.abc import Sequence

import typer

from inhabit.agents.core import ModelError
from inhabit.eie.commands.export import export
from inhabit.eie.commands.photographs import photographs
from inhabit.eie.commands.show import show
from inhabit.eie.commands.synth import synth
from inhabit.eie.commands.tune import tune
from inhabit.eie.sets.folder import SetError
from inhabit.eie.tuning.settings import TuneError
from inhabit.envs.core import SimulatorError, TaskError, UnavailableError, UnknownNameError
from inhabit.episodes.commands.agents import agents
from inhabit.episodes.commands.compare import compare
from inhabit.episodes.commands.doctor import doctor
from inhabit.episodes.commands.fork import fork
from inhabit.episodes.commands.judge import judge
from inhabit.episodes.commands.listing import envs, tasks
from inhabit.episodes.commands.output import remarks
from inhabit.episodes.commands.replan import replan
from inhabit.episodes.commands.replay import replay
from inhabit.episodes.commands.run import run
from inhabit.episodes.commands.setup import setup
from inhabit.episodes.commands.watch import watch
from inhabit.episodes.recording.disk import DiskError
from inhabit.episodes.recording.reader import RecordError
from inhabit.episodes.replaying.fork import ForkError
from inhabit.episodes.replaying.replay import IncomparableError
from inhabit.episodes.replaying.resume import DivergedError
from inhabit.episodes.running.settings import SettingError
from inhabit.episodes.running.view import LackingError
from inhabit.episodes.scoring.comparison import MixedError

_COMMANDS = (
    envs,
    agents,
    doctor,
    setup,
    tasks,
    run,
    replay,
    fork,
    judge,
    compare,
    replan,
    show,
    watch,
    synth,
    photographs,
    tune,
    export,
)

STOPPED, MISTAKEN, CANNOT_START = 1, 2, 3
"""Exit codes: the disk stopped a run, the command is wrong, an environment can't start."""


def app() -> typer.Typer:
    """All commands."""
    made = typer.Typer(
        help="Embodied agents in live simulators: observe, act, evolve.",
        no_args_is_help=True,
        add_completion=False,
        pretty_exceptions_enable=False,
        rich_markup_mode=None,
    )
    for command in _COMMANDS:
        made.command()(command)
    return made


def main(arguments: Sequence[str] | None = None) -> None:
    """Run one command and exit.

    Raises:
        SystemExit: 0 when it did what was asked; 1 when a replay differs or the disk failed; 2 for
            bad arguments; 3 when an environment can't start; 130 when interrupted.
    """
    try:
        app()(args=None if arguments is None else list(arguments), prog_name="inhabit")
    except (UnavailableError, SimulatorError) as error:
        _fail(str(error), CANNOT_START)
    except (
        ForkError,
        IncomparableError,
        UnknownNameError,
        LackingError,
        MixedError,
        ModelError,
        RecordError,
        SettingError,
        TaskError,
        TuneError,
    ) as error:
        _fail(str(error), MISTAKEN)
    except (DiskError, DivergedError, SetError) as error:
        _fail(str(error), STOPPED)


def _fail(sentence: str, code: int) -> None:
    remarks().print(sentence, style="red", soft_wrap=True)
    sys.exit(code)
