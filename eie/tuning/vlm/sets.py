"""Recorded episodes as a set of examples, which `inhabit tune` reads."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from inhabit.eie.examples.example import Example, Lineage, Past, Split
from inhabit.eie.tuning.demonstrations import RecordedEpisode, episodes_in
from inhabit.envs.core import Task


@dataclass(frozen=True, slots=True)
class Telling:
    """How an episode is told."""

    goal: str
    rename: Callable[[str], str] = str
    """Gives the objects in a text the names that they have in the goal."""


Tells = Callable[[Task, random.Random], Telling]

_WRONG = 3


def write_set(
    recordings: list[Path], target: Path, *, split: Split, tells: Tells, copies: int, seed: int
) -> int:
    """Write the steps of recorded episodes as examples; returns their number.

    Args:
        recordings: folders of `demonstrations.record`, inside the folder of `target`'s parent.
        target: folder of the set. Its images are links to those of the recordings.
        split: of the examples.
        tells: how each copy is told.
        copies: how often each episode is taken, each time told anew.
        seed: of the tellings and of the wrong candidates.
    """
    target.mkdir(parents=True, exist_ok=True)
    count = 0
    half = target / "examples.jsonl.half"
    with half.open("w", encoding="utf-8") as file:
        for recording in recordings:
            frames = _linked(recording, target)
            for episode in episodes_in(recording):
                for copy in range(copies):
                    rng = random.Random(f"{seed} {copy} {episode.task.id}")
                    told = tells(episode.task, rng)
                    for example in _examples(episode, told, frames, split, copy, rng):
                        file.write(example.model_dump_json() + "\n")
                        count += 1
    half.replace(target / "examples.jsonl")
    return count


def _linked(recording: Path, target: Path) -> str:
    """The prefix of the files of frames, which become reachable in `target` by hard links."""
    folder = recording / "frames"
    if folder.is_dir():
        (target / "frames").mkdir(exist_ok=True)
        for file in folder.iterdir():
            linked = target / "frames" / file.name
            if not linked.exists():
                linked.hardlink_to(file)
    return ""


def _examples(
    episode: RecordedEpisode,
    told: Telling,
    prefix: str,
    split: Split,
    copy: int,
    rng: random.Random,
) -> Iterator[Example]:
    past: list[Past] = []
    for number, step in enumerate(episode.steps):
        best = told.rename(step.best)
        renamed = dict.fromkeys(map(told.rename, episode.vocabulary))
        wrong = [text for text in renamed if text != best]
        candidates = [best, *rng.sample(wrong, min(_WRONG, len(wrong)))]
        rng.shuffle(candidates)
        *frames, image = step.frames or ("",)
        yield Example(
            id=f"{episode.task.id}-{copy}-{number}",
            env=episode.task.env,
            kind="trajectory",
            split=split,
            image=image,
            frames=tuple(frames),
            image_digest=Path(image).stem,
            text=told.rename(step.text),
            question=told.goal,
            candidates=tuple(candidates),
            answer=candidates.index(best),
            reason="",
            key_concepts=(best,),
            goal=told.goal,
            history=tuple(past),
            lineage=Lineage(
                author="expert", seed_task=episode.task.id, task={"id": episode.task.id}, seed=copy
            ),
        )
        past.append(
            Past(
                action=told.rename(step.action),
                feedback=told.rename(step.feedback),
                failed=step.reason is not None,
            )
        )
