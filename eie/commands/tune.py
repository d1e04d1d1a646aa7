"""`inhabit tune`: teach a local model what a set of examples holds."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from inhabit.agents.models.local.registration import share_processor
from inhabit.eie.tuning.log import LogLine
from inhabit.eie.tuning.settings import TuneSettings
from inhabit.envs.core import UnavailableError
from inhabit.episodes.commands.output import Json, Set, answers, print_json, remarks
from inhabit.episodes.running.settings import divide


def tune(
    sets: Annotated[
        list[Path], typer.Argument(metavar="SET...", help="Folders that `inhabit synth` made.")
    ],
    base: Annotated[str, typer.Option(metavar="KIND:NAME", help="The local model to begin with.")],
    out: Annotated[Path, typer.Option(help="Its folder. A folder begun before goes on.")],
    seed: Annotated[int, typer.Option(help="Of the shuffle and the adapters.")] = 0,
    assignments: Set = None,
    as_json: Json = False,
) -> None:
    """Fine-tune a local model on sets of examples. The same command goes on where it stopped."""
    settings = divide(assignments or (), {"tune": TuneSettings})["tune"]
    assert isinstance(settings, TuneSettings)
    share_processor()
    try:
        from inhabit.eie.tuning.samples import read
        from inhabit.eie.tuning.tune import tune as train
    except ImportError as error:
        raise UnavailableError(
            f"Tuning needs the package {error.name!r}: pip install 'inhabit[tune]'"
        ) from error
    console = remarks() if as_json else answers()

    def tell(line: LogLine, steps: int) -> None:
        if line.kind == "judge":
            chance = f", chance {line.chance:.3f}" if line.chance is not None else ""
            console.print(
                f"After {line.step} of {steps} steps: {line.accuracy:.3f} of {line.examples} "
                f"validation examples right{chance}; loss {line.loss:.3f}."
            )
        elif line.step % 10 == 0:
            pace = line.examples / max(line.seconds, 1e-9)
            console.print(
                f"Step {line.step} of {steps}: loss {line.loss:.3f}, right {line.accuracy:.2f}, "
                f"{pace:.1f} examples/s."
            )

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
    console.print(f"Tuned: --model {result.model}; curves: {result.log}")
    if as_json:
        print_json(result)
