"""What is exported, the episodes of runs or the examples of a set; and its export in a format."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from inhabit.eie.examples.example import Example
from inhabit.eie.export.demonstrations import Demonstration, demonstrations
from inhabit.eie.export.distinct import LeftOut
from inhabit.eie.export.exporter import EXPORTERS, Exporter, ExportOptions, find_exporter, lacking
from inhabit.eie.export.files import claim
from inhabit.eie.sets.folder import SetFolder
from inhabit.envs.entries import PluginError, raised
from inhabit.envs.errors import UserError
from inhabit.episodes.recording.reader import RecordError, Run


@dataclass(frozen=True)
class RunSource:
    """The successful episodes of a run."""

    run: Run
    options: ExportOptions = field(default_factory=ExportOptions)
    more: tuple[Run, ...] = ()
    """Further runs, for a format that is of every episode."""
    left_out: LeftOut = field(default_factory=LeftOut)
    without_images: set[int] = field(default_factory=set)
    """Numbers of successful episodes that were left out."""

    def __iter__(self) -> Iterator[Demonstration]:
        return demonstrations(self.run, self.without_images)


@dataclass(frozen=True)
class SetSource:
    """The examples of a set."""

    opened: SetFolder
    options: ExportOptions = field(default_factory=ExportOptions)
    left_out: LeftOut = field(default_factory=LeftOut)

    def __iter__(self) -> Iterator[Example]:
        return self.opened.examples()


def export(source: RunSource | SetSource, form: str | Exporter, out: Path) -> int:
    """Write `source` in the format `form` to `out`, a folder that is empty or not there yet.

    Returns how many samples were written; `source.left_out` counts the others. If there are none,
    or it fails, `out` is not there; what a link leads to is empty.

    Raises:
        RecordError: `out` is taken, an image is gone, what is to be exported is broken, or the
            format is not for it.
        SimulatorError: the simulator that renders videos died.
        SettingError: for a simulator, a place of a machine is named and not said again.
        UnknownNameError, UnavailableError: there is no such format, or a package is lacking.
        DiskError: it can't be written.
    """
    exporter = find_exporter(form) if isinstance(form, str) else form
    name, of_set = exporter.name, isinstance(source, SetSource)
    if isinstance(source, SetSource):
        folder = source.opened.folder
        write = exporter.write_set and partial(exporter.write_set, source, folder, out)
    else:
        folder = source.run.folder
        write = exporter.write_run and partial(exporter.write_run, source, out)
    if write is None:
        raise RecordError(
            f"The format {name!r} holds whole episodes, and {folder} is a set of examples: export "
            "the folder of a run, such as one of the expert's."
            if of_set
            else f"The format {name!r} holds examples, and {folder} is a run: export a set that "
            "`inhabit synth` made."
        )
    options = source.options
    if options.videos and not (of_set and exporter.videos):
        raise RecordError(
            f"{folder} has no videos in the format {name!r}: --videos works with data sets, and "
            "with formats such as egoplan."
        )
    if options.pictures and not exporter.pictures:
        raise RecordError(f"--pictures has no effect on the format {name!r}.")
    unused = "--set" if options.assignments else "--trust-record" if options.trusted else ""
    if unused and not (exporter.settings and (options.videos or not of_set)):
        raise RecordError(
            f"{unused} has no effect here: {name!r} starts no environment for {folder}."
        )
    claim(out)
    count = 0
    try:
        count = int(write())
    except UserError:
        raise
    except Exception as error:
        if isinstance(error, ModuleNotFoundError) and name in EXPORTERS.ours:
            raise lacking(name, error, exporter.extra) from error
        raise PluginError(f"The export format {name!r} {raised(error)}.") from error
    finally:
        if not count:
            # Half an export can't be used, and the same command wants an empty folder.
            for place in out.iterdir() if out.is_symlink() else (out,):
                if place.is_dir() and not place.is_symlink():
                    shutil.rmtree(place, ignore_errors=True)
                else:
                    place.unlink(missing_ok=True)
    return count
