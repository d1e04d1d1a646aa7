"""Writes one attempt at an episode down, a line at a time, as it happens."""

from __future__ import annotations

import asyncio
import json
import re
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from concurrent.futures import Future

import numpy as np
from numpy.typing import NDArray

from inhabit.agents.core import Decision
from inhabit.agents.models.core import Image
from inhabit.envs.core import Action, Observation, Outcome, Reason, Task
from inhabit.envs.files import is_regular
from inhabit.episodes.recording.disk import LineFile, Pictures
from inhabit.episodes.recording.index import IndexEntry
from inhabit.episodes.recording.reader import EpisodeRecord, read_lines
from inhabit.episodes.recording.schema import (
    DECIDED,
    ActLine,
    DecideLine,
    EndLine,
    Line,
    PlacedThing,
    PoseRecord,
    SeeLine,
    StartLine,
)

_DIGEST = re.compile(r"[0-9a-f]{1,64}")


class EpisodeWriter:
    """The record of one attempt.

    Every line is written whole and at once, so all of them survive a kill of the program. The disk
    is waited for (fsync) after a `decide` that a model was asked for, which may have cost money,
    and after the `end`, which may be counted on: these survive a loss of power too. Images are
    written meanwhile, and are all there before the `end` is.
    """

    def __init__(self, episode: EpisodeRecord, pictures: Pictures | None) -> None:
        """Open the record of `episode` for one attempt more; without `pictures` none are kept.

        Raises:
            RecordError: what earlier attempts left there can't be read.
            DiskError: it can't be written.
        """
        past = read_lines(episode.file, episode.run)
        self.attempt = 1 + sum(isinstance(line, StartLine) for line in past)
        self._folder = episode.folder
        self._run = episode.run
        self._pictures = pictures
        self._lines = LineFile(episode.file, episode.run)
        self._written: list[Future[None]] = []
        self._known: tuple[str, ...] = ()
        self._digests: set[str] = set()
        self._frame: str | None = None
        self._reasons: Counter[Reason] = Counter()

    def start(
        self,
        task: Task,
        seed: int,
        progress: tuple[int, int] | None,
        vocabulary: Sequence[Action] | None = None,
        continues: int | None = None,
        things: Sequence[PlacedThing] = (),
    ) -> None:
        """The scene stands (`progress` is None where it could not be built).

        `continues` is the attempt whose decisions are acted again first, `things` what is known of
        where things are.
        """
        met, total = progress or (None, None)
        words = None if vocabulary is None else tuple(a.text for a in vocabulary)
        self._known = words or ()
        self._append(
            StartLine(
                time=time.time(),
                attempt=self.attempt,
                task=task,
                seed=seed,
                vocabulary=words,
                met=met,
                total=total,
                continues=continues,
                things=tuple(things),
            )
        )

    def see(
        self,
        step: int,
        seen: Observation,
        candidates: Sequence[Action],
        state: str | None,
        pose: PoseRecord | None,
        seconds: float,
    ) -> None:
        """What there is to see before step `step`, or after the last one.

        `state` is the digest of the simulator's state, where it shows one.
        """
        frame = digest = None
        if (rgb := seen.rgb) is not None:
            digest = Image(rgb).digest
            frame = self._keep_frame(step, rgb)
            self._digests.add(digest)
        texts = tuple(a.text for a in candidates)
        repeated, self._known = texts == self._known, texts
        self._append(
            SeeLine(
                time=time.time(),
                step=step,
                text=seen.text,
                frame=frame,
                digest=digest,
                state=state,
                candidates=None if repeated else texts,
                pose=pose,
                seconds=round(seconds, 6),
            )
        )

    async def decide(self, step: int, decision: Decision, seconds: float) -> None:
        """What the agent wants: written when this returns."""
        self._images(decision.images)
        self._append(
            DecideLine(
                time=time.time(),
                step=step,
                action=decision.action.text if decision.action else None,
                seconds=round(seconds, 6),
                **{name: getattr(decision, name) for name in DECIDED},
            )
        )
        if decision.calls:
            await self._lines.sync()

    def act(self, step: int, outcome: Outcome, seconds: float) -> None:
        """Record the result of the action."""
        if outcome.reason is not None:
            self._reasons[outcome.reason] += 1
        self._append(
            ActLine(
                time=time.time(),
                step=step,
                reason=outcome.reason,
                feedback=outcome.feedback,
                met=outcome.met,
                total=outcome.total,
                over=outcome.over,
                cost=outcome.cost,
                seconds=round(seconds, 6),
            )
        )

    async def end(self, end: EndLine) -> None:
        """The attempt is over, and its images are written: on disk when this returns."""
        assert not self._written, "Pictures are waited for before an attempt ends."
        self._append(end)
        await self._lines.sync()

    def entry(self, number: int, end: EndLine) -> IndexEntry:
        """What the index of the run says of this attempt, once it has ended."""
        return IndexEntry(
            number=number,
            size=self._lines.size,
            end=end,
            frame=self._frame,
            reasons=dict(sorted(self._reasons.items())),
        )

    async def pictures_written(self) -> None:
        """Wait for the images.

        Raises:
            DiskError: one of them could not be written.
        """
        waiting, self._written = self._written, []
        for written in waiting:
            await asyncio.wrap_future(written)

    def close(self) -> None:
        """Let go of the file. Safe to call twice."""
        self._lines.close()

    def _append(self, line: Line) -> None:
        fields = line.model_dump(mode="json", by_alias=True)
        text = json.dumps(fields, ensure_ascii=False, separators=(",", ":"))
        # A model may return half a surrogate pair, which cannot be encoded in UTF-8.
        self._lines.append(text.encode("utf-8", errors="replace"))

    def _keep_frame(self, step: int, rgb: NDArray[np.uint8]) -> str | None:
        if self._pictures is None:
            return None
        again = f"-{self.attempt}" if self.attempt > 1 else ""
        self._frame = f"frames/{step:04d}{again}.jpg"
        self._picture(self._pictures, self._frame, rgb)
        return self._frame

    def _images(self, images: Mapping[str, NDArray[np.uint8]]) -> None:
        """Keep what a model was sent, but for what is kept as a frame already."""
        if self._pictures is None:
            return
        for digest, rgb in images.items():
            if digest in self._digests:
                continue
            if not _DIGEST.fullmatch(digest):
                raise ValueError(f"An agent names an image {digest!r}, which is not a digest.")
            self._digests.add(digest)
            file = f"images/{digest}.jpg"
            if not is_regular(self._folder / file, self._run):
                self._picture(self._pictures, file, rgb)

    def _picture(self, pictures: Pictures, file: str, rgb: NDArray[np.uint8]) -> None:
        while self._written and self._written[0].done():
            self._written.pop(0).result()
        self._written.append(pictures.write(self._folder / file, self._run, rgb))
