"""Other attempts at an episode, and its forks."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from inhabit.envs.files import is_regular
from inhabit.episodes.playing.preference import Continuation, PreferencePair, read_pairs
from inhabit.episodes.recording.reader import Attempt, EpisodeRecord, Run
from inhabit.episodes.recording.schema import EndLine

_FORK = re.compile(r"forks/[0-9]+")


@dataclass(frozen=True, slots=True)
class OtherAttempt:
    """An attempt that is not the one shown."""

    number: int
    end: EndLine | None
    """None where it was cut off."""
    steps: int
    """That it decided."""
    continues: int | None


@dataclass(frozen=True, slots=True)
class Branch:
    """A fork of the episode."""

    step: int
    instead: str
    """What was done otherwise in that step."""
    way: Continuation
    better: bool | None
    """Whether it came out better than the original; None where neither did."""
    page: str | None
    """Its own page, seen from the episode's; None where there is none."""


def attempts(found: Sequence[Attempt], shown: Attempt) -> Sequence[OtherAttempt]:
    """All of `found` but `shown`, in order."""
    return [
        OtherAttempt(
            attempt.start.attempt,
            attempt.end,
            sum(step.decide is not None for step in attempt.steps),
            attempt.start.continues,
        )
        for attempt in found
        if attempt.start.attempt != shown.start.attempt
    ]


def forks(run: Run, episode: EpisodeRecord) -> Sequence[Branch]:
    """Every fork that was made of `episode`, oldest first.

    Raises:
        RecordError: the file that tells of them can't be read.
    """
    return [_branch(run, pair) for pair in read_pairs(run) if pair.episode == episode.number]


def _branch(run: Run, pair: PreferencePair) -> Branch:
    return Branch(
        step=pair.step,
        instead=", ".join(_changes(pair)),
        way=pair.forked,
        better=None if pair.better is None else pair.better == "forked",
        page=_page(run, pair.fork),
    )


def _changes(pair: PreferencePair) -> Iterator[str]:
    changed = pair.changed
    if changed.action is not None:
        yield changed.action
    if changed.hint is not None:
        yield f"told: {changed.hint}"
    if changed.model is not None:
        yield f"asked {changed.model}"


def _page(run: Run, fork: str) -> str | None:
    # What a record from elsewhere names must not lead out of its folder.
    if not _FORK.fullmatch(fork):
        return None
    page = f"{fork}/episodes/00000/index.html"
    return f"../../{page}" if is_regular(run.folder / page, run.folder) else None
