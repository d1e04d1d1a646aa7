"""Time, memory and what is left behind, over a long random walk."""

from __future__ import annotations

import os
import random
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median, quantiles

from inhabit.agents.core import Decision
from inhabit.envs.core import Env, Task
from inhabit.episodes.episode import Episode, Limits
from inhabit.episodes.validating.check import CheckFigure, Measure
from inhabit.episodes.validating.subject import DoesNotApply, Subject

STEPS, FAST_STEPS = 2000, 200
_LONGEST_EPISODE = 100
_LONGEST_WALK = 240.0
"""Seconds after which a walk is cut short."""
_SLOWEST = 1.0
"""Seconds of a step, in the median."""
_NOISE = 2e-3
"""Seconds that are not told apart."""
_READINGS = 40
_MEGABYTE = 1 << 20


@dataclass(frozen=True)
class Walk:
    """What was measured in a random walk through episode after episode."""

    steps: list[float] = field(default_factory=list)
    """Seconds of each step: to act, to observe and to list what can be done."""
    resets: list[float] = field(default_factory=list)
    """Seconds of each reset, the first observation included."""
    memory: list[int] = field(default_factory=list)
    """Bytes of this process and of those that it started, at equal distances."""


def _walk(subject: Subject) -> Walk:
    """The walk, which is taken once."""
    if not isinstance(walk := subject.kept.get("walk"), Walk):
        walk = subject.kept["walk"] = Walk()
        with subject.make() as env:
            _take(env, subject.tasks, walk, FAST_STEPS if subject.fast else STEPS)
    return walk


def _take(env: Env, tasks: Sequence[Task], walk: Walk, wanted: int) -> None:
    rng, began = random.Random("validate walk"), time.monotonic()
    number = 0
    while len(walk.steps) < wanted and time.monotonic() - began < _LONGEST_WALK:
        task = tasks[number % len(tasks)]
        limits = Limits(steps=min(_LONGEST_EPISODE, task.max_steps))
        episode = Episode(env, task, number, limits, remember=0)
        at = time.perf_counter()
        now = episode.reset()
        now.observation, now.candidates  # noqa: B018 - what an agent would look at
        walk.resets.append(time.perf_counter() - at)
        while now.ending is None and len(walk.steps) < wanted:
            if len(walk.steps) % (wanted // _READINGS) == 0:
                walk.memory.append(sum(map(_bytes, _processes())))
            action = rng.choice(now.candidates) if now.candidates else None
            at = time.perf_counter()
            now = episode.act(Decision(action, raw="(nothing)"))
            now.observation, now.candidates  # noqa: B018
            walk.steps.append(time.perf_counter() - at)
            if len(walk.steps) >= 5 and median(walk.steps) > _SLOWEST:
                return
        number += 1


def _processes(root: str = "self") -> Iterator[Path]:
    """The folders in /proc of this process and of those that it started."""
    yield Path("/proc", root)
    for file in Path("/proc", root, "task").glob("*/children"):
        with suppress(OSError):  # It has ended meanwhile.
            for child in file.read_text().split():
                yield from _processes(child)


def _bytes(process: Path) -> int:
    """What a process holds of the machine's memory."""
    with suppress(OSError):
        return int((process / "statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    return 0


def _length(subject: Subject) -> CheckFigure:
    walk, wanted = _walk(subject), FAST_STEPS if subject.fast else STEPS
    return CheckFigure(len(walk.steps) / wanted, f"{len(walk.steps)} steps of {wanted}.")


def _step_time(subject: Subject) -> CheckFigure:
    steps = _walk(subject).steps
    return CheckFigure(median(steps), f"The slowest of {len(steps)}: {max(steps):.3f} s.")


def _reset_time(subject: Subject) -> CheckFigure:
    resets = _walk(subject).resets
    return CheckFigure(median(resets), f"The slowest of {len(resets)}: {max(resets):.3f} s.")


def _slowing(subject: Subject) -> CheckFigure:
    """By the fastest tenth of the steps, which other processes of a busy machine disturb least."""
    steps = _walk(subject).steps
    quarter = len(steps) // 4
    if quarter < 10:
        raise DoesNotApply("The walk was cut short.")
    first, last = (quantiles(part, n=10)[0] for part in (steps[:quarter], steps[-quarter:]))
    said = f"A fast step takes {1e3 * first:.2f} ms at first and {1e3 * last:.2f} ms at last."
    return CheckFigure(1.0 if last - first < _NOISE else last / first, said)


def _memory(subject: Subject) -> CheckFigure:
    """Growth after the first half, in which caches are filled."""
    memory: Sequence[int] = _walk(subject).memory
    if len(memory) < _READINGS // 2:
        raise DoesNotApply("The walk was cut short.")
    if not memory[0]:
        raise DoesNotApply("Only Linux tells.")
    half, quarter = len(memory) // 2, len(memory) // 4
    grown = median(memory[-quarter:]) - median(memory[half - quarter : half])
    return CheckFigure(grown / _MEGABYTE, f"{memory[-1] / _MEGABYTE:.0f} MB in all at the end.")


def _left_behind(subject: Subject) -> CheckFigure:
    """Threads, open files and processes that each of a few environments leaves."""
    if not Path("/proc/self/fd").exists():
        raise DoesNotApply("Only Linux tells.")
    counts = list[int]()
    for _ in range(4):
        with subject.make() as env:
            Episode(env, subject.tasks[0]).reset().observation  # noqa: B018
        files = sum(1 for _ in Path("/proc/self/fd").iterdir())
        counts.append(threading.active_count() + files + sum(1 for _ in _processes()))
    return CheckFigure((counts[-1] - counts[0]) / 3, f"In use after each: {counts}.")


MEASURES: Mapping[str, Measure] = {
    "runtime.resource_bounds.steps": _length,
    "runtime.resource_bounds.step_seconds": _step_time,
    "runtime.resource_bounds.reset_seconds": _reset_time,
    "runtime.resource_bounds.slowing": _slowing,
    "runtime.resource_bounds.memory": _memory,
    "runtime.resource_bounds.left_behind": _left_behind,
}
