"""The command `inhabit`: its commands, and what it says and returns where something is wrong."""

from __future__ import annotations

import sys
from collections.abc import Sequence

import typer

from agents.core import ModelError
from eie.folder import SetError
from eie.tune.settings import TuneError
from envs.core import SimulatorError, TaskError, UnavailableError, UnknownNameError
from episodes.commands.agents import agents
from episodes.commands.compare import compare
from episodes.commands.doctor import doctor
from episodes.commands.export import export
from episodes.commands.fork import fork
from episodes.commands.judge import judge
from episodes.commands.listing import envs, tasks
from episodes.commands.output import remarks
from episodes.commands.photographs import photographs
from episodes.commands.replan import replan
from episodes.commands.replay import replay
from episodes.commands.run import run
from episodes.commands.setup import setup
from episodes.commands.show import show
from episodes.commands.synth import synth
from episodes.commands.tune import tune
from episodes.commands.watch import watch
from episodes.disk import DiskError
from episodes.fork import ForkError
from episodes.paired import MixedError
from episodes.record import RecordError
from episodes.replay import IncomparableError
from episodes.resume import DivergedError
from episodes.settings import SettingError
from episodes.view import LackingError

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
