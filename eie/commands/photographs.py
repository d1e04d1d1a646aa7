"""`inhabit photographs`: training examples from photographs, where there is no simulator."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Annotated

import typer

from inhabit.agents.models import registry as models
from inhabit.eie.sets.folder import SetError, SetFolder, SetHeader, held
from inhabit.envs.extras import require
from inhabit.episodes.commands.output import Json, Set, answers, print_json
from inhabit.episodes.running.plan import software
from inhabit.episodes.running.settings import divide

_SAME = ("env", "backend", "author", "seed", "n", "settings")
"""What has to be the same for a set to go on."""


def photographs(
    folder: Annotated[Path, typer.Argument(help="Where the photographs lie.")],
    author: Annotated[
        str, typer.Option(metavar="KIND:NAME", help="A model that sees: it writes and refutes.")
    ],
    out: Annotated[Path, typer.Option(help="The set's folder. A set begun before goes on.")],
    base_url: Annotated[
        str | None, typer.Option("--base-url", help="Where the model's endpoint is.")
    ] = None,
    of: Annotated[str, typer.Option(help="What the photographs are of.")] = "driving",
    seed: Annotated[int, typer.Option(help="Of splits and of the places of answers.")] = 0,
    assignments: Set = None,
    as_json: Json = False,
) -> None:
    """Make an example of each photograph that a model can't refute. It goes on where it stopped."""
    require("pyarrow", "sets", "Data sets")
    from inhabit.eie.making.photographs import Photographer, found_in, make
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
        n=len(found_in(folder)),
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
                f"{out} was begun with {name} {was!r}, not {now!r}. Give the same command to go "
                "on with it, or choose another --out."
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
        answers().print(f"{kept} examples in {opened.folder}", soft_wrap=True)
