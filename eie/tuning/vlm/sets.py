"""Recorded episodes as a set of examples, which `inhabit tune` reads."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from pathlib import Path

from inhabit.eie.examples.example import Example, Lineage, Past, Split
from inhabit.eie.tuning.demonstrations import RecordedEpisode, episodes_in
from inhabit.envs.core import Task

Tells = Callable[[Task, random.Random], str]
"""The goal of a task in words."""

_WRONG = 3


def write_set(
    recordings: list[Path], target: Path, *, split: Split, tells: Tells, copies: int, seed: int
) -> int:
    """Write the steps of recorded episodes as examples; returns their number.

    Args:
        recordings: folders of `demonstrations.record`, inside the folder of `target`'s parent.
        target: folder of the set. Its images are links to those of the recordings.
        split: of the examples.
        tells: the words of the goal, for each copy.
        copies: how often each episode is taken, with other words each time.
        seed: of the words and of the wrong candidates.
    """
    target.mkdir(parents=True, exist_ok=True)
    count = 0
    half = target / "examples.jsonl.half"
    with half.open("w", encoding="utf-8") as file:
        for recording in recordings:
            _link_frames(recording, target)
            for episode in episodes_in(recording):
                for copy in range(copies):
                    rng = random.Random(f"{seed} {copy} {episode.task.id}")
                    goal = tells(episode.task, rng)
                    for example in _examples(episode, goal, split, copy, rng):
                        file.write(example.model_dump_json() + "\n")
                        count += 1
    half.replace(target / "examples.jsonl")
    return count


def _link_frames(recording: Path, target: Path) -> None:
    """Make the frames of a recording reachable in `target`, by hard links."""
    folder = recording / "frames"
    if folder.is_dir():
        (target / "frames").mkdir(exist_ok=True)
        for file in folder.iterdir():
            linked = target / "frames" / file.name
            if not linked.exists():
                linked.hardlink_to(file)


def _examples(
    episode: RecordedEpisode,
    goal: str,
    split: Split,
    copy: int,
    rng: random.Random,
) -> Iterator[Example]:
    past: list[Past] = []
    for number, step in enumerate(episode.steps):
        wrong = [text for text in episode.vocabulary if text != step.best]
        candidates = [step.best, *rng.sample(wrong, min(_WRONG, len(wrong)))]
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
            text=step.text,
            question=goal,
            candidates=tuple(candidates),
            answer=candidates.index(step.best),
            reason="",
            key_concepts=(step.best,),
            goal=goal,
            history=tuple(past),
            lineage=Lineage(
                author="expert", seed_task=episode.task.id, task={"id": episode.task.id}, seed=copy
            ),
        )
        past.append(
            Past(
                action=step.action,
                feedback=step.feedback,
                failed=step.reason is not None,
            )
        )
