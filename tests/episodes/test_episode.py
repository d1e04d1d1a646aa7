"""An episode: reset, act, fork, and when it ends, for any course that it may take."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from toy_runs import toy_tasks

import inhabit
from inhabit.agents.core import Decision
from inhabit.envs.core import Action, Determinism, Env, Observation, Outcome, Reason, Task
from inhabit.envs.toy.env import Toy
from inhabit.episodes.episode import UNREADABLE, Episode, Limits, Moment, steps
from inhabit.episodes.recording.schema import Choice, Ending, Sight
from inhabit.episodes.view import LackingError

TOTAL = 2


@dataclass(frozen=True)
class Turn:
    """One step as it might go."""

    said: str | None
    """None: nothing that could be understood; "stop": to stop."""
    works: bool
    met: int
    over: bool
    cost: int

    def decision(self) -> Decision:
        if self.said == "stop":
            return Decision(None, stop=True)
        return Decision(Action(self.said, self.said) if self.said else None)

    def outcome(self) -> Outcome:
        reason = None if self.works and self.said else Reason.BLOCKED
        return Outcome(reason, "", self.met, TOTAL, self.over, self.cost)


TURNS = st.lists(
    st.builds(
        Turn,
        said=st.sampled_from(["a", "b", "b", None, "stop"]),
        works=st.booleans(),
        met=st.sampled_from([0, 0, 0, 1, TOTAL]),
        over=st.sampled_from([False] * 9 + [True]),
        cost=st.integers(0, 9),
    ),
    max_size=30,
)


def expected(turns: list[Turn], limits: Limits) -> Ending | None:
    """How it ends, told the other way round: by looking at every prefix from its end."""
    for n, last in enumerate(turns, 1):
        acted = [t for t in turns[:n] if t.said != "stop"]
        done = [t for t in acted if t.said]
        solved = bool(done) and done[-1].met == TOTAL
        over = last.over and last.said is not None
        failed = [t for t in acted if not t.works or t.said is None]
        if last.said == "stop":
            return Ending.SUCCESS if solved else Ending.STOPPED
        if not (over or len(failed) == limits.invalid or len(acted) == limits.steps):
            continue
        if solved:
            return Ending.SUCCESS
        if over:
            return Ending.WRONG_ANSWER
        if last.said is None and (len(failed) == limits.invalid or limits.steps == 1):
            return Ending.FORMAT_ERROR
        return Ending.INVALID_LIMIT if len(failed) == limits.invalid else Ending.STEP_LIMIT
    return None


@dataclass
class Scripted(Env):
    """An environment that takes a given course."""

    turns: Sequence[Turn]
    done: Iterator[Turn] = field(init=False)
    determinism = Determinism.STATE

    def reset(self, task: Task, *, seed: int) -> None:
        self.done = iter([turn for turn in self.turns if turn.said not in (None, "stop")])

    def observe(self) -> Observation:
        raise AssertionError("Nobody looks.")

    def vocabulary(self) -> Sequence[Action]:
        raise AssertionError("Nobody looks.")

    def actions(self) -> Sequence[Action]:
        raise AssertionError("Nobody looks.")

    def parse(self, text: str) -> Action | None:
        return None

    def act(self, action: Action) -> Outcome:
        return next(self.done).outcome()

    def progress(self) -> tuple[int, int]:
        return 0, TOTAL

    def close(self) -> None:
        return


@given(TURNS, st.builds(Limits, steps=st.integers(1, 12), invalid=st.integers(1, 5)))
def test_it_ends_when_it_should_and_the_sums_are_right(turns: list[Turn], limits: Limits) -> None:
    coming = iter(turns)
    episode = Episode(Scripted(turns), toy_tasks(1)[0], limits=limits)
    played: list[Turn] = []

    def decide(now: Moment) -> Decision | None:
        if (turn := next(coming, None)) is None:
            return None
        played.append(turn)
        return turn.decision()

    for _ in steps(episode, decide):
        pass
    now, tally = episode.now, episode.now.tally
    assert now.ending == expected(played, limits)
    assert expected(played[:-1], limits) is None, "It did not go on after its end."
    acted = [t for t in played if t.said != "stop"]
    assert now.number == len(now.history) == len(acted) <= limits.steps
    assert tally.cost == sum(t.cost for t in acted if t.said)
    assert tally.invalid == sum(not (t.works and t.said) for t in acted) <= limits.invalid
    assert tally.unmatched == sum(t.said is None for t in acted)
    assert tally.replans == sum(
        bool(a.said and b.said and not a.works and a.said != b.said) for a, b in pairwise(acted)
    )


def expert(now: Moment) -> Decision | None:
    env = now.episode.env
    assert isinstance(env, Toy)
    return Decision(plan[0]) if (plan := env.plan()) else None


def test_the_steps_are_those_that_a_run_records(tmp_path: Path) -> None:
    run = inhabit.run("toy", "expert", tmp_path / "run", n=3, seed=5, candidates="seen").run
    for record in run.episodes():
        attempt = record.last()
        assert attempt is not None
        assert attempt.end is not None
        episode = Episode(Toy(), record.task, attempt.start.seed, Limits(record.task.max_steps))
        now = episode.reset()
        for step in attempt.steps:
            assert (now.number, now.observation.text) == (step.number, step.see.text)
            assert now.digest == step.see.state
            assert tuple(action.text for action in now.candidates) == step.candidates
            if (decision := expert(now)) is None:
                break
            assert step.decide is not None
            assert step.act is not None
            assert decision.action is not None
            assert decision.action.text == step.decide.action
            now = episode.act(decision)
            assert (now.reason, now.feedback, now.met) == (
                step.act.reason,
                step.act.feedback,
                step.act.met,
            )
        assert (now.ending, now.number) == (attempt.end.ending, attempt.end.steps)
        assert now.tally.cost == attempt.end.cost


def test_a_fork_goes_its_own_way() -> None:
    episode = Episode(Toy(), toy_tasks(1)[0])
    start = episode.reset()
    seen = start.observation
    with episode.fork() as fork:
        assert fork.now.observation is seen, "What was looked at is not asked for again."
        after = fork.act(Decision(fork.now.candidates[0]))
        assert (after.number, fork.now.number, episode.now.number) == (1, 1, 0)
        assert fork.now.history[0].text == seen.text
    assert episode.now.candidates, "The original is still there."


def test_an_environment_that_cannot_be_copied_says_so() -> None:
    episode = Episode(Scripted(()), toy_tasks(1)[0])
    episode.reset()
    with pytest.raises(LackingError, match="copy"):
        episode.fork()


def test_what_was_not_looked_at_before_acting_is_gone() -> None:
    episode = Episode(Toy(), toy_tasks(1)[0])
    start = episode.reset()
    assert start.candidates
    after = episode.act(Decision(None, raw="sing"))
    assert (after.reason, after.feedback) == (Reason.UNKNOWN_ACTION, UNREADABLE)
    assert start.candidates, "It was looked at in time."
    assert after.history[0].action == "sing"
    assert after.history[0].rgb is None, "Nobody looked at the image."
    with pytest.raises(RuntimeError, match="look"):
        _ = start.observation


def test_a_stop_ends_it_where_it_is() -> None:
    episode = Episode(Toy(), toy_tasks(1)[0])
    seen = episode.reset().observation
    now = episode.act(Decision(None, stop=True))
    assert (now.ending, now.number) == (Ending.STOPPED, 0)
    assert now.observation is seen


def test_an_agent_is_shown_what_the_episode_allows() -> None:
    episode = Episode(
        Toy(), toy_tasks(1)[0], 3, candidates=Choice.VOCABULARY, sight=Sight.BLANK, remember=1
    )
    episode.reset()
    for _ in range(3):
        _ = episode.now.observation
        episode.act(Decision(episode.now.candidates[0]))
    view = episode.now.view()
    assert len(view.candidates) == 27
    assert view.seed == 3
    assert view.observation.rgb is not None
    assert not view.observation.rgb.any()
    assert episode.now.observation.rgb is not None
    assert episode.now.observation.rgb.any(), "The record keeps the real image."
    assert [step.rgb is None for step in view.history] == [True, True, False]
