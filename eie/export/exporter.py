"""The export formats: a file each, found by name.

Packages of others join through the entry-point group `inhabit.exporters`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from inhabit.envs.core import UnavailableError
from inhabit.envs.entries import Entries

if TYPE_CHECKING:  # These import libraries that no other command needs.
    from inhabit.eie.export.export import RunSource, SetSource
    from inhabit.episodes.recording.reader import Run


@dataclass(frozen=True, slots=True)
class ExportOptions:
    """What a user may choose besides the format."""

    videos: bool = False
    """Re-execute the episodes of a set, and add keyframes of past actions."""
    pictures: int = 0
    """Images of earlier steps in a row of messages, as the setting `pictures` of `chat`."""
    assignments: Sequence[str] = ()
    """Settings of the environment that checks answers or renders videos, as KEY=VALUE."""
    trusted: bool = False
    """Whether the user takes what a run or a set names for their own."""


@dataclass(frozen=True, slots=True)
class Exporter:
    """A format by name. Its functions write to an empty folder and return the number of samples."""

    name: str
    """Name of the format, as `inhabit export --format NAME` takes it."""
    summary: str
    write_run: Callable[[RunSource, Path], int] | None = None
    """(successful episodes, folder to write) -> samples; None if the format is not for runs."""
    write_set: Callable[[SetSource, Path, Path], int] | None = None
    """(examples, folder of the set, folder to write) -> samples; None if not for data sets."""
    unit: str = "sample"
    """One of what is counted, as a noun."""
    every: bool = False
    """Whether the format is for every episode of one or more runs, failed ones too."""
    videos: bool = False
    """Whether the format can show videos of past actions."""
    pictures: bool = False
    """Whether rows have as many images of earlier steps as the user wants."""
    settings: bool = False
    """Whether it starts the environment, of a run or for videos, with the user's settings."""
    extra: str = "sets"
    """The extra of `inhabit` whose packages the format needs."""


def of_episodes(
    name: str, summary: str, write: Callable[[Sequence[Run], Path], int], extra: str = "sets"
) -> Exporter:
    """A format of every episode of one or more runs; `write` returns how many it wrote."""
    return Exporter(
        name=name,
        summary=summary,
        write_run=lambda source, out: write((source.run, *source.more), out),
        unit="episode",
        every=True,
        extra=extra,
    )


EXPORTERS: Entries[Exporter] = Entries(
    "export format",
    Exporter,
    "inhabit.exporters",
    {
        "llava": "inhabit.eie.export.llava:EXPORTER",
        "llava-interleave": "inhabit.eie.export.llava:INTERLEAVE",
        "messages": "inhabit.eie.export.messages:EXPORTER",
        "egoplan": "inhabit.eie.export.egoplan:EXPORTER",
        "recognition": "inhabit.eie.export.recognition:EXPORTER",
        "pca": "inhabit.eie.export.pca:EXPORTER",
        "jsonl": "inhabit.eie.export.rows:EXPORTER",
        "lerobot": "inhabit.eie.export.lerobot:EXPORTER",
        "trajectories": "inhabit.eie.export.trajectories:EXPORTER",
        "atif": "inhabit.eie.export.atif:EXPORTER",
        "nemo": "inhabit.eie.export.nemo:EXPORTER",
        "hub": "inhabit.eie.export.hub:EXPORTER",
        "tensorboard": "inhabit.eie.export.tracking:TENSORBOARD",
        "wandb": "inhabit.eie.export.tracking:WANDB",
        "mlflow": "inhabit.eie.export.tracking:MLFLOW",
    },
)


def find_exporter(name: str) -> Exporter:
    """The format of that name.

    Raises:
        UnknownNameError: there is none.
        PluginError: the package that brings it is broken.
        UnavailableError: a library that it needs is not installed.
    """
    try:
        return EXPORTERS.find(name)
    except ModuleNotFoundError as error:
        raise lacking(name, error, "sets") from error


def lacking(name: str, error: ModuleNotFoundError, extra: str) -> UnavailableError:
    """What to say where the format `name` needs a package that is not installed."""
    return UnavailableError(
        f"Exports to {name!r} need the package {error.name!r}: pip install 'inhabit[{extra}]'"
    )
