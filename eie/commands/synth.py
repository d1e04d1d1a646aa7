"""`inhabit synth` generates tasks and training examples, verified in the simulator; `inhabit
photographs` makes examples from photographs, without one.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from pydantic import BaseModel, JsonValue, ValidationError

from inhabit.agents.models import registry as models
from inhabit.eie.checking.splits import SPLITS
from inhabit.eie.examples.settings import SynthSettings
from inhabit.eie.making.author import Procedural
from inhabit.eie.making.local import synthesize
from inhabit.eie.making.runner import load_components, owners
from inhabit.eie.sets.folder import SetError, SetFolder, SetHeader, SetSettings, held
from inhabit.envs.extras import require
from inhabit.envs.marks import without_effect
from inhabit.envs.registry import Registration
from inhabit.envs.registry import find as find_env
from inhabit.episodes.commands.interrupt import interruptible
from inhabit.episodes.commands.options import Backend, BaseUrl, EnvName, Ray
from inhabit.episodes.commands.output import Json, Set, answers, print_answer, print_json, remarks
from inhabit.episodes.commands.progress import ProgressReport
from inhabit.episodes.commands.settings_table import listing
from inhabit.episodes.playing.plan import find_backend, software
from inhabit.episodes.playing.settings import ClusterSettings, at_address, check_cluster, divide

if TYPE_CHECKING:
    from inhabit.eie.sets.coverage import Coverage

_MATTERS = ("inhabit", "numpy", "pillow", "pydantic", "networkx", "pyarrow")
_MODELS = ("torch", "transformers", "openai")
_EXPECTED = 4
"""Examples of a kind that its share would give; where there are none, that is said."""


def synth(
    env: EnvName,
    n: Annotated[int, typer.Option("--n", min=1, help="Number of examples to keep.")],
    out: Annotated[
        Path,
        typer.Option(
            metavar="FOLDER", help="Folder of the data set. An interrupted one is continued."
        ),
    ],
    author: Annotated[
        str,
        typer.Option(
            metavar="procedural|KIND:NAME",
            help="Author of the tasks: the built-in procedural generator, or a model.",
        ),
    ] = "procedural",
    reader: Annotated[
        str,
        typer.Option(
            metavar="KIND:NAME",
            help="Model that says the author's goals again, so that their meaning is checked in "
            "plain words. Its settings are --set reader.KEY=VALUE; --base-url is the author's.",
        ),
    ] = "",
    base_url: BaseUrl = None,
    backend: Backend = None,
    seed: Annotated[int, typer.Option(help="Seed of every random choice.")] = 0,
    workers: Annotated[int, typer.Option(min=1, help="Tasks to try in parallel.")] = 1,
    ray: Ray = False,
    assignments: Set = None,
    list_them: Annotated[
        bool,
        listing(
            {"--set": SynthSettings, "--set, with --ray": ClusterSettings},
            "List the settings of the synthesis, and exit. `inhabit envs ENV` lists the settings "
            "of the environment.",
        ),
    ] = False,
    as_json: Json = False,
) -> None:
    """Generate a data set, verified in the simulator.

    The same command continues an interrupted set.
    """
    registration = find_env(env)
    backend = find_backend(registration, backend)
    if reader and author == Procedural.name:
        raise typer.BadParameter("--reader reads goals of a model: name one by --author KIND:NAME.")
    # The cluster does not change the data set: it is the same on any machine.
    # A key of `synth` keeps its meaning where an environment declares one of the same name.
    groups: dict[str, type[BaseModel]] = {**owners(env, author, reader), "cluster": ClusterSettings}
    there = at_address(groups.get("model"), base_url)
    given = [*(assignments or ()), *(f"model.{key}={value}" for key, value in there.items())]
    settings = dict(divide(given, groups, preferred="synth"))
    cluster = settings.pop("cluster")
    asked = settings["synth"]
    assert isinstance(cluster, ClusterSettings) and isinstance(asked, SynthSettings)
    check_cluster(cluster, ray=ray)
    settings["env"] = registration.fastest_settings(backend, settings["env"])
    header = _header(registration, backend, author, reader, seed, n, given, settings)
    begun = time.perf_counter()
    with _begun(out, header, partial(_comparable, header)) as opened:
        if not opened.header.finished:
            # The settings of now: what a set that goes on names itself is not started.
            make = partial(_make_on_cluster, cluster) if ray else _make
            asyncio.run(interruptible(make(opened, header, workers), out))
    _report(opened, asked, time.perf_counter() - begun, as_json)


@contextmanager
def _begun(
    out: Path, header: SetHeader, comparable: Callable[[SetSettings], SetSettings]
) -> Iterator[SetFolder]:
    """The set in `out`, to be made or continued; its tables, card and page are written at last."""
    require("pyarrow", "sets", "Data sets")
    require("sklearn", "sets", "Data sets")
    from inhabit.eie.sets.card import write_card
    from inhabit.eie.sets.page.writing import write_page
    from inhabit.eie.sets.tables import write_tables

    with held(out):
        opened = SetFolder.begin_or_continue(out, header, comparable)
        yield opened
        if not opened.header.finished:
            write_tables(opened)
            opened.finish()
        write_card(opened)
        write_page(opened)


def _header(
    registration: Registration,
    backend: str,
    author: str,
    reader: str,
    seed: int,
    n: int,
    given: Sequence[str],
    settings: Mapping[str, BaseModel],
) -> SetHeader:
    packages = (*_MATTERS, *registration.packages, *(_MODELS if "model" in settings else ()))
    words = ("--backend", backend, "--author", author, "--seed", str(seed), "--n", str(n))
    read = ("--reader", reader) if reader else ()
    changed = (word for assignment in given for word in ("--set", assignment))
    return SetHeader(
        command=("inhabit", "synth", registration.name, *words, *read, *changed),
        env=registration.name,
        backend=backend,
        author=author,
        reader=reader,
        seed=seed,
        n=n,
        settings={name: kind.model_dump(mode="json") for name, kind in settings.items()},
        software=software(packages),
    )


def _comparable(header: SetHeader, settings: SetSettings) -> SetSettings:
    """Settings in one normal form: equivalent ones replaced, later ones filled in."""
    registration = find_env(header.env)
    try:
        env = registration.settings.model_validate(dict(settings["env"]))
    except ValidationError:
        return settings
    unset = registration.settings.model_construct(_fields_set=set(), **dict(env))
    fastest: BaseModel = registration.fastest_settings(header.backend, unset)
    plain = {**settings, "env": fastest.model_dump(mode="json")}
    return _effective(owners(header.env, header.author, header.reader), plain)


def _effective(kinds: Mapping[str, type[BaseModel]], settings: SetSettings) -> SetSettings:
    """The settings that have an effect on the set."""
    return {
        owner: {k: v for k, v in given.items() if k not in without_effect(kinds[owner])}
        for owner, given in settings.items()
        if owner in kinds
    }


async def _make(opened: SetFolder, header: SetHeader, workers: int) -> None:
    components = await asyncio.to_thread(load_components, header)
    try:
        with ProgressReport("examples", opened.header.n) as progress:
            await synthesize(
                opened,
                components,
                max_attempts=_most(header, components.settings),
                workers=workers,
                on_progress=progress.set_done,
            )
    finally:
        await components.close()


async def _make_on_cluster(
    cluster: ClusterSettings, opened: SetFolder, header: SetHeader, workers: int
) -> None:
    # Ray takes seconds to import, and few installations have it.
    from inhabit.eie.making.cluster import synthesize_on_cluster
    from inhabit.episodes.cluster.jobs import connected
    from inhabit.episodes.cluster.run import worker_resources

    async with connected(cluster.ray_address):
        with ProgressReport("examples", header.n) as progress:
            await synthesize_on_cluster(
                opened,
                header,
                max_attempts=_most(header, SynthSettings.model_validate(header.settings["synth"])),
                workers=workers,
                resources=worker_resources(cluster, header.backend),
                on_progress=progress.set_done,
            )


def _most(header: SetHeader, settings: SynthSettings) -> int:
    """Tasks to try at most, however many examples were kept."""
    return settings.attempts or 10 * header.n + 100


def _report(opened: SetFolder, asked: SynthSettings, seconds: float, as_json: bool) -> None:
    covered, rejected = _told(opened)
    attempts, kept, made = covered.attempts, covered.examples, {kind for kind, _ in covered.kinds}
    console = remarks() if as_json else answers()
    console.print(f"Kept {kept} examples of {attempts} tasks in {opened.folder}.", soft_wrap=True)
    for reason, count in rejected.items():
        console.print(f"  rejected, {reason}: {count}")
    if kept < opened.header.n:
        console.print(
            f"  fewer than --n {opened.header.n}: {attempts} tasks are tried at most. Try more "
            "(--set attempts), or change what rejects them, as attempts.jsonl says.",
            soft_wrap=True,
        )
    for kind, share in (("trajectory", asked.trajectories), ("recovery", asked.recoveries)):
        if kind not in made and share * kept >= _EXPECTED:
            console.print(f"  none is a {kind}: no task could be asked about so.", soft_wrap=True)
    empty = [split for split in SPLITS if not covered.splits[split]]
    if kept >= opened.header.n and empty:
        console.print(
            f"  no examples in: {', '.join(empty)}. Make a larger set (--n), or split it by "
            "something else (--set split_by).",
            soft_wrap=True,
        )
    if as_json:
        answer: dict[str, JsonValue] = {
            "set": str(opened.folder),
            "env": opened.header.env,
            "author": opened.header.author,
            "reader": opened.header.reader,
            "kept": kept,
            "rejected": dict(rejected),
            "attempts": attempts,
            "seconds": round(seconds, 3),
            "tokens": {name: covered.tokens[name] for name in ("in", "out")},
        }
        print_json(answer)


def _told(opened: SetFolder) -> tuple[Coverage, Mapping[str, int]]:
    """What is in a set, and how often each reason rejected something."""
    from inhabit.eie.sets.coverage import cover

    covered = cover(opened)
    return covered, {reason.value: count for reason, count in sorted(covered.rejected.items())}


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
    from inhabit.eie.making.photographs import Photographer, make, photographs_in

    registration, name = models.find(author)
    there = at_address(registration.settings, base_url)
    given = [*(assignments or ()), *(f"model.{key}={value}" for key, value in there.items())]
    files = photographs_in(folder)
    kinds = {"model": registration.settings}
    settings = divide(given, kinds)
    words = ("--author", author, "--of", of, "--seed", str(seed))
    changed = (word for assignment in given for word in ("--set", assignment))
    header = SetHeader(
        command=("inhabit", "photographs", str(folder), *words, *changed),
        env=of,
        backend="photographs",
        author=author,
        seed=seed,
        n=len(files),
        settings={owner: kind.model_dump(mode="json") for owner, kind in settings.items()},
        software=software(("inhabit", "numpy", "pillow", "pydantic")),
    )

    async def ask(opened: SetFolder) -> None:
        model = registration.load(name, settings["model"])
        try:
            await make(folder, Photographer(model, of, seed), opened)
        finally:
            await model.close()

    with _begun(out, header, partial(_effective, kinds)) as opened:
        begun = zip(opened.attempts(), files, strict=False)
        if other := next((was for was, file in begun if was.task != file.name), None):
            raise SetError(
                f"{out} was begun with other photographs: {other.task!r} was among them."
            )
        if not opened.header.finished:
            asyncio.run(interruptible(ask(opened), out))
    covered, rejected = _told(opened)
    fields: dict[str, JsonValue] = {
        "set": str(opened.folder),
        "kept": covered.examples,
        "rejected": dict(rejected),
    }
    told = "".join(f"\n  rejected, {reason}: {count}" for reason, count in rejected.items())
    answer = f"Kept {covered.examples} examples in {opened.folder}.{told}"
    print_answer(answer, fields, as_json=as_json)
