"""Seeds, repetition and copies: whether the same thing happens again, and only then."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path

import numpy as np

from inhabit.agents.core import Decision
from inhabit.envs.core import Action, Determinism, Forkable, Task
from inhabit.episodes.episode import Episode
from inhabit.episodes.validating.check import CheckFigure, Measure
from inhabit.episodes.validating.subject import (
    DoesNotApply,
    Play,
    Subject,
    at_random,
    play,
    said_again,
    trace,
)

PROCESS_STEPS = 12
"""Steps of each episode that another process plays again."""
_PATIENCE = 300.0
"""Seconds that it may take for all."""


def _sampled(subject: Subject, n: int, seed: int) -> Sequence[Task]:
    if subject.source is not None:
        raise DoesNotApply("The tasks were given, and are not sampled.")
    return list(islice(subject.registration.sample(n, seed, subject.settings), n))


def _pinned(subject: Subject) -> CheckFigure:
    n = len(subject.tasks)
    once, again, fewer = (_sampled(subject, count, 0) for count in (n, n, max(1, n // 2)))
    wrong = [one.id for one, two in zip(once, again, strict=False) if one != two]
    wrong += [one.id for one, two in zip(once, fewer, strict=False) if one != two]
    return CheckFigure(
        len(wrong) + abs(len(once) - len(again)), f"{wrong[0]} differs." if wrong else ""
    )


def _seed_control(subject: Subject) -> CheckFigure:
    def start(task: Task) -> str:
        return f"{task.goal} {json.dumps(dict(task.scene), sort_keys=True)}"

    n = len(subject.tasks)
    known = {start(task) for task in _sampled(subject, n, 0)}
    others = _sampled(subject, n, 1)
    return CheckFigure(sum(start(task) not in known for task in others) / len(others))


def _starts(subject: Subject) -> CheckFigure:
    """Of tasks with different scenes, the share that looks like no other at its start."""
    scenes: dict[str, str] = {}
    for one in subject.walks:
        first = one.shots[0]
        shown = repr((first.seen.text, first.picture, first.candidates, first.digest))
        scenes.setdefault(json.dumps(dict(one.task.scene), sort_keys=True), shown)
    if len(scenes) < 2:
        raise DoesNotApply("All tasks have one scene.")
    return CheckFigure(len(set(scenes.values())) / len(scenes))


def _deterministic(subject: Subject) -> None:
    if subject.env.determinism is Determinism.NONE:
        raise DoesNotApply("It does not claim to be deterministic.")


def traces(subject: Subject) -> Mapping[str, Sequence[str]]:
    """Task -> a hash of each moment of a random episode, for another process to compare."""
    exact = subject.env.determinism is Determinism.FRAMES
    some, env = subject.tasks[:4], subject.env
    walks = [play(env, task, at_random(task), longest=PROCESS_STEPS) for task in some]
    return {one.task.id: trace(one.shots, pictures=exact) for one in walks}


def _processes(subject: Subject) -> CheckFigure:
    _deterministic(subject)
    if subject.fast:
        raise DoesNotApply("--fast starts no other process.")
    asked = {
        "target": subject.target,
        "backend": subject.backend,
        "n": len(subject.tasks),
        "assignments": [*subject.assignments],
        "source": subject.source,
    }
    # Another hash seed, so that whatever goes by the order of a set differs.
    other = subprocess.run(
        [sys.executable, "-m", "inhabit.episodes.validating.reproduction"],
        input=json.dumps(asked),
        capture_output=True,
        text=True,
        timeout=_PATIENCE,
        env={**os.environ, "PYTHONHASHSEED": "4711"},
        check=False,
    )
    if other.returncode:
        return CheckFigure(1, f"The other process ended with: {other.stderr.strip()[-300:]}")
    here, there = traces(subject), json.loads(other.stdout.splitlines()[-1])
    wrong = [name for name in here if list(here[name]) != there.get(name)]
    return CheckFigure(len(wrong), f"{wrong[0]} differs." if wrong else "")


def _replay(subject: Subject) -> CheckFigure:
    """Episodes as a record has them, texts alone, acted again in another environment."""
    _deterministic(subject)
    exact = subject.env.determinism is Determinism.FRAMES
    wrong = []
    for one in _recorded(subject):
        told = said_again(subject.other, one)
        again = play(subject.other, one.task, told, longest=len(one.acted))
        left, right = (trace(x.shots, pictures=exact) for x in (one, again))
        if left != right:
            wrong.append(one.task.id)
    return CheckFigure(len(wrong), f"{wrong[0]} differs." if wrong else "")


def _recorded(subject: Subject) -> Iterator[Play]:
    for task in subject.tasks[: 3 if subject.fast else 6]:
        longest = min(20, task.max_steps)
        yield play(subject.env, task, at_random(task, "replay"), longest=longest)


def _forks(subject: Subject) -> CheckFigure:
    """Copies that go on in another way than what they were copied from."""
    subject.needs(Forkable, "a copy of its state")
    wrong = []
    for task in subject.tasks[:4]:
        episode, pick = subject.begin(task), at_random(task, "fork")
        for _ in range(3):
            _act(episode, pick(episode.now))
        with episode.fork() as copy:
            for _ in range(6):
                action = pick(copy.now)
                left, right = _act(copy, action), _act(episode, action)
                if left != right:
                    wrong.append(f"{task.id}, {action and action.text!r}: {left} and {right}.")
    return CheckFigure(len(wrong), wrong[0][:400] if wrong else "")


def _act(episode: Episode, action: Action | None) -> tuple[object, ...]:
    if episode.now.ending is not None:
        return ()
    now = episode.act(Decision(action, raw="(nothing)"))
    offered = [one.text for one in now.candidates]
    return now.reason, now.feedback, now.met, now.over, now.observation.text, offered


def _reset_anywhere(subject: Subject) -> CheckFigure:
    """Starts that are not as they were, after a reset in the middle of an episode."""
    _deterministic(subject)
    exact = subject.env.determinism is Determinism.FRAMES
    wrong = []
    for task in subject.tasks[:2]:
        with subject.make() as new:
            first = play(new, task, at_random(task), longest=1).shots[:1]
            start = trace(first, pictures=exact)
        for length in range(1, 5 if subject.fast else 9):
            play(subject.env, task, at_random(task, str(length)), longest=length)
            again = play(subject.env, task, at_random(task), longest=1).shots[:1]
            if trace(again, pictures=exact) != start:
                wrong.append(f"{task.id} after {length} steps.")
    return CheckFigure(len(wrong), wrong[0] if wrong else "")


def _containment(subject: Subject) -> CheckFigure:
    """What an episode changes of the process around it."""

    def now() -> Mapping[str, object]:
        return {
            "the environment variables": dict(os.environ),
            "the working folder": [Path.cwd(), *sorted(Path.cwd().iterdir())],
            "random's global state": hash(random.getstate()),
            "NumPy's global state": repr(np.random.get_state()),
        }

    kept = random.getstate(), np.random.get_state()
    random.seed("validate")
    np.random.seed(4711)
    before = now()
    play(subject.env, subject.tasks[0], at_random(subject.tasks[0], "host"), longest=10)
    after = now()
    random.setstate(kept[0])
    np.random.set_state(kept[1])
    wrong = [what for what in before if before[what] != after[what]]
    return CheckFigure(len(wrong), f"It changes {', '.join(wrong)}." if wrong else "")


MEASURES: Mapping[str, Measure] = {
    "static.task_distribution_pinning": _pinned,
    "runtime.seed_control": _seed_control,
    "runtime.seed_control.starts": _starts,
    "runtime.episode_determinism": _processes,
    "semantic.replayability": _replay,
    "runtime.fork_fidelity": _forks,
    "runtime.episode_isolation": _reset_anywhere,
    "runtime.host_containment": _containment,
}


if __name__ == "__main__":  # another process, told on stdin what is validated
    with Subject.open(**json.load(sys.stdin)) as told:
        sys.stdout.write(json.dumps(traces(told)) + "\n")
