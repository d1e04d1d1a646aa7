"""Frozen task sets, for comparable results.

A set comes with the package as JSONL, and with the hash of its bytes: what was changed by accident
is refused, not run. A set that has to change gets another name.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path

from inhabit.envs.core import TaskError
from inhabit.envs.tasksets.benchmark import BENCHMARKS, Benchmark, EpisodeResult, Metric

__all__ = ["BENCHMARKS", "SETS", "Benchmark", "EpisodeResult", "Metric", "find"]

SETS: Mapping[str, str] = {
    "alfred-v1": "bcfd92c666aa4ea7372cba7be935f42dbb1b4363a43d51107855307459132109",
    "minedojo-v1": "e58a1af913a8788ebe661a0aeb12d444a72fb91293b786da4d9b96396e428d9b",
    "values-v1": "7c8a47f5d6312738e7ccca88da33c7b85dde42a153746ff02b212570742dc987",
    "virtualhome-v1": "d9e70a1aeab1ed5fc433abad01d1e1c13671287d10ff4df18acc0dd29ef01ac8",
}
"""Name -> SHA-256 of the file."""
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
