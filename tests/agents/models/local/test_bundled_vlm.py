"""`local:inhabit-vlm`, with the weights that come with the package."""

from __future__ import annotations

import asyncio
from pathlib import Path

import numpy as np
import pytest

import inhabit
from inhabit.agents.models.core import Image, Message, Model
from inhabit.agents.models.eyes import BUNDLED as EYES
from inhabit.agents.models.local.settings import LocalSettings
from inhabit.agents.models.registry import load
from inhabit.agents.models.vlm.sight import FrameDetector, look
from inhabit.envs.alfred.env import Alfred
from inhabit.envs.alfred.tasks.sampling import sample
from inhabit.envs.alfred.world.settings import AlfredSettings
from inhabit.episodes.recording.reader import Run

STATES = ("held", "on ", "open ")


@pytest.fixture(scope="module")
def model() -> Model:
    return load("local:inhabit-vlm", LocalSettings())


def odds(model: Model, frame: np.ndarray, name: str) -> float:
    """How much likelier "yes" is than "no" when it is asked whether it sees a thing."""
    asked = Message("user", ("Task: put a mug in the sink", Image(frame), f"\n{name}?"))
    prompt = (Message("system", ("",)), asked)
    yes, no = (one.logprob for one in asyncio.run(model.rank(prompt, ["yes", "no"])).scores)
    return yes - no


@pytest.mark.slow
def test_it_says_what_its_eyes_detect(model: Model) -> None:
    """Of a thing where it is seen, against the same thing where it is not: rooms that no stage of
    its training has seen."""
    settings, sight = AlfredSettings(wire="none", split="test"), FrameDetector(EYES)
    frames, seen = [], []
    with Alfred(settings=settings) as env:
        for task in sample(6, 1, settings):
            env.reset(task, seed=0)
            frames.append(env.observe().rgb)
            table = look([sight.frame(frames[-1])])
            seen.append({sight.names[int(row[0])]: row[1] for row in table})
    right = []
    for name in sorted(set().union(*seen)):
        shown = [i for i, one in enumerate(seen) if one.get(name, 0) >= 0.8]
        hidden = [i for i, one in enumerate(seen) if name not in one]
        if shown and hidden and not name.startswith(STATES):
            odds_of = [odds(model, frames[i], name) for i in (shown[0], hidden[0])]
            right.append(odds_of[0] > odds_of[1])
    assert len(right) >= 10 and sum(right) / len(right) > 0.75


def test_it_plays_by_beams_with_its_own_settings(tmp_path: Path) -> None:
    run = inhabit.run(
        "alfred",
        "beam",
        tmp_path / "run",
        model="local:inhabit-vlm",
        settings={"agent.width": 1, "in_process": True, "wire": "none"},
        candidates="vocabulary",
        n=1,
        max_steps=1,
    )
    header = Run.open(tmp_path / "run").header
    assert header.settings.agent["history"] == "whole" and header.settings.env["clips"] is True
    (episode,) = run.episodes()
    assert episode["steps"] == 1
    attempt = Run.open(tmp_path / "run").episode(0).last()
    assert attempt is not None and attempt.steps[0].decide is not None
    assert attempt.steps[0].decide.description


def test_it_names_what_its_eyes_detect(model: Model) -> None:
    """Surely, and of the classes that get tokens; in a black image nothing."""
    sight, settings = FrameDetector(EYES), AlfredSettings(wire="none")
    with Alfred(settings=settings) as env:
        env.reset(next(iter(sample(1, 3, settings))), seed=0)
        frame = env.observe().rgb
    told = asyncio.run(model.detected([Image(frame)])).split(", ")
    sure = {sight.names[int(row[0])] for row in look([sight.frame(frame)]) if row[2] >= 0.5}
    assert len(told) >= 3 and set(told) <= sure
    black = Image(np.zeros_like(frame))
    assert asyncio.run(model.detected([black])) == ""
    assert asyncio.run(model.detected([Image(frame), black])) == "", (
        "The last image is the present."
    )


@pytest.mark.slow
def test_it_solves_tasks(tmp_path: Path) -> None:
    """By beams of five the weights solved all of these when they were packed."""
    run = inhabit.run(
        "alfred",
        "beam",
        tmp_path / "run",
        model="local:inhabit-vlm",
        settings={"agent.width": 1, "wire": "none", "frames": False},
        candidates="vocabulary",
        n=4,
        seed=2,
    )
    assert sum(episode["success"] for episode in run.episodes()) >= 3
