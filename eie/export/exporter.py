"""An export format of another package, added through the entry-point group `inhabit.exporters`."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from inhabit.eie.examples.example import Example
from inhabit.eie.export.demonstrations import Demonstration
from inhabit.eie.export.files import claim
from inhabit.envs.entries import Entries, PluginError, raised
from inhabit.envs.errors import UserError


@dataclass(frozen=True, slots=True)
class Exporter:
    """A format by name. Its functions write to an empty folder and return the number of samples."""

    name: str
    """As `inhabit export --format NAME` takes it."""
    summary: str
    write_run: Callable[[Iterable[Demonstration], Path], int] | None = None
    """(successful episodes, folder to write); None if it is not for runs."""
    write_set: Callable[[Iterable[Example], Path, Path], int] | None = None
    """(examples, folder of the set, folder to write); None if it is not for data sets."""


EXPORTERS: Entries[Exporter] = Entries("export format", Exporter, "inhabit.exporters", {})
"""The export formats of other packages, by name."""


def write_with(name: str, write: Callable[[], int], out: Path) -> int:
    """Claim `out`, and write to it with the format `name`.

    Raises:
        RecordError: `out` is taken.
        PluginError: the format's own code fails.
    """
    claim(out)
    try:
        return int(write())
    except UserError:
        raise
    except Exception as error:
        raise PluginError(f"The export format {name!r} {raised(error)}.") from error
