"""Regret in ALFRED beside that of a search of all that can be done.

An agent follows the expert until two actions are left, and then acts by lot. The states that are
compared are those from there on, as far as one or two actions are enough.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from random import Random

import pytest
from exhaustive import fewest

import inhabit
from inhabit.agents.core import View
from inhabit.envs.alfred.env import Alfred
from inhabit.envs.alfred.world.settings import AlfredSettings
from inhabit.episodes.credit.credit import credit_run
from inhabit.episodes.recording.reader import Run

ASTRAY = 3
"""Actions by lot at the end of each episode."""


def made() -> Alfred:
    return Alfred(settings=AlfredSettings(wire="none"))


def astray(folder: Path, episodes: int, seed: int) -> Run:
    """Episodes of the expert that end with actions by lot."""
    rng, since = Random(seed), 0

    async def errs(view: View) -> str | None:
        nonlocal since
        assert view.grants.plan is not None
        since = 0 if not view.history else since
        plan = [] if since else await view.grants.plan()
        if len(plan) > 2:
            return plan[0].text
        since += 1
        return rng.choice(view.candidates).text if since <= ASTRAY else None

    return inhabit.run(
        "alfred",
        errs,
        folder,
        n=episodes,
        seed=seed,
        grants=["expert"],
        sight="none",
        candidates="seen",
        settings={"in_process": True, "wire": "none"},
    ).run


def compared(run: Run, most: int) -> Counter[str]:
    """How the cost to go, and the regret of actions, compare with a search of `most` actions."""
    found: Counter[str] = Counter()
    env = made()
    for record, credit in credit_run(run, made):
        attempt = record.last()
        assert attempt is not None
        env.reset(attempt.start.task, seed=attempt.start.seed)
        taken: tuple[int, int] | None = None
        for step in credit.steps:
            cost = None if step.before is None else step.before.actions
            best = None
            if cost is not None and len(credit.steps) - step.step <= ASTRAY + 1:
                best = fewest(env, attempt.start.task, min(cost, most))
                found[f"states {_beside(cost, best, most)}"] += 1
            if taken is not None and best is not None:
                regret, before = taken
                found[f"regret {'equal' if regret == 1 + best - before else 'differs'}"] += 1
            taken = None
            if best is not None and step.regret is not None:
                taken = step.regret.actions, best
            if (action := env.parse(step.action or "")) is not None:
                env.act(action)
    env.close()
    return found


def _beside(cost: int, best: int | None, most: int) -> str:
    if best is None:
        return "beyond" if cost > most else "below"
    return "exact" if best == cost else "above"


@pytest.mark.slow
def test_regret_is_that_of_a_search(tmp_path: Path) -> None:
    """The expert's way is never shorter than the shortest; some of its actions fail."""
    found = compared(astray(tmp_path / "run", episodes=12, seed=8), most=2)
    searched = found["states exact"] + found["states above"]
    assert found["states below"] == 0 and found["states exact"] >= 0.8 * searched > 0, found
    assert found["regret differs"] <= 0.2 * found["regret equal"], found
