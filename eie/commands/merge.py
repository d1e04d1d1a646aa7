"""`inhabit merge`: writes a tuned model with its adapters merged into the weights."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from inhabit.agents.models.local.registration import let_idle_threads_sleep
from inhabit.envs.extras import imports
from inhabit.episodes.commands.output import answers


def merge(
    model: Annotated[
        str, typer.Argument(metavar="local:FOLDER", help="Model with adapters, as tune writes it.")
    ],
    out: Annotated[Path, typer.Option(metavar="FOLDER", help="Folder of the merged model.")],
) -> None:
    """Merge the adapters of a tuned model into its base.

    The result is a folder that transformers and inference servers such as vLLM load without peft.
    """
    let_idle_threads_sleep()
    with imports("Tuned models", "tune"):
        from inhabit.eie.tuning.merging import merge as write
    write(model, out)
    answers().print(f"Use it with --model local:{out}")
