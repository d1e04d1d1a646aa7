"""Mistakes that are planted into the expert's way through ALFRED, and what they cost.

What each costs is computed here, by walking the expert's plans in copies, apart from the package.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from random import Random

import pytest

import inhabit
from inhabit.agents.core import View
from inhabit.envs.alfred.env import Alfred
from inhabit.envs.alfred.world.settings import AlfredSettings
from inhabit.envs.core import Action, Env, Task
from inhabit.episodes.credit.credit import credit_run
from inhabit.episodes.recording.reader import Run

HERE = {"in_process": True, "wire": "none"}
EPISODES = 30


def made() -> Alfred:
    return Alfred(settings=AlfredSettings(wire="none"))


def solved(env: Env) -> bool:
    met, total = env.progress()
    return met == total


def needed(env: Alfred) -> int | None:
    """The actions of the expert's way from here; None where it finds none."""
    done = 0
    with env.fork() as copy:
        while not solved(copy):
            plan = copy.plan()
            for action in plan:
                done += 1
                if copy.act(action).reason is not None or solved(copy):
                    break
            if not plan or done > 60:
                return None
    return done


def costs(env: Alfred, action: Action, before: int) -> tuple[int, bool] | None:
    """What an action costs that the expert's would not have, and whether it has an effect."""
    with env.fork() as copy:
        works = copy.act(action).reason is None
        after = needed(copy)
    return None if after is None else (1 + after - before, works)


def mistake(kind: str, task: Task, seed: int, plan: list[str], rng: Random) -> str | None:
    """An action that is useless, because it fails, or harmful: it works and leads away."""
    with made() as env:
        env.reset(task, seed=seed)
        for text in plan:
            action = env.parse(text)
            assert action is not None and env.act(action).reason is None
        before = needed(env)
        if before is None:
            return None
        tried = [*env.actions()] if kind == "useless" else [*env.admissible()]
        rng.shuffle(tried)
        for action in tried[:20]:
            found = costs(env, action, before)
            if found == (1, False) if kind == "useless" else found and found[0] > 1 and found[1]:
                return action.text
    return None


@pytest.mark.slow
def test_planted_mistakes_are_named_with_their_kind(tmp_path: Path) -> None:
    """Useless, harmful and final ones, at random steps: of 60, 58 are to be named, and 55 kinds."""
    rng, steps, kinds, planted = Random(5), 0, 0, 0
    folder = tmp_path / "expert"
    inhabit.run("alfred", "expert", folder, n=EPISODES, seed=61, sight="none", settings=HERE)
    expert = Run.open(folder)
    for number, record in enumerate(expert.episodes()):
        attempt = record.last()
        assert attempt is not None
        plan = [step.decide.action or "" for step in attempt.steps if step.decide]
        kind, place = ("useless", "harmful", "final")[number % 3], rng.randrange(len(plan))
        task, seed, wrong = expert.tasks[number], attempt.start.seed, "stop"
        if kind != "final":
            found = mistake(kind, task, seed, plan[:place], rng)
            if found is None:
                continue
            wrong = found

        way = [*plan[:place], None if wrong == "stop" else wrong]

        def errs(view: View, way: Sequence[str | None] = way) -> str | None:
            return way[len(view.history)]

        run = inhabit.run(
            "alfred",
            errs,
            tmp_path / str(number),
            tasks=[task],
            seed=expert.header.seed,
            max_steps=place + 1,
            sight="none",
            settings=HERE,
        ).run
        ((_, credit),) = credit_run(run, made)
        lost = [step for step in credit.steps if step.cause]
        planted += 1
        if [step.step for step in lost] != [place]:
            continue
        steps += 1
        by = 0 if lost[0].regret is None else lost[0].regret.actions
        named = "final" if lost[0].after is None else "useless" if by == 1 else "harmful"
        kinds += named == kind
    assert planted >= 0.7 * EPISODES
    assert steps >= planted * 58 / 60 and kinds >= planted * 55 / 60, (planted, steps, kinds)
