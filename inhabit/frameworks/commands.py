"""`inhabit serve` and `inhabit mcp`: environments for programs of others."""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Annotated

import typer
from pydantic import JsonValue

from inhabit.envs.errors import UserError
from inhabit.envs.extras import imports, require
from inhabit.envs.host.server_gate import Gate
from inhabit.episodes.commands.interrupt import leave, on_signals
from inhabit.episodes.commands.options import Backend, EnvName
from inhabit.episodes.commands.output import Json, Set, print_answer, remarks
from inhabit.frameworks.factory import rollouts
from inhabit.frameworks.reward import Reward

TOKEN = "INHABIT_SERVE_TOKEN"
"""Name of the environment variable that holds the server's token."""
_LONGEST_TOKEN = 4096

Tasks = Annotated[
    list[str] | None,
    typer.Option(
        metavar="[NAME=]SOURCE",
        help="Where tasks come from, as for `run`; repeat for several splits, with a name each. "
        "[default: one split of --n sampled tasks]",
    ),
]
Count = Annotated[
    int | None,
    typer.Option("--n", min=1, help="Tasks of each split. [default: 100 sampled, all of --tasks]"),
]
Seed = Annotated[int, typer.Option(help="Seed of the sampled tasks and of the episodes.")]
Paid = Annotated[
    Reward,
    typer.Option(
        help="What an episode's rewards add up to: 1 for success (success), the share of goal "
        "conditions reached (conditions), the share of the expert's plan done (progress), or 1 for "
        "success less needless actions as a share of the expert's plan (regret)."
    ),
]
MaxSteps = Annotated[
    int | None,
    typer.Option(min=1, help="Actions per episode, at most. [default: each task's own limit]"),
]
Isolate = Annotated[
    bool, typer.Option("--isolate", help="Run each session's environment in a process of its own.")
]


def serve(
    env: EnvName,
    tasks: Tasks = None,
    n: Count = None,
    seed: Seed = 0,
    reward: Paid = Reward.CONDITIONS,
    max_steps: MaxSteps = None,
    backend: Backend = None,
    host: Annotated[
        str, typer.Option(help="Address to listen on; 0.0.0.0 lets other machines in.")
    ] = "127.0.0.1",
    port: Annotated[
        int, typer.Option(min=0, max=65535, help="TCP port; 0 takes a free one.")
    ] = 8000,
    sessions: Annotated[int, typer.Option(min=1, max=4096, help="Sessions at once.")] = 16,
    idle: Annotated[
        float,
        typer.Option(min=1.0, help="Seconds without a message after which a session is closed."),
    ] = 600.0,
    token_file: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help=f"File with the token that clients must send. [default: the environment variable "
            f"{TOKEN}, or a new one, as part of the printed address]",
        ),
    ] = None,
    origin: Annotated[
        list[str] | None,
        typer.Option(
            metavar="URL",
            help="Another site whose web pages may connect, or another name of this server, "
            "such as http://server:8000; repeatable.",
        ),
    ] = None,
    isolate: Isolate = False,
    assignments: Set = None,
    as_json: Json = False,
) -> None:
    """Serve an environment to trainers, as an OpenEnv server.

    Listens on this machine only unless told otherwise, and ends on Ctrl-C. Each WebSocket session
    plays an episode of its own. Whoever knows the printed address can connect.
    """
    require("openenv", "openenv", "OpenEnv servers")
    from inhabit.frameworks.listening import listening, run_server
    from inhabit.frameworks.openenv import application

    token, origins = _token(token_file), tuple(origin or ())
    gate = Gate(host, origins=origins) if token is None else Gate(host, token, origins)
    play = partial(rollouts, env, n, seed=seed, settings=assignments or (), backend=backend)
    splits = {
        name: play(tasks=source, reward=reward, max_steps=max_steps, worker=isolate)
        for name, source in _sources(tasks or ())
    }
    app = application(splits, gate, sessions=sessions, idle=idle)
    with listening(host, port) as bound:
        address = f"http://{host if ':' not in host else f'[{host}]'}:{bound.getsockname()[1]}"
        if token is None:
            address += f"/{gate.token}"
        counts: dict[str, JsonValue] = {name: len(one.tasks) for name, one in splits.items()}
        print_answer(address, {"env": env, "address": address, "tasks": counts}, as_json=as_json)
        remarks().print("Press Ctrl-C to stop.")
        run_server(app, bound, sessions=sessions)


def mcp(
    env: EnvName,
    tasks: Tasks = None,
    n: Count = None,
    seed: Seed = 0,
    max_steps: MaxSteps = None,
    backend: Backend = None,
    isolate: Isolate = False,
    assignments: Set = None,
) -> None:
    """Offer an environment to MCP clients, on stdin and stdout.

    Tools: reset, observe, act, goal. Name this command in the client's configuration, such as
    {"command": "inhabit", "args": ["mcp", "alfred"]}.
    """
    with imports("MCP servers", "mcp"):
        from inhabit.frameworks.mcp import server

    (_, source), *others = _sources(tasks or ())
    if others:
        raise UserError("`inhabit mcp` has one set of tasks: give --tasks once.")
    factory = rollouts(
        env,
        n,
        tasks=source,
        seed=seed,
        settings=assignments or (),
        backend=backend,
        max_steps=max_steps,
        worker=isolate,
    )
    # The thread that reads what a client sends can't be cancelled, and there is nothing to save.
    on_signals(lambda number, frame: leave())
    server(factory).run("stdio")


def _sources(tasks: Sequence[str]) -> Sequence[tuple[str, str | None]]:
    """Names and sources of the splits."""
    if not tasks:
        return [("sampled", None)]
    found: dict[str, str | None] = {}
    for one in tasks:
        name, has_name, source = one.partition("=")
        name, source = (name, source) if has_name else (Path(one).stem, one)
        if name in found:
            raise UserError(f"Two splits are named {name!r}: give names, as --tasks NAME=SOURCE.")
        found[name] = source
    return list(found.items())


def _token(file: Path | None) -> str | None:
    """The token from a file or the environment; None if neither names one."""
    if file is None:
        token, where = os.environ.get(TOKEN, ""), f"The environment variable {TOKEN}"
        if not token:
            return None
    else:
        try:
            with file.open("rb") as stream:
                token = stream.read(_LONGEST_TOKEN + 2).decode("ascii").strip()
        except (OSError, UnicodeDecodeError) as error:
            raise UserError(f"Cannot read the token in {file}: {error}.") from error
        where = str(file)
    if not token.isprintable() or not 8 <= len(token) <= _LONGEST_TOKEN or not token.isascii():
        raise UserError(
            f"{where} has no token: one line of 8 to {_LONGEST_TOKEN} ASCII characters is one."
        )
    return token
