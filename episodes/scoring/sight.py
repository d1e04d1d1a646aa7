"""What pictures are worth to an agent: a run against the same tasks with other pictures or none."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from inhabit.envs.files import is_regular
from inhabit.episodes.recording.folder import folder_of
from inhabit.episodes.recording.reader import Run
from inhabit.episodes.recording.schema import RunHeader, Sight
from inhabit.episodes.scoring.comparison import DIFFERENCES, Difference, MixedError, compare

WORTH = ("success_rate", "plw_success_rate", "regret")
"""Metrics that tell what pictures are worth."""
NOT_MEASURED = "not measured"
Worth = Mapping[str, Difference]
"""The differences of a comparison, by the names of `WORTH`: with its own pictures minus without."""
INSTEAD = {
    Sight.BLANK: "black images",
    Sight.NONE: "no images",
    Sight.OTHER: "images of another room",
}


def worth(run: Run, others: Iterable[Run] = ()) -> Mapping[Sight, Worth]:
    """What its pictures are worth to the agent of `run`.

    Args:
        run: which; of one without its own pictures nothing is told.
        others: runs that may lack nothing but pictures, beside those that `--sight all` has made.

    Raises:
        RecordError: a record is broken.
    """
    if run.header.image is not Sight.SHOWN:
        return {}
    found: dict[Sight, Worth] = {}
    for other in (*companions(run), *others):
        sight = other.header.image
        if sight is Sight.SHOWN or sight in found or _alike(run.header) != _alike(other.header):
            continue
        try:
            differences = compare(other, run, mixed=True).differences
        except MixedError:
            continue
        found[sight] = {name: differences[name] for name in WORTH if name in differences}
    return found


def companions(run: Run) -> Iterator[Run]:
    """The runs that `--sight all` has made beside `run`."""
    for sight in INSTEAD:
        folder = folder_of(run.folder, sight)
        if is_regular(folder / "run.json", run.folder):
            yield Run.open(folder)


def _alike(header: RunHeader) -> Mapping[str, object]:
    names = {"env", "backend", "agent", "model", "candidates", "grants", "settings", "max_steps"}
    return header.model_dump(include=names)


def sight_rows(found: Mapping[Sight, Worth]) -> Iterator[tuple[str, str]]:
    """What is told of it, for people: names and values."""
    if not found:
        yield "sight", NOT_MEASURED
    for sight, differences in found.items():
        yield (
            f"sight, against {INSTEAD[sight]}",
            "; ".join(f"{DIFFERENCES[name]} {one.text(name)}" for name, one in differences.items()),
        )
