"""`inhabit tune` and `inhabit merge`: fine-tune a local model on data sets, and merge adapters."""

from __future__ import annotations

import os
from contextlib import nullcontext
from pathlib import Path
from typing import Annotated

import typer

from inhabit.agents.models.local.registration import let_idle_threads_sleep
from inhabit.eie.tuning.log import LogLine
from inhabit.eie.tuning.settings import TuneSettings
from inhabit.envs.extras import imports
from inhabit.episodes.commands.output import Json, Set, answers, print_json, remarks
from inhabit.episodes.commands.settings_table import listing
from inhabit.episodes.playing.settings import divide
from inhabit.episodes.recording.folder import held


def tune(
    sets: Annotated[
        list[Path],
        typer.Argument(metavar="SET...", help="Folders of data sets, from `inhabit synth`."),
    ],
    base: Annotated[str, typer.Option(metavar="local:NAME", help="Local model to start from.")],
    out: Annotated[
        Path,
        typer.Option(
            metavar="FOLDER", help="Folder of the tuned model. An interrupted one is continued."
        ),
    ],
    seed: Annotated[
        int,
        typer.Option(min=0, max=2**32 - 1, help="Seed of the shuffle and of the adapter weights."),
    ] = 0,
    assignments: Set = None,
    list_them: Annotated[
        bool, listing({"--set": TuneSettings}, "List the settings of the tuning, and exit.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Fine-tune a local model on data sets.

    The same command continues an interrupted tuning.
    """
    settings = divide(assignments or (), {"tune": TuneSettings})["tune"]
    assert isinstance(settings, TuneSettings)
    let_idle_threads_sleep()
    with imports("Tuned models", "tune"):
        from inhabit.eie.tuning.samples import read
        from inhabit.eie.tuning.tune import tune as train
    console = remarks() if as_json else answers()

    def tell(line: LogLine, steps: int) -> None:
        if line.kind == "judge":
            right = f", accuracy {line.accuracy:.3f}" if line.accuracy is not None else ""
            chance = f" (chance {line.chance:.3f})" if line.chance is not None else ""
            console.print(
                f"Step {line.step} of {steps}: validation loss {line.loss:.3f}{right}{chance}, "
                f"{line.examples} examples."
            )
        elif line.step % 10 == 0:
            right = f", accuracy {line.accuracy:.2f}" if line.accuracy is not None else ""
            pace = line.examples / max(line.seconds, 1e-9)
            console.print(
                f"Step {line.step} of {steps}: loss {line.loss:.3f}{right}, {pace:.1f} examples/s."
            )

    # Of the processes of `accelerate launch`, the first one holds the folder.
    with held(out) if os.environ.get("RANK", "0") == "0" else nullcontext():
        result = train(
            (sample for folder in sets for sample in read(folder, "train")),
            (sample for folder in sets for sample in read(folder, "val")),
            base=base,
            out=out,
            settings=settings,
            seed=seed,
            tell=tell,
            warn=remarks().print,
        )
    said = f"Use it with --model {result.model}. Training log: {result.log}"
    console.print(said, soft_wrap=True)
    if as_json:
        print_json(result)


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
        from inhabit.eie.tuning.base import merge as write
    write(model, out)
    answers().print(f"Use it with --model local:{out}", soft_wrap=True)
