"""A benchmark of one's own: twelve frozen tasks of `keydoor`, and a metric."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from inhabit.envs.tasksets import Benchmark, EpisodeResult


def keys_taken(results: Sequence[EpisodeResult]) -> float:
    """The share of episodes in which at least the key was taken."""
    return sum(result.met >= 1 for result in results) / len(results)


BENCHMARK = Benchmark(
    name="keydoor-v1",
    version="1",
    env="keydoor",
    summary="twelve rooms of 4 to 7 cells a side",
    tasks=Path(__file__).with_name("keydoor-v1.jsonl"),
    sha256="452b776ba21e6be0491a5e8f06cf181549c9dfee54bcba8b96ccc8e3ea2e785a",
    metrics={"keys taken": keys_taken},
)
