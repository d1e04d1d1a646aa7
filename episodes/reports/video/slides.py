"""The slides of an episode video: a title, every step before and after its action, the ending."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from PIL import Image

from inhabit.episodes.recording.disk import FRAMES, read_picture
from inhabit.episodes.recording.reader import Attempt, EpisodeRecord, StepRecord
from inhabit.episodes.recording.schema import RunHeader
from inhabit.episodes.reports.floorplan import floor_plan, scene_plan
from inhabit.episodes.reports.video.slide import PICTURE, Slide, fit
from inhabit.episodes.reports.wording import ENDINGS, spoken
from inhabit.episodes.scoring.likelihood import shares

TITLE, DECIDED, DONE, LAST = 4, 1, 1, 5
"""Video frames per slide."""


@dataclass(frozen=True, slots=True)
class TimedSlide:
    """A slide, and its number of video frames."""

    slide: Slide
    frames: int
    moving: bool = False
    """Whether it is one of the images between two steps, which stay shorter."""


def shots(
    episode: EpisodeRecord,
    attempt: Attempt,
    header: RunHeader,
    views: Iterator[Sequence[Image.Image]] | None = None,
) -> Iterator[TimedSlide]:
    """The slides of an attempt, in order. Images are opened one at a time.

    `views` are what was seen since the step before; by default the recorded images.
    """
    worked = [s.act.reason is None for s in attempt.steps if s.act is not None]
    plan = floor_plan(attempt, scene_plan(header, attempt))
    slide = replace(_first(attempt, header), steps=(None,) * len(worked), plan=plan)
    if views is None:
        recorded = (picture(episode, step) for step in attempt.steps)
        views = ([] if seen is None else [seen] for seen in recorded)
    result: StepRecord | None = None
    for step, view in zip(attempt.steps, views, strict=False):
        for passed in view[:-1]:
            yield TimedSlide(replace(slide, picture=fit(passed)), 1, moving=True)
        slide = replace(
            slide, picture=fit(view[-1]) if view else None, seen=step.see.text, at=step.number
        )
        if result is not None:  # It is told beside the image that shows it.
            slide = _done(slide, result, worked)
            yield TimedSlide(slide, DONE)
        if step is attempt.steps[0]:
            yield TimedSlide(replace(slide, facts=facts(header)), TITLE)
        if step.decide is not None:
            slide = _decided(slide, step, len(worked))
            yield TimedSlide(slide, DECIDED)
        result = step if step.act is not None else None
    if result is not None:
        slide = _done(slide, result, worked)
        yield TimedSlide(slide, DONE)
    yield TimedSlide(_ending(slide, attempt), LAST)


def ending(episode: EpisodeRecord, attempt: Attempt, header: RunHeader) -> Slide:
    """The last slide only."""
    steps = attempt.steps
    slide = replace(
        _first(attempt, header),
        picture=picture(episode, steps[-1]) if steps else None,
        seen=steps[-1].see.text if steps else "",
        steps=tuple(s.act.reason is None for s in steps if s.act is not None),
    )
    return _ending(slide, attempt)


def _first(attempt: Attempt, header: RunHeader) -> Slide:
    return Slide(
        picture=None,
        seen="",
        heading=f"{header.env}  ·  {header.agent}",
        goal=attempt.start.task.goal,
        met=attempt.start.met or 0,
        total=attempt.start.total or 0,
    )


def facts(header: RunHeader) -> tuple[tuple[str, str], ...]:
    """The configuration of the run, which a success rate depends on."""
    grants = ", ".join(header.told)
    named = [
        ("environment", header.env),
        ("backend", header.backend),
        ("agent", header.agent),
        ("model", header.model or "none"),
        ("candidates", header.candidates),
        ("grants", grants or "none"),
        ("images", header.image),
    ]
    return tuple((name, value) for name, value in named)


def _decided(slide: Slide, step: StepRecord, of: int) -> Slide:
    decide = step.decide
    assert decide is not None
    said = "stop" if decide.stop else decide.raw or "no readable action"
    return replace(
        slide,
        count=f"step {step.number + 1} of {max(of, step.number + 1)}",
        action=spoken(decide.action or said),
        shares=[replace(s, text=spoken(s.text)) for s in shares(decide.ranked[:5])],
        reasoning=decide.reasoning or (decide.description and f"Reported: {decide.description}"),
        feedback="",
    )


def _done(slide: Slide, step: StepRecord, worked: Sequence[bool]) -> Slide:
    act = step.act
    assert act is not None
    return replace(
        slide,
        feedback=spoken(act.feedback),
        worked=act.reason is None,
        met=act.met,
        total=act.total,
        steps=_told(worked, step.number + 1),
    )


def _told(worked: Sequence[bool], so_far: int) -> tuple[bool | None, ...]:
    """How each step went, for the steps that the video has reached."""
    return tuple(w if place < so_far else None for place, w in enumerate(worked))


def _ending(slide: Slide, attempt: Attempt) -> Slide:
    end = attempt.end
    bare = replace(slide, action="", shares=(), reasoning="", feedback="", count="", worked=False)
    if end is None:
        return replace(bare, verdict="Interrupted")
    tokens = f"{end.tokens.read:,} in, {end.tokens.written:,} out"
    listed = [
        ("steps", f"{end.steps}, {end.invalid} invalid"),
        ("cost", f"{end.cost} low-level steps"),
        ("tokens", tokens if end.tokens.read or end.tokens.written else "none"),
    ]
    return replace(
        bare,
        worked=end.success,
        verdict=ENDINGS[end.ending],
        facts=tuple(listed),
        met=end.met,
        total=end.total,
    )


def picture(episode: EpisodeRecord, step: StepRecord, side: int = PICTURE) -> Image.Image | None:
    """What was seen, as it fits a square of `side` pixels; None where none can be read."""
    file = episode.frame(step.see)
    opened = None if file is None else read_picture(file, episode.run, FRAMES)
    return None if opened is None else fit(opened.convert("RGB"), side)
