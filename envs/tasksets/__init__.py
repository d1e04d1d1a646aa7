"""Frozen task sets, for comparable results.

A set comes with the package as JSONL, and with the hash of its bytes: what was changed by accident
is refused, not run. A set that has to change gets another name.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from inhabit.envs.core import Task, TaskError
from inhabit.envs.entries import Entries


@dataclass(frozen=True, slots=True)
class EpisodeResult:
    """One episode that has ended, for a metric."""

    task: Task
    ending: str
    """How the episode ended, such as "success" or "step_limit"."""
    success: bool
    met: int
    """Goal conditions that held at the end, of `total`."""
    total: int
    steps: int
    cost: int
    """Low-level steps of the episode; in `minedojo`, ticks."""
    invalid: int
    """Actions that could not be carried out."""


Metric = Callable[[Sequence[EpisodeResult]], float]
"""The results of every task of a benchmark -> one finite number."""


@dataclass(frozen=True, slots=True)
class Benchmark:
    """A frozen set of tasks by name. What changes a result gets another version and name."""

    name: str
    """Name as `inhabit run --tasks NAME` takes it, version included: "keydoor-far-v1"."""
    version: str
    env: str
    """Name of the environment that its tasks are for."""
    summary: str
    tasks: Path
    """A `.jsonl` file, a `Task` a line."""
    sha256: str
    """SHA-256 of the file's bytes, in hexadecimal digits."""
    metrics: Mapping[str, Metric] = field(default_factory=dict)
    """Metrics, computed for a run of all the tasks, once every episode has ended."""

    def file(self) -> Path:
        """The file of its tasks.

        Raises:
            TaskError: it can't be read, or its bytes are not those that were frozen.
        """
        try:
            digest = hashlib.sha256(self.tasks.read_bytes()).hexdigest()
        except OSError as error:
            raise TaskError(
                f"{self.tasks} can't be read: {error.strerror}. Reinstall the benchmark."
            ) from error
        if digest != self.sha256:
            raise TaskError(
                f"{self.tasks} differs from the frozen task set {self.name!r}: its SHA-256 is "
                f"{digest}. Reinstall the benchmark, or give a changed one another name."
            )
        return self.tasks


BENCHMARKS: Entries[Benchmark] = Entries("benchmark", Benchmark, "inhabit.benchmarks", {})
"""The benchmarks of other packages, by name."""


SETS: Mapping[str, str] = {
    "alfred-v1": "bcfd92c666aa4ea7372cba7be935f42dbb1b4363a43d51107855307459132109",
    "minedojo-v1": "e58a1af913a8788ebe661a0aeb12d444a72fb91293b786da4d9b96396e428d9b",
    "values-v1": "7c8a47f5d6312738e7ccca88da33c7b85dde42a153746ff02b212570742dc987",
    "virtualhome-v1": "d9e70a1aeab1ed5fc433abad01d1e1c13671287d10ff4df18acc0dd29ef01ac8",
}
"""Name of a set -> SHA-256 of its file."""
_FOLDER = Path(__file__).parent


def find(name: str) -> Path | None:
    """The file of a task set; None if there is no such set.

    Raises:
        TaskError: its bytes are not those that were frozen.
        PluginError: the package that brings it is broken.
    """
    if name not in SETS:
        return BENCHMARKS.find(name).file() if name in BENCHMARKS.names() else None
    file = _FOLDER / f"{name}.jsonl"
    try:
        digest = hashlib.sha256(file.read_bytes()).hexdigest()
    except OSError as error:
        raise TaskError(f"Can't read {file}: {error.strerror}. Reinstall inhabit.") from error
    if digest != SETS[name]:
        raise TaskError(
            f"{file} differs from the frozen task set {name!r}. Reinstall "
            "inhabit, or give your own task set another name."
        )
    return file
