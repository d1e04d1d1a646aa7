"""Exports are played by the environments that read the benchmarks' own files."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
from PIL import Image as Picture

from inhabit.eie.export.export import SetSource, export
from inhabit.eie.sets.folder import SetFolder
from inhabit.envs.core import Env, Task
from inhabit.envs.registry import find
from tests.eie.made_set import NASTY, read_examples, write_set


@contextmanager
def playing(name: str, source: Path) -> Iterator[tuple[Env, list[Task]]]:
    registration = find(name)
    settings = registration.settings()
    with registration.make(registration.backends[0], settings) as env:
        yield env, list(registration.read(str(source), settings))


@pytest.mark.parametrize("saying", ["", NASTY])
def test_pca_bench_plays_a_set(saying: str, tmp_path: Path) -> None:
    folder = write_set(tmp_path / "set", saying=saying)
    export(SetSource(SetFolder.open(folder)), "pca", tmp_path / "out")
    for split in ("train", "val", "test"):
        examples = [e for e in read_examples(folder) if e.split == split]
        with playing("pca_bench", tmp_path / "out" / split) as (env, tasks):
            assert len(tasks) == len(examples)
            for task, example in zip(tasks, examples, strict=True):
                env.reset(task, seed=0)
                assert {a.text for a in env.actions()} >= set(example.candidates)
                shown = env.observe().rgb
                assert shown is not None
                with Picture.open(folder / example.image) as seen:
                    assert (shown == np.asarray(seen)).all()
                right = env.parse(example.candidates[example.answer])
                assert right is not None
                outcome = env.act(right)
                assert outcome.met == outcome.total


def test_egoplan_bench_plays_a_set(tmp_path: Path) -> None:
    folder = write_set(tmp_path / "set", kind="trajectory")
    examples = read_examples(folder)
    export(SetSource(SetFolder.open(folder)), "egoplan", tmp_path / "out")
    with playing("egoplan", tmp_path / "out") as (env, tasks):
        by_split = {s: [e for e in examples if e.split == s] for s in ("train", "test", "val")}
        # The files in the order of their names: EgoPlan_IT, EgoPlan_test, EgoPlan_validation.
        asked = [e for split in by_split.values() for e in split]
        assert len(tasks) == len(asked)
        for task, example in zip(tasks, asked, strict=True):
            env.reset(task, seed=0)
            seen = env.observe()
            assert seen.rgb is not None
            with Picture.open(folder / example.image) as now:
                assert np.abs(seen.rgb.astype(int) - np.asarray(now)).mean() < 6
            # The last four actions, each as a video that begins with what was seen before it.
            assert len(seen.clips) == min(4, len(example.history))
            for clip, past in zip(seen.clips[::-1], example.history[::-1], strict=False):
                assert past.image is not None
                assert len(clip.frames) >= 2
                with Picture.open(folder / past.image) as before:
                    apart = np.abs(clip.frames[0].astype(int) - np.asarray(before))
                assert apart.mean() < 6
            right = env.parse(example.candidates[example.answer])
            assert right is not None
            outcome = env.act(right)
            assert outcome.met == outcome.total
