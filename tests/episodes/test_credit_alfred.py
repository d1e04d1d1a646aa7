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
from inhabit.episodes.credit.schema import StepCredit
from inhabit.episodes.recording.reader import Run

HERE = {"in_process": True, "wire": "none"}


def made() -> Alfred:
    return Alfred(settings=AlfredSettings(wire="none"))


def solved(env: Env) -> bool:
    met, total = env.progress()
    return met == total


def needed(env: Alfred) -> int | None:
    """The actions of the expert, which plans anew after each; None where it finds no way."""
    done = 0
    with env.fork() as copy:
        while not solved(copy):
            plan = copy.plan()
            if not plan or done > 60:
                return None
            copy.act(plan[0])
            done += 1
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


def planted(folder: Path, episodes: int, seed: int) -> list[tuple[bool, bool]]:
    """For each episode in which a mistake was planted, whether its step, and its kind, is named."""
    rng, found = Random(seed), []
    inhabit.run(
        "alfred", "expert", folder / "expert", n=episodes, seed=seed, sight="none", settings=HERE
    )
    expert = Run.open(folder / "expert")
    for number, record in enumerate(expert.episodes()):
        attempt = record.last()
        assert attempt is not None
        plan = [step.decide.action or "" for step in attempt.steps if step.decide]
        kind, place = ("useless", "harmful", "final")[number % 3], rng.randrange(len(plan))
        task, wrong = expert.tasks[number], "stop"
        if kind != "final":
            drawn = mistake(kind, task, attempt.start.seed, plan[:place], rng)
            if drawn is None:
                continue
            wrong = drawn

        way = [*plan[:place], None if wrong == "stop" else wrong]

        def errs(view: View, way: Sequence[str | None] = way) -> str | None:
            return way[len(view.history)]

        run = inhabit.run(
            "alfred",
            errs,
            folder / str(number),
            tasks=[task],
            seed=expert.header.seed,
            max_steps=place + 1,
            sight="none",
            settings=HERE,
        ).run
        ((_, credit),) = credit_run(run, made)
        lost = [step for step in credit.steps if step.cause]
        right = [step.step for step in lost] == [place]
        found.append((right, right and kind == kind_of(lost[0])))
    return found


def kind_of(step: StepCredit) -> str:
    """What kind of mistake the credit of a step tells of."""
    if step.after is None:
        return "final"
    return "useless" if step.regret is not None and step.regret.actions == 1 else "harmful"


@pytest.mark.slow
def test_planted_mistakes_are_named_with_their_kind(tmp_path: Path) -> None:
    """Useless, harmful and final ones, at random steps: of 60, 58 are to be named, and 55 kinds."""
    found = planted(tmp_path, episodes=30, seed=61)
    steps, kinds = (sum(column) for column in zip(*found, strict=True))
    assert len(found) >= 21
    assert steps >= len(found) * 58 / 60 and kinds >= len(found) * 55 / 60, found


def compared(folder: Path, episodes: int, seed: int) -> list[tuple[int | None, int | None]]:
    """The regret of each action of a random agent, and the same from plans that are walked here."""
    run = inhabit.run(
        "alfred",
        "random",
        folder / "run",
        n=episodes,
        seed=seed,
        max_steps=4,
        sight="none",
        settings=HERE,
    ).run
    found: list[tuple[int | None, int | None]] = []
    for record, credit in credit_run(run, made):
        attempt = record.last()
        assert attempt is not None
        with made() as env:
            env.reset(attempt.start.task, seed=attempt.start.seed)
            before = needed(env)
            for step in credit.steps:
                action = env.parse(step.action or "")
                assert action is not None
                env.act(action)
                after = needed(env)
                by = None if before is None or after is None else 1 + after - before
                found.append((None if step.regret is None else step.regret.actions, by))
                before = after
    return found


@pytest.mark.slow
def test_a_random_agents_regret_is_that_of_walked_plans(tmp_path: Path) -> None:
    found = compared(tmp_path, episodes=4, seed=62)
    assert len(found) == 16 and all(told == walked for told, walked in found), found
