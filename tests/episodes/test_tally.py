"""When an episode ends and how, for any course that it may take."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from inhabit.agents.core import Call, Decision
from inhabit.envs.core import Action, Outcome, Reason
from inhabit.episodes.recording.schema import Ending
from inhabit.episodes.running.tally import Limits, Tally

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
        calls = (Call(({},), "", tokens_in=3, tokens_out=2),)
        if self.said == "stop":
            return Decision(None, stop=True, calls=calls)
        return Decision(Action(self.said, self.said) if self.said else None, calls=calls)

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
        solved = bool(acted) and acted[-1].met == TOTAL
        failed = [t for t in acted if not t.works or t.said is None]
        if last.said == "stop":
            return Ending.SUCCESS if solved else Ending.STOPPED
        if not (last.over or len(failed) == limits.invalid or len(acted) == limits.steps):
            continue
        if solved:
            return Ending.SUCCESS
        if last.over:
            return Ending.WRONG_ANSWER
        if last.said is None and (len(failed) == limits.invalid or limits.steps == 1):
            return Ending.FORMAT_ERROR
        return Ending.INVALID_LIMIT if len(failed) == limits.invalid else Ending.STEP_LIMIT
    return None


@given(TURNS, st.builds(Limits, steps=st.integers(1, 12), invalid=st.integers(1, 5)))
def test_it_ends_when_it_should_and_the_sums_are_right(turns: list[Turn], limits: Limits) -> None:
    tally = Tally(limits, met=0, total=TOTAL)
    played: list[Turn] = []
    for turn in turns:
        if tally.ending is not None:
            break
        played.append(turn)
        decision = turn.decision()
        tally.decided(decision)
        if not decision.stop:
            tally.acted(decision, turn.outcome())
    assert tally.ending == expected(played, limits)
    assert expected(played[:-1], limits) is None, "It did not go on after its end."
    acted = [t for t in played if t.said != "stop"]
    assert tally.steps == len(acted) <= limits.steps
    assert tally.cost == sum(t.cost for t in acted)
    assert tally.invalid == sum(not (t.works and t.said) for t in acted) <= limits.invalid
    assert tally.unmatched == sum(t.said is None for t in acted)
    assert (tally.tokens.read, tally.tokens.written) == (3 * len(played), 2 * len(played))
    assert tally.replans == sum(
        bool(a.said and b.said and not a.works and a.said != b.said) for a, b in pairwise(acted)
    )
