from __future__ import annotations

import functools
import hashlib
import json
import os
import random
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pytest

from inhabit.envs.contract import EnvContract
from inhabit.envs.core import Env, SceneError, Task
from inhabit.envs.iwisdm import REGISTRATION, IwisdmSettings, library
from inhabit.envs.iwisdm.env import ANSWERS, Iwisdm, plausible
from inhabit.envs.iwisdm.library import (
    ANGLES,
    CATEGORIES,
    OBJECTS,
    TrialAuthor,
    dataset,
    draw,
    installed,
    interpreter,
    stimuli,
)
from inhabit.episodes.scoring.builtin_metrics import wilson

needed = pytest.mark.skipif(not installed(), reason="lacks iWISDM: run `inhabit setup iwisdm`")
LEVELS = ("single", "low", "medium", "high")
JOINS = ("queue", "overlap", "interleave", "condition")


def test_an_interpreter_without_its_python_is_made_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(
        library, "_make_interpreter", lambda venv: (venv / "bin/python").mkdir(parents=True)
    )
    (interpreter().parents[1] / "lib").mkdir(parents=True)
    library.prepare("embedded", lambda said: None)
    assert installed() and not (interpreter().parents[1] / "lib").exists()


@functools.cache  # starting the library takes a second or two
def sample(n: int, **settings: str) -> Sequence[Task]:
    return tuple(REGISTRATION.sample(n, 0, IwisdmSettings.model_validate(settings)))


def make(**settings: str) -> Env:
    return REGISTRATION.make("library", IwisdmSettings.model_validate(settings))


@pytest.fixture(scope="module")
def author() -> Iterator[TrialAuthor]:
    one = TrialAuthor()
    yield one
    one.close()


@needed
@pytest.mark.slow
class TestIwisdm(EnvContract):
    @pytest.fixture(autouse=True)
    def share(self, author: TrialAuthor) -> None:
        """Starting the library takes a second or two."""
        self.author = author

    def make(self) -> Env:
        return Iwisdm(author=self.author)

    def tasks(self) -> Sequence[Task]:
        return sample(3)


@needed
@pytest.mark.slow
class TestTogether(EnvContract):
    def make(self) -> Env:
        return make(showing="together")

    def tasks(self) -> Sequence[Task]:
        return sample(3, level="single", join="queue")


@pytest.mark.slow
def test_there_are_enough_stimuli_and_no_two_are_alike() -> None:
    """Eight categories of eight objects from four sides."""
    assert (len(CATEGORIES), OBJECTS, len(ANGLES)) == (8, 8, 4)
    pictures = set()
    for one in stimuli():
        picture = draw(one)
        assert picture.shape == (112, 112, 3)
        assert 0.03 < (picture.max(axis=2) > 12).mean() < 0.9, f"{one} can hardly be seen."
        pictures.add(picture.tobytes())
    assert len(pictures) == 256
    assert len(list((dataset() / "val").iterdir())) == 256


@needed
def test_trials_are_those_of_the_library_called_directly(author: TrialAuthor) -> None:
    """Instruction, answers and frames, from the same seeds; and in whatever order they come."""
    seeds = [0, 7, 12345]
    said = subprocess.run(
        [interpreter(), Path(__file__).with_name("direct.py"), dataset(), *map(str, seeds)],
        env={**os.environ, "PYTHONHASHSEED": "0"},
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    for seed, line in reversed(list(zip(seeds, said.splitlines(), strict=True))):
        trial = author.write("low", "none", seed)
        digest = hashlib.sha256(trial.frames.tobytes()).hexdigest()
        assert [trial.instruction, list(trial.answers), digest] == json.loads(line)


@pytest.mark.slow
@needed
def test_colours_come_out_right(author: TrialAuthor) -> None:
    """The library changes red and blue over; its frames show the images as they were drawn."""
    drawn = [draw(one).astype(int) for one in stimuli() if one.category == "kettle"]
    for seed in range(60):
        trial = author.write("single", "none", seed)
        if trial.answers != ("kettle",):
            continue
        places = [trial.frames[0][y : y + 112, x : x + 112] for y in (0, 112) for x in (0, 112)]
        (shown,) = [place.astype(int) for place in places if place.any()]
        assert min(float(np.abs(shown - one).mean()) for one in drawn) < 0.5
        return
    pytest.fail("No kettle came.")


@pytest.mark.slow
@needed
@pytest.mark.parametrize("level", LEVELS)
def test_the_expert_solves_and_every_answer_is_plausible(level: str) -> None:
    _solve(level, "steps" if level == "high" else "together", 2)


@needed
@pytest.mark.slow
@pytest.mark.parametrize("level", LEVELS)
def test_the_expert_solves_three_hundred_of_each_level(level: str) -> None:
    """And whoever draws lots is right as often as chance has it."""
    rate, chance = _solve(level, "together", 300)
    low, high = wilson(round(300 * rate), 300)
    assert low <= chance <= high


def _solve(level: str, showing: str, n: int) -> tuple[float, float]:
    """How often lots were right, and how often they should be; the expert always is."""
    draw_lots = random.Random(level)
    lucky = chance = 0.0
    with make(showing=showing) as env:
        for task in sample(n, level=level):
            env.reset(task, seed=0)
            options = [action.text for action in env.actions()]
            answers = env.plan()  # type: ignore[attr-defined]
            assert {answer.text for answer in answers} <= set(options) <= set(ANSWERS)
            lucky += all(draw_lots.choice(options) == answer.text for answer in answers)
            chance += (1 / len(options)) ** len(answers)
            outcomes = [env.act(action) for action in answers]
            assert outcomes[-1].over and outcomes[-1].met == outcomes[-1].total
    return lucky / n, chance / n


@pytest.mark.slow
@needed
@pytest.mark.parametrize("join", JOINS)
def test_joined_tasks(join: str, author: TrialAuthor) -> None:
    tasks = sample(3, join=join)
    with Iwisdm(author=author) as env:
        for task in tasks:
            env.reset(task, seed=0)
            due = env.progress()[1]
            assert due == (1 if join == "condition" else 2)
            assert ("else" in task.goal) == (join == "condition")
            for action in env.plan():  # type: ignore[attr-defined]
                outcome = env.act(action)
            assert outcome.over and outcome.met == due


@pytest.mark.slow
@needed
def test_a_goal_of_another_version_is_refused(author: TrialAuthor) -> None:
    (task,) = sample(1)
    with Iwisdm(author=author) as env, pytest.raises(SceneError, match="another version"):
        env.reset(task.model_copy(update={"goal": "observe {x}"}), seed=0)


@pytest.mark.parametrize(
    ("instruction", "answers"),
    [
        ("observe object 1, location of object 1?", 4),
        ("observe object 1, category of object 1?", 8),
        ("observe object 1, location of object 1 not equals top left?", 2),
        ("observe object 1, if location of object 2 equals location of object 1, then category of "
         "object 3? else location of object 4 equals location of object 5?", 10),
        ("", 0),
    ],
)  # fmt: skip
def test_what_is_plausible_follows_from_the_instruction(instruction: str, answers: int) -> None:
    assert len(plausible(instruction)) == answers
