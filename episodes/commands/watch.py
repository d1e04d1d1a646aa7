"""`inhabit watch`: a run's page while it goes on."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from inhabit.episodes.commands.output import Json, answers, print_json, remarks
from inhabit.episodes.recording.reader import Run


def watch(
    run: Annotated[Path, typer.Argument(help="A run's folder.")],
    port: Annotated[int, typer.Option(min=0, max=65535, help="0 takes any that is free.")] = 0,
    as_json: Json = False,
) -> None:
    """Serve a live page of a run to browsers on this machine, until Ctrl-C. Writes nothing."""
    # Pages need much that no other command does.
    from inhabit.episodes.reports.watch.server import Server

    found = Run.open(run)
    try:
        server = Server(found, port=port)
    except OSError as error:
        raise typer.BadParameter(f"Port {port} can't be used: {error.strerror}.") from error
    with server:
        if as_json:
            print_json({"run": str(run), "address": server.address})
        else:
            answers().print(server.address)
        remarks().print("Ctrl-C ends it.")
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            server.closing.set()
