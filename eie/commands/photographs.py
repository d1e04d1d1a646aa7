"""`inhabit photographs`: makes training examples from photographs, without a simulator."""

from __future__ import annotations

import asyncio
from collections import Counter
from pathlib import Path
from typing import Annotated

import typer
from pydantic import JsonValue

from inhabit.agents.models import registry as models
from inhabit.eie.sets.folder import SetFolder, SetHeader, held
from inhabit.envs.extras import require
from inhabit.episodes.commands.interrupt import interruptible
from inhabit.episodes.commands.options import BaseUrl
from inhabit.episodes.commands.output import Json, Set, print_answer
from inhabit.episodes.playing.plan import software
from inhabit.episodes.playing.settings import divide


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
    words = ("--author", author, "--of", of, "--seed", str(seed))
    changed = (word for assignment in given for word in ("--set", assignment))
    header = SetHeader(
        command=("inhabit", "photographs", str(folder), *words, *changed),
        env=of,
        backend="photographs",
        author=author,
        seed=seed,
        n=len(photographs_in(folder)),
        settings={owner: kind.model_dump(mode="json") for owner, kind in settings.items()},
        software=software(("inhabit", "numpy", "pillow", "pydantic")),
    )
    with held(out):
        opened = SetFolder.begin_or_continue(out, header)
        model = registration.load(name, settings["model"])

        async def ask() -> None:
            try:
                await make(folder, Photographer(model, of, seed), opened)
            finally:
                await model.close()

        asyncio.run(interruptible(ask(), out))
        write_tables(opened)
        opened.finish()
        write_card(opened)
        write_page(opened)
    attempts = list(opened.attempts())
    kept = sum(len(attempt.kept) for attempt in attempts)
    rejected = Counter(one.rejection.value for attempt in attempts for one in attempt.rejected)
    fields: dict[str, JsonValue] = {
        "set": str(opened.folder),
        "kept": kept,
        "rejected": dict(rejected),
    }
    told = [f"\n  rejected, {reason}: {count}" for reason, count in sorted(rejected.items())]
    answer = f"Kept {kept} examples in {opened.folder}.{''.join(told)}"
    print_answer(answer, fields, as_json=as_json)
