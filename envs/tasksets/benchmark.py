"""A benchmark: a frozen set of tasks over an environment, with a version and metrics of its own.

Packages of others add theirs through the entry-point group `inhabit.benchmarks`.
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
    """How it ended, such as "success" or "step_limit"."""
    success: bool
    met: int
    """Goal conditions that held at the end, of `total`."""
    total: int
    steps: int
    cost: int
    """Low-level steps."""
    invalid: int
    """Actions that could not be carried out."""


Metric = Callable[[Sequence[EpisodeResult]], float]
"""The results of every task of a benchmark -> one finite number."""


@dataclass(frozen=True, slots=True)
class Benchmark:
    """A frozen set of tasks by name. What changes a result gets another version and name."""

    name: str
    """As `inhabit run --tasks NAME` takes it, version included: "keydoor-far-v1"."""
    version: str
    env: str
    """Name of the environment that its tasks are for."""
    summary: str
    tasks: Path
    """A `.jsonl` file, a `Task` a line."""
    sha256: str
    """Of the file's bytes, in hexadecimal digits."""
    metrics: Mapping[str, Metric] = field(default_factory=dict)
    """Computed for a run of all its tasks, once every episode has ended."""

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
