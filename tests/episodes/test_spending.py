"""What was spent before a run or an episode was cut off counts when it goes on."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from toy_runs import Dying, play_toy, toy_tasks

from inhabit.agents.core import Agent, Call, Decision, View
from inhabit.episodes.playing.resume import calls_of, seconds_of
from inhabit.episodes.recording.reader import Run
from inhabit.episodes.recording.schema import Ending

FAST = ["in_process=true", "retries=2", "pause=0.01"]


class Pays(Agent):
    """Takes the first candidate, slowly, with a call for each decision."""

    def __init__(self, seconds: float = 0.0) -> None:
        self._seconds = seconds
        self.asked = 0

    async def decide(self, view: View) -> Decision:
        self.asked += 1
        await asyncio.sleep(self._seconds)
        return Decision(view.candidates[0], calls=(Call((), f"{self.asked}", 10, 1),))


def cut_off(run: Run, kept: int) -> None:
    """As a kill leaves the first episode: so many lines of its last attempt, and half of one."""
    file = run.episode(0).file
    lines = file.read_bytes().splitlines(keepends=True)
    start = max(i for i, line in enumerate(lines) if json.loads(line)["kind"] == "start")
    file.write_bytes(b"".join(lines[: start + kept]) + b'{"kind":"act","st')


def test_every_call_counts_once_however_often_it_is_acted_again(tmp_path: Path) -> None:
    agent = Pays(0.002)
    words: dict[str, Any] = {"tasks": toy_tasks(2), "max_steps": 6, "assignments": FAST}
    run = play_toy(tmp_path, made=agent, make=lambda: Dying(3), **words)
    assert len(run.episode(0).attempts()) == 3, "Each goes on with the one before."
    assert len(list(calls_of(run))) == agent.asked
    for kept in (3, 6, 12):
        cut_off(run, kept)
        run = play_toy(tmp_path, made=agent, **words)
        written = {
            call.reply
            for episode in run.episodes()
            for attempt in episode.attempts()
            for step in attempt.steps
            for call in (step.decide.calls if step.decide else ())
        }
        assert sorted(call.reply for call in calls_of(run)) == sorted(written)
        last = run.episode(0).last()
        assert last is not None and last.end is not None
        spent = sum(step.decide.seconds for step in last.steps if step.decide)
        assert last.end.seconds.model == pytest.approx(spent, abs=1e-5)


@pytest.mark.slow
def test_the_time_of_an_episode_counts_over_all_attempts(tmp_path: Path) -> None:
    # Decisions take so long that whatever else the machine does matters little.
    words: dict[str, Any] = {
        "tasks": toy_tasks(1),
        "max_steps": 50,
        "assignments": ["in_process=true", "max_seconds=5", "max_invalid=50"],
    }
    agent = Pays(0.5)
    end = play_toy(tmp_path, made=agent, **words).episode(0).end()
    assert end is not None and end.ending is Ending.BUDGET
    whole = agent.asked
    run = Run.open(tmp_path)
    cut_off(run, 3 * (whole - 2))
    before = seconds_of(run.episode(0).attempts())
    assert 0.5 * (whole - 3) < before < 5
    end = play_toy(tmp_path, made=agent, **words).episode(0).end()
    assert end is not None and end.ending is Ending.BUDGET
    assert "max_seconds" in str(end.error)
    assert agent.asked - whole < whole / 2, "Most of the time was spent before."
