"""Regret in ALFRED and VirtualHome beside that of a search of all that can be done.

An agent follows the expert until two actions are left, and then acts by lot. The states that are
compared are those from there on, as far as two or three actions are enough.
"""

from __future__ import annotations

from collections import Counter
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

import pytest
from exhaustive import fewest

import inhabit
from inhabit.agents.core import View
from inhabit.envs.alfred.env import Alfred
from inhabit.envs.alfred.world.settings import AlfredSettings
from inhabit.envs.virtualhome.env import EmbeddedVirtualHome
from inhabit.envs.virtualhome.world.settings import VirtualHomeSettings
from inhabit.episodes.credit.credit import credit_run
from inhabit.episodes.recording.reader import Run

ASTRAY = 3
"""Actions by lot at the end of each episode."""
SETTINGS: dict[str, dict[str, Any]] = {"alfred": {"wire": "none"}, "virtualhome": {"view": "none"}}
"""What makes them quick and changes no result."""


def made(env: str) -> Any:
    """The environment, in this process."""
    if env == "alfred":
        return Alfred(settings=AlfredSettings(**SETTINGS[env]))
    return EmbeddedVirtualHome(VirtualHomeSettings(**SETTINGS[env]))


def astray(env: str, folder: Path, episodes: int, seed: int) -> Run:
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
        verb = rng.choice(sorted({action.verb for action in view.candidates}))
        lot = rng.choice([action for action in view.candidates if action.verb == verb])
        return lot.text if since <= ASTRAY else None

    return inhabit.run(
        env,
        errs,
        folder,
        n=episodes,
        seed=seed,
        grants=["expert"],
        sight="none",
        candidates="seen",
        settings={"in_process": True, **SETTINGS[env]},
    ).run


def compared(run: Run, most: int) -> Counter[str]:
    """How the cost to go, and the regret of actions, compare with a search of `most` actions."""
    found: Counter[str] = Counter()
    make = partial(made, run.header.env)
    env = make()
    for record, credit in credit_run(run, make):
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
@pytest.mark.parametrize(
    ("env", "episodes", "most", "exact"), [("alfred", 12, 2, 0.95), ("virtualhome", 30, 3, 1.0)]
)
def test_regret_is_that_of_a_search(
    env: str, episodes: int, most: int, exact: float, tmp_path: Path
) -> None:
    """No way of the expert's is shorter than the shortest, and hardly any is longer."""
    found = compared(astray(env, tmp_path / "run", episodes, seed=8), most)
    searched = found["states exact"] + found["states above"]
    regrets = found["regret equal"] + found["regret differs"]
    assert found["states below"] == 0 and found["states exact"] >= exact * searched > 0, found
    assert found["regret equal"] >= exact * regrets > 0, found
