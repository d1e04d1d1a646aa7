"""What judging the actions of an episode costs: copies, questions to the expert, processor time.

Episodes of ALFRED without images, by an agent that scores candidates by lot, and the expert's own.
`inhabit credit` judges what was done at each step, and with `--candidates 10` the ten best-ranked
actions that were not done. Copies and questions are counted; times are processor times of one
process, to which starting the simulator does not count.
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import inhabit
from inhabit.envs.alfred.env import Alfred
from inhabit.envs.alfred.world.settings import AlfredSettings
from inhabit.episodes.credit.credit import FILE, credit_run
from inhabit.episodes.recording.reader import Run

EPISODES, STEPS, OPTIONS = 4, 6, 10


def main() -> None:
    """Print the figures."""
    figures: dict[str, dict[str, object]] = {}
    with tempfile.TemporaryDirectory() as folder:
        for agent, model, options in (("rank", "scripted:noise", OPTIONS), ("expert", None, 0)):
            run = Path(folder) / agent
            inhabit.run(
                "alfred",
                agent,
                run,
                model=model,
                n=EPISODES,
                seed=43,
                max_steps=None if agent == "expert" else STEPS,
                sight="none",
                settings={"in_process": True, "wire": "none"},
            )
            figures |= measure(Run.open(run), agent, options)
    sys.stdout.write(json.dumps(figures) + "\n")


def measure(run: Run, agent: str, options: int) -> dict[str, dict[str, object]]:
    """The figures of a run."""
    with counting() as count:
        begin = time.process_time()
        found = [one for _, one in credit_run(run, here, options=options)]
        seconds = time.process_time() - begin
    (run.folder / FILE).unlink()
    steps = sum(len(one.steps) for one in found)
    judged = steps + sum(len(step.options) for one in found for step in one.steps)
    sys.stderr.write(
        f"  {agent}: {steps} steps, {judged} actions judged, {count.copies} copies, "
        f"{count.plans} plans, {count.acts} actions of copies, {seconds:.1f} s\n"
    )

    def figure(value: float, unit: str, bound: str, what: str) -> dict[str, object]:
        return {"value": round(value, 3), "unit": unit, "bound": bound, "what": f"{what}, {agent}"}

    return {
        f"{agent}_judged": figure(judged / seconds, "a core-s", ">= 20", "actions judged"),
        f"{agent}_copies": figure(count.copies / judged, "", "", "copies for each"),
        f"{agent}_plans": figure(count.plans / judged, "", "", "questions to the expert for each"),
    }


def here() -> Alfred:
    """An environment in this process, whose time and calls are counted."""
    return Alfred(settings=AlfredSettings(wire="none"))


@dataclass
class Count:
    """What was done within a block."""

    copies: int = 0
    plans: int = 0
    acts: int = 0


@contextmanager
def counting() -> Iterator[Count]:
    """Count what is asked of ALFRED's environments."""
    count, old = Count(), (Alfred.fork, Alfred.plan, Alfred.act)

    def fork(self: Alfred) -> Any:
        count.copies += 1
        return old[0](self)

    def plan(self: Alfred) -> Any:
        count.plans += 1
        return old[1](self)

    def act(self: Alfred, action: Any) -> Any:
        count.acts += 1
        return old[2](self, action)

    Alfred.fork, Alfred.plan, Alfred.act = fork, plan, act  # type: ignore[method-assign]
    try:
        yield count
    finally:
        Alfred.fork, Alfred.plan, Alfred.act = old  # type: ignore[method-assign]


if __name__ == "__main__":
    main()
