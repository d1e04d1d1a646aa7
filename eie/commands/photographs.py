"""`inhabit photographs`: makes training examples from photographs, without a simulator."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Annotated

import typer

from inhabit.agents.models import registry as models
from inhabit.eie.sets.folder import SetError, SetFolder, SetHeader, held
from inhabit.envs.extras import require
from inhabit.episodes.commands.options import BaseUrl
from inhabit.episodes.commands.output import Json, Set, answers, print_json
from inhabit.episodes.playing.plan import software
from inhabit.episodes.playing.settings import divide

_SAME = ("env", "backend", "author", "seed", "n", "settings")
"""What has to be the same to continue a data set."""


def photographs(
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="Folder of the photographs.")],
    author: Annotated[
        str,
        typer.Option(
            metavar="KIND:NAME",
            help="Vision-language model that writes each example and then tries to refute it.",
        ),
    ],
    out: Annotated[
        Path,
        typer.Option(
            metavar="FOLDER", help="Folder of the data set. An interrupted one is continued."
        ),
    ],
    base_url: BaseUrl = None,
    of: Annotated[
        str, typer.Option(help="Subject of the photographs, named in prompts and in the data set.")
    ] = "driving",
    seed: Annotated[int, typer.Option(help="Seed of the split and of the answer positions.")] = 0,
    assignments: Set = None,
    as_json: Json = False,
) -> None:
    """Make a data set from photographs.

    Keeps one example for each photograph unless the model can refute it. The same command
    continues an interrupted set.
    """
    require("pyarrow", "sets", "Data sets")
    require("sklearn", "sets", "Data sets")
    from inhabit.eie.making.photographs import Photographer, make, photographs_in
    from inhabit.eie.sets.card import write_card
    from inhabit.eie.sets.page.writing import write_page
    from inhabit.eie.sets.tables import write_tables

    given = list(assignments or ())
    if base_url is not None:
        given.append(f"model.base_url={base_url}")
    registration, name = models.find(author)
    settings = divide(given, {"model": registration.settings})
    header = SetHeader(
        command=("inhabit", "photographs", str(folder), "--author", author, "--seed", str(seed)),
        env=of,
        backend="photographs",
        author=author,
        seed=seed,
        n=len(photographs_in(folder)),
        settings={owner: kind.model_dump(mode="json") for owner, kind in settings.items()},
        software=software(("inhabit", "numpy", "pillow", "pydantic")),
    )
    with held(out):
        opened = _open(out, header)
        model = registration.load(name, settings["model"])

        async def ask() -> None:
            try:
                await make(folder, Photographer(model, of, seed), opened)
            finally:
                await model.close()

        asyncio.run(ask())
        write_tables(opened)
        opened.finish()
        write_card(opened)
        write_page(opened)
    _report(opened, as_json)


def _open(out: Path, header: SetHeader) -> SetFolder:
    if not (out / "set.json").exists():
        return SetFolder.begin(out, header)
    opened = SetFolder.open(out)
    for name in _SAME:
        was, now = getattr(opened.header, name), getattr(header, name)
        if was != now:
            raise SetError(
                f"{out} was started with {name} {was!r}, not {now!r}. Run the same command to "
                "continue it, or choose another --out."
            )
    return opened


def _report(opened: SetFolder, as_json: bool) -> None:
    kept, rejected = 0, dict[str, int]()
    for attempt in opened.attempts():
        kept += len(attempt.kept)
        for refusal in attempt.rejected:
            rejected[refusal.rejection.value] = rejected.get(refusal.rejection.value, 0) + 1
    if as_json:
        print_json({"set": str(opened.folder), "kept": kept, "rejected": dict(rejected)})
    else:
        answers().print(f"Kept {kept} examples in {opened.folder}.", soft_wrap=True)
