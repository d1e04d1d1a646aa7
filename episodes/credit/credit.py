"""Acts recorded episodes again, and asks the expert before and after each action."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from inhabit.agents.core import Decision
from inhabit.envs.core import Action, Env, Expert, Factual, Forkable, Privileged
from inhabit.episodes.credit.schema import (
    NOTHING,
    Effort,
    EpisodeCredit,
    OptionCredit,
    StepCredit,
    least,
)
from inhabit.episodes.episode import Episode
from inhabit.episodes.judging import oracle
from inhabit.episodes.judging.anchors import gather
from inhabit.episodes.judging.scores import Dimension
from inhabit.episodes.judging.walk import answer_of
from inhabit.episodes.playing.retrace import retraced
from inhabit.episodes.recording.disk import LineFile
from inhabit.episodes.recording.index import Index
from inhabit.episodes.recording.reader import EpisodeRecord, Run, StepRecord, read_rows
from inhabit.episodes.view import LackingError

FILE = "credit.jsonl"
_MOST = 500
"""Actions of an expert that has not reached the goal by then and never will."""


@dataclass(frozen=True, slots=True)
class _Way:
    """How the expert goes on from a state."""

    effort: Effort | None
    """What it needs to the goal; None if it does not reach it."""
    actions: tuple[Action, ...] = ()


_Known = dict[str, _Way]
"""State -> the expert's way from there. Equal states have the same way, so following it costs no
regret."""


def credit_run(
    run: Run, make: Callable[[], Env], *, options: int = 0
) -> Iterator[tuple[EpisodeRecord, EpisodeCredit]]:
    """The credit of all episodes that have ended, which is written beside the record.

    Episodes that were done before, with as many options, are read from there.

    `options` is as for `credit_episode`.

    Raises:
        LackingError: the environment has no expert, or no copies.
        RecordError: a record can't be read, or the simulator no longer does what it says.
        SimulatorError, UnavailableError, DiskError: of what is used.
    """
    file = run.folder / FILE
    known = {number: one for number, one in credits_of(run).items() if one.options >= options}
    ended = [episode for episode in run.episodes() if episode.end() is not None]
    yield from ((one, known[one.number]) for one in ended if one.number in known)
    if all(one.number in known for one in ended):
        return
    with closing(LineFile(file, run.folder)) as lines, make() as env:
        if not (isinstance(env, Expert) and isinstance(env, Forkable)):
            raise LackingError(
                f"The environment {run.header.env!r} needs an expert and copies of its state "
                "(Expert and Forkable in inhabit.envs.core) for its actions to be compared."
            )
        for episode in ended:
            if episode.number not in known:
                found = credit_episode(env, episode, run.header.max_steps, options)
                lines.append(found.model_dump_json(exclude_defaults=True).encode())
                yield episode, found


def credits_of(run: Run) -> Mapping[int, EpisodeCredit]:
    """Episode -> its credit, for those that have one and have not been played again since then.

    Raises:
        RecordError: the file is broken, or a record can't be read.
    """
    known = read(run.folder / FILE, run.folder)
    ends = dict(enumerate(Index(run).ends())) if known else {}
    return {c.episode: c for c in known if (end := ends.get(c.episode)) and end.is_of(c.attempt)}


def read(file: Path, inside: Path) -> list[EpisodeCredit]:
    """The episodes of a file; of one that was done twice the last line counts.

    Raises:
        RecordError: a complete line is not an episode's credit.
    """
    rows = read_rows(file, inside, EpisodeCredit.model_validate_json)
    return list({one.episode: one for one in rows}.values())


def credit_episode(
    env: Env, episode: EpisodeRecord, most: int | None, options: int
) -> EpisodeCredit:
    """The credit of every decision of an episode that has ended.

    So many `options`, the best-ranked actions that were not chosen, are tried at each step.

    Raises:
        RecordError: the simulator no longer does what the record says.
    """
    end = episode.end()
    assert end is not None, "Only what has ended has a credit."
    points: list[_Point] = []
    known: _Known = {}
    again: Episode | None = None
    for step, again in retraced(env, episode):
        points.append(_Point(episode, step, again, options, known))
    after = None if again is None else _way(again, known).effort
    limit = episode.task.max_steps if most is None else most
    steps: list[StepCredit] = []
    for point in reversed(points):
        steps.append(point.credit(after, limit))
        after = steps[-1].before
    return EpisodeCredit(
        episode=episode.number,
        kind=episode.task.kind,
        success=end.success,
        attempt=end.attempt,
        options=options,
        steps=tuple(reversed(steps)),
    )


def _way(episode: Episode, known: _Known) -> _Way:
    """The expert's way from here, walked in a copy unless it is `known`."""
    state = _state(episode)
    if state is not None and state in known:
        return known[state]
    with episode.fork() as copy:
        return _walked(copy, known)


def _walked(copy: Episode, known: _Known) -> _Way:
    """The expert's way from where `copy` is, to the goal or to a state whose way is `known`.

    It is asked anew after each action, as when it acts itself: from there it may see a shorter way.
    The ways of all states that it passes are known from then on; of one that it passes twice, as
    by an action without effect, the way from the last time.
    """
    assert isinstance(copy.env, Expert), "A copy can do what its original can."
    passed: list[tuple[str | None, Action, int]] = []
    refused: set[Action] = set()
    way: _Way | None = None
    while way is None:
        state = _state(copy)
        if copy.now.success:
            way = _Way(NOTHING)
        elif state is not None and state in known:
            way = known[state]
        else:
            plan = () if copy.now.over or len(passed) > _MOST else copy.env.plan()
            if not plan or plan[0] in refused:
                way = _Way(None)
                continue
            now = copy.act(Decision(plan[0]))
            passed.append((state, plan[0], now.cost))
            refused = set() if now.reason is None else {*refused, plan[0]}
    for state, action, cost in reversed(passed):
        effort = way.effort and Effort(actions=1, steps=cost) + way.effort
        way = _Way(effort, (action, *way.actions))
        if state is not None:
            way = known.setdefault(state, way)
    return way


def _state(episode: Episode) -> str | None:
    """What names the state; None where the environment doesn't tell."""
    return episode.env.digest() if isinstance(episode.env, Privileged) else None


class _Point:
    """A recorded decision, and what the expert says of the state before it."""

    def __init__(
        self, record: EpisodeRecord, step: StepRecord, again: Episode, options: int, known: _Known
    ) -> None:
        self._step = step
        self._known = known
        way = _way(again, known)
        self._to_go, self._plan = way.effort, way.actions
        self._misses = self._overlooks(record, again)
        self._options = {text: self._try(again, text) for text in _others(step, options)}

    def credit(self, after: Effort | None, most: int) -> StepCredit:
        """Its credit, with the cost to go `after` it, where `most` steps may be done."""
        step, decide, act = self._step, self._step.decide, self._step.act
        assert decide is not None, "Only what was decided has a credit."
        if decide.stop and after != NOTHING:
            after = None  # Who gives up reaches nothing.
        taken = Effort(actions=act is not None, steps=act.cost if act else 0)
        ways = [*self._options.values(), after and taken + after]
        before = least([self._to_go, *ways])
        regret = after and before and taken + after - before
        lost = before is not None and regret != NOTHING
        failed = act is not None and act.reason is not None
        return StepCredit(
            step=step.number,
            action=decide.action,
            reason=act.reason if act else None,
            before=before,
            after=after,
            regret=regret,
            in_time=after is not None and after.actions <= most - step.number - 1,
            cause=self._cause(decide.action, failed=failed) if lost else None,
            options=tuple(
                OptionCredit(action=text, regret=way and before and way - before)
                for text, way in self._options.items()
            ),
        )

    def _try(self, again: Episode, text: str) -> Effort | None:
        """What an action and the way after it cost; None if no way is known."""
        action = again.env.parse(text)
        if action is None:
            return None
        with again.fork() as copy:
            cost = copy.act(Decision(action)).cost
            after = _way(copy, self._known).effort
        return after and Effort(actions=1, steps=cost) + after

    def _cause(self, action: str | None, *, failed: bool) -> Dimension:
        if failed and action in [one.text for one in self._plan]:
            return Dimension.ACTION
        return Dimension.PERCEPTION if self._misses else Dimension.COGNITION

    def _overlooks(self, record: EpisodeRecord, again: Episode) -> bool:
        """Whether the agent's description lacks what matters, or has it wrong."""
        decide, env = self._step.decide, again.env
        if decide is None or not decide.description or not isinstance(env, Factual):
            return False
        told = env.state() if isinstance(env, Privileged) else {}
        known = gather(self._plan, None, tuple(env.things()), told)
        return oracle.judge(answer_of(record, self._step), known).perception.score == 0


def _others(step: StepRecord, most: int) -> list[str]:
    """The best-ranked actions that were not chosen."""
    decide = step.decide
    ranked = sorted(decide.ranked, key=lambda one: -one.logprob) if decide else []
    return [one.text for one in ranked if decide and one.text != decide.action][:most]
