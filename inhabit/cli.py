"""The command `inhabit`. A subcommand is imported only when it is called or asked for its help."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Sequence
from contextlib import nullcontext
from functools import cache
from importlib import import_module
from importlib.metadata import version
from typing import Annotated, Any

import typer
from typer.core import TyperGroup
from typer.main import get_command

from inhabit.eie.commands import COMMANDS as EIE_COMMANDS
from inhabit.envs.commands import COMMANDS as ENV_COMMANDS
from inhabit.envs.errors import ExitCode, UserError
from inhabit.envs.host.credentials import redact
from inhabit.envs.printable import printable
from inhabit.episodes.commands import COMMANDS as EPISODE_COMMANDS
from inhabit.episodes.commands.interrupt import ended_by_signals
from inhabit.frameworks import COMMANDS as FRAMEWORK_COMMANDS

_COMMANDS = {**EPISODE_COMMANDS, **EIE_COMMANDS, **ENV_COMMANDS, **FRAMEWORK_COMMANDS}


def main(arguments: Sequence[str] | None = None) -> None:
    """Run one command and exit.

    Args:
        arguments: words after `inhabit`; those of this process by default.

    Raises:
        SystemExit: 0 on success; 1 when a replay differs, a run or data set could not be
            continued, or no episode of a run was decided; 2 for wrong arguments or input; 3 when an
            environment cannot start; 130 when interrupted.
    """
    if arguments is None:
        warnings.showwarning = _warn
        # Of packages that we call: they are for us, and not for who runs a command.
        warnings.filterwarnings("ignore", category=FutureWarning)
    try:
        with ended_by_signals() if arguments is None else nullcontext():
            _group()(args=None if arguments is None else list(arguments), prog_name="inhabit")
    except UserError as error:
        _say(str(error))
        sys.exit(int(error.exit_code))
    except OSError as error:
        # Such as a process that may open no more files, or a disk that can't be written to.
        where = f"{error.filename}: " if error.filename is not None else ""
        _say(f"The system refuses: {where}{error.strerror or error}.")
        sys.exit(int(ExitCode.STOPPED))


def _say(sentence: str) -> None:
    """An error may quote a record: neither its control characters nor a key are repeated."""
    typer.secho(printable(redact(sentence)), fg="red", err=True)


def _warn(message: Warning | str, *where: object, **options: object) -> None:
    """A warning as a sentence, without the line of code that it came from."""
    typer.secho(f"Warning: {printable(redact(str(message)))}", fg="yellow", err=True)


def app() -> typer.Typer:
    """The command line, with a placeholder for every command that is not imported yet."""
    made = typer.Typer(
        cls=_LazyGroup,
        callback=_root,
        no_args_is_help=True,
        pretty_exceptions_enable=False,
        rich_markup_mode=None,
    )
    for name, (_, summary) in _COMMANDS.items():
        made.command(name, help=summary, add_help_option=False)(_placeholder)
    return made


@cache
def _group() -> Any:
    return get_command(app())


class _LazyGroup(TyperGroup):
    """Lists the placeholders in its help, and imports the command that is called."""

    # Typer brings click along or inside itself, depending on its version: hence `Any`.
    def resolve_command(self, ctx: Any, args: list[str]) -> tuple[str | None, Any, list[str]]:
        name, _, rest = super().resolve_command(ctx, args)
        return name, _load(name) if name else None, rest


@cache
def _load(name: str) -> Any:
    target, _ = _COMMANDS[name]
    module, _, function = target.partition(":")
    single = typer.Typer(add_completion=False, rich_markup_mode=None)
    single.command(name)(getattr(import_module(module), function))
    return get_command(single)


def _placeholder() -> None:
    """Stands for a command in the list of commands; never called."""


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"inhabit {version('inhabit')}")
        raise typer.Exit


def _root(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, help="Print the version and exit."
        ),
    ] = False,
) -> None:
    """Run embodied agents in live simulators, record every step, and make training data.

    `inhabit COMMAND --help` describes a command and its options.
    """
