"""`inhabit watch`: serves the page of a run while the run goes on."""

from __future__ import annotations

from typing import Annotated

import typer

from inhabit.episodes.commands.options import RunFolder
from inhabit.episodes.commands.output import Json, print_answer, remarks
from inhabit.episodes.recording.reader import Run
from inhabit.episodes.reports.page.watch import PageServer


def watch(
    run: RunFolder,
    port: Annotated[int, typer.Option(min=0, max=65535, help="TCP port; 0 takes a free one.")] = 0,
    as_json: Json = False,
) -> None:
    """Serve a live page of a run.

    Listens on this machine only, writes nothing, and ends on Ctrl-C. Whoever
    knows the printed address can connect.
    """
    recorded = Run.open(run)
    try:
        server = PageServer(recorded, port=port)
    except OSError as error:
        raise typer.BadParameter(f"Cannot listen on port {port}: {error.strerror}.") from error
    with server:
        print_answer(server.address, {"run": str(run), "address": server.address}, as_json=as_json)
        remarks().print("Press Ctrl-C to stop.")
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            server.closing.set()
