"""Checks what only groups of twins promise: equal words, different answers, differences to be seen.

Written apart from the checks of the maker. Sets without groups, of earlier versions, pass.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray
from PIL import Image as Picture

from check_stage import Stage
from check_texts import squeeze
from inhabit.eie.examples.example import Example
from inhabit.envs.core import Forkable, SceneObject

SIDE, BORDER = 160, 5
"""Images are compared at this size, without this many pixels at each edge."""
STEP, SHARE = 20, 0.003
"""A pixel has changed from this difference on, an image from this share of pixels on."""
LARGER = 1.25
"""How much larger something looks from nearby, at least."""
MOST = 4
"""Examples of one task."""
_FLIPS = re.compile(r"(open|close|turn on|turn off|switch on|switch off)\b", re.IGNORECASE)
_NOT_IN_VIEW = re.compile(r"the ([a-z ]+?) (?:is|are) not in view")
_GOES = re.compile(r"(go|walk|run|move) to\b", re.IGNORECASE)

Finding = tuple[str, str, str]
"""Id of the example, cause, sentence."""


def change(one: NDArray[np.uint8], other: NDArray[np.uint8]) -> float:
    """The share of an image in which it differs from another."""
    both = [
        np.asarray(Picture.fromarray(p).resize((SIDE, SIDE), Picture.Resampling.BILINEAR), float)
        for p in (one, other)
    ]
    inner = np.abs(both[0] - both[1]).max(axis=2)[BORDER:-BORDER, BORDER:-BORDER]
    return float((inner >= STEP).mean())


def check_groups(examples: Sequence[Example]) -> Iterator[Finding]:
    """What is wrong between examples: within groups, and among all."""
    groups: dict[str, list[Example]] = defaultdict(list)
    for example in examples:
        if example.twins:
            groups[example.twins].append(example)
    for members in groups.values():
        yield from _group(members)
    grouped = [example for example in examples if example.group]
    yield from _rows(grouped)
    yield from _rooms(grouped)


def _group(members: Sequence[Example]) -> Iterator[Finding]:
    first = members[0]
    for other in members[1:]:
        if _words(other) != _words(first):
            yield other.id, "twins", f"Its words are not those of {first.id}."
        if other.split != first.split:
            yield other.id, "twins", f"It is in {other.split}, and {first.id} in {first.split}."
    answers = {example.answer for example in members}
    if len(answers) < len(members):
        yield first.id, "twins", "Two of its group have the same answer."
    if len(members) < 2 or len(members) < len(first.candidates) - 1:
        yield first.id, "twins", f"Its group has {len(members)} members, for all its candidates."
    if len(members) > MOST:
        yield first.id, "twins", f"There are {len(members)} of its task."


def _words(example: Example) -> tuple[object, ...]:
    past = tuple((p.action, p.feedback, p.failed) for p in example.history)
    return example.goal, example.text, example.question, example.candidates, past


def _rows(examples: Sequence[Example]) -> Iterator[Finding]:
    """Rows with equal images and words."""
    known: dict[tuple[object, ...], Example] = {}
    for example in examples:
        pictures = (example.image, *(p.image for p in example.history))
        row = (pictures, example.goal, example.question)
        other = known.setdefault(row, example)
        if other is not example:
            same = other.candidates[other.answer] == example.candidates[example.answer]
            said = "equal" if same else "equal but for the answer"
            yield example.id, "row", f"Its pictures and words and those of {other.id} are {said}."
        if example.kind == "recognition" and pictures[0] in pictures[1:]:
            yield example.id, "film", "Its pictures are equal."


def _rooms(examples: Sequence[Example]) -> Iterator[Finding]:
    splits: dict[str, str] = {}
    for example in examples:
        if example.room and splits.setdefault(example.room, example.split) != example.split:
            yield example.id, "room", f"{example.room} is in {splits[example.room]} too."


def check_sight(example: Example, stage: Stage, least: int) -> Iterator[tuple[str, str]]:
    """What a person could not see in the images of one twin, with the stage at its moment.

    Args:
        example: one of a group.
        stage: brought to it.
        least: pixels from which on something is seen.
    """
    answer = example.candidates[example.answer]
    things = stage.things()
    if example.kind == "recognition":
        yield from _film(answer, stage, things)
        return
    for thing in things:
        if thing.held and thing.pixels < least and squeeze(thing.kind) not in squeeze(example.text):
            yield "unseen", f"The {thing.kind} in the hand is neither seen nor told."
    for said in _NOT_IN_VIEW.findall(example.reason.lower()):
        if any(squeeze(t.kind) == squeeze(said) and t.pixels >= least for t in things):
            yield "unseen", f"It says that the {said} is not in view, and one is."
    if _FLIPS.match(answer) and isinstance(stage.env, Forkable):
        with stage.env.fork() as twin:
            twin.act(stage.action(answer))
            now, then = stage.seen[-1].rgb, twin.observe().rgb
        if now is not None and then is not None and change(now, then) < SHARE:
            yield "unseen", f"After {answer!r} the picture is nearly the same."


def _film(answer: str, stage: Stage, things: Sequence[SceneObject]) -> Iterator[tuple[str, str]]:
    first, last = stage.seen[-2].rgb, stage.seen[-1].rgb
    if first is None or last is None or change(first, last) < SHARE:
        yield "unseen", f"The pictures before and after {answer!r} are nearly the same."
    if answer.startswith(("pick up", "grab")) and not any(t.held and t.pixels for t in things):
        yield "unseen", "What was taken is not to be seen in the hand."


def check_nearer(example: Example, stage: Stage) -> Iterator[tuple[str, str]]:
    """Whether a video of going somewhere shows the place before, and larger afterwards."""
    answer = example.candidates[example.answer]
    if example.kind != "recognition" or not _GOES.match(answer) or example.lineage is None:
        return
    kind = squeeze(re.sub(r"_\d+\b", "", _GOES.sub("", answer).replace(" the ", " ")))
    now = max((t.pixels for t in stage.things() if squeeze(t.kind) == kind), default=0)
    earlier = example.model_copy(
        update={
            "lineage": example.lineage.model_copy(update={"actions": example.lineage.actions[:-1]})
        }
    )
    stage.bring(earlier)
    was = max((t.pixels for t in stage.things() if squeeze(t.kind) == kind), default=0)
    if not was:
        yield "unseen", f"The {kind} is not in the picture before."
    elif now < LARGER * was:
        yield "unseen", f"The {kind} has {now} pixels after {answer!r}, and {was} before."
