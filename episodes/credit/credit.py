"""Acts recorded episodes again, and asks the expert before and after each action."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from pydantic import ValidationError

from inhabit.agents.core import Decision
from inhabit.envs.core import Action, Env, Expert, Factual, Forkable, Privileged
from inhabit.envs.entries import first_problem
from inhabit.envs.files import read_whole
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
from inhabit.episodes.recording.reader import EpisodeRecord, RecordError, Run, StepRecord
from inhabit.episodes.view import LackingError

FILE = "credit.jsonl"
_MOST = 500
"""Actions of an expert that has not reached the goal by then and never will."""

_SHORT = 3
"""Actions of a way that is tried without each of them: a longer one costs too many copies."""


@dataclass(frozen=True, slots=True)
class _Way:
    """How the expert goes on from a state."""

    effort: Effort | None
    """What it needs to the goal; None if it does not reach it."""
    actions: tuple[Action, ...] = ()
    new: bool = False
    """Whether it was asked in that state, and not on the way there."""


_Known = dict[str | None, _Way]
"""State -> the shortest way that is known from there. Equal states have the same way, so that who
follows the expert's has no regret."""


def credit_run(
    run: Run, make: Callable[[], Env], *, options: int = 0
) -> Iterator[tuple[EpisodeRecord, EpisodeCredit]]:
    """The credit of all episodes that have ended, which is written beside the record.

    Episodes that were done before, with as many options, are read from there.

    Args:
        run: where they were recorded.
        make: makes an environment like the one of the recording.
        options: so many of the best-ranked actions that were not chosen are tried at each step.

    Raises:
        LackingError: the environment has no expert, or no copies.
        RecordError: a record can't be read, or the simulator no longer does what it says.
        SimulatorError, UnavailableError, DiskError: of what is used.
    """
    file = run.folder / FILE
    known = {one.episode: one for one in read(file, run.folder) if one.options >= options}
    ended = [episode for episode in run.episodes() if episode.end() is not None]
    yield from ((one, known[one.number]) for one in ended if one.number in known)
    if all(one.number in known for one in ended):
        return
    lines = LineFile(file, run.folder)
    try:
        with make() as env:
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
    finally:
        lines.close()


def read(file: Path, inside: Path) -> list[EpisodeCredit]:
    """The episodes of a file; of one that was done twice the last line counts.

    Raises:
        RecordError: a complete line is not an episode's credit.
    """
    try:
        content = read_whole(file, inside)
    except FileNotFoundError:
        return []
    except OSError as error:
        raise RecordError(f"{file} can't be read: {error.strerror}.") from error
    found: dict[int, EpisodeCredit] = {}
    for number, line in enumerate(content.split(b"\n")[:-1], 1):
        try:
            one = EpisodeCredit.model_validate_json(line)
        except ValidationError as error:
            raise RecordError(f"{file}, line {number}: {first_problem(error)}.") from error
        found[one.episode] = one
    return list(found.values())


def credit_episode(
    env: Env, episode: EpisodeRecord, most: int | None = None, options: int = 0
) -> EpisodeCredit:
    """The credit of every decision of an episode that has ended.

    Args:
        env: like the one of the recording, with an expert and copies.
        episode: recorded.
        most: the limit of steps.
        options: so many of the best-ranked actions that were not chosen are tried at each step.

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
        options=options,
        steps=tuple(reversed(steps)),
    )


def _way(episode: Episode, known: _Known) -> _Way:
    """The expert's way from here, walked in a copy unless it is `known`."""
    if (found := known.get(_state(episode))) is not None and found.new:
        return found
    with episode.fork() as copy:
        way = _walked(copy, known)
    shorter = _shortened(episode, way)
    if shorter is not way and (state := _state(episode)) is not None:
        known[state] = shorter
    return shorter


def _walked(copy: Episode, known: _Known) -> _Way:
    """The expert's way from where `copy` is, to the goal or to a state whose way is `known`.

    The ways of all states that it passes are known from then on. Where only the rest of an earlier
    way is known, the expert is asked anew: from there it may see a shorter one.
    """
    assert isinstance(copy.env, Expert), "A copy can do what its original can."
    passed: list[tuple[str | None, Action, int]] = []
    plan: Sequence[Action] = ()
    refused: set[Action] = set()
    end: _Way | None = None
    if (rest := known.get(_state(copy))) is not None and not rest.new:
        plan = copy.env.plan()
        if not plan or _joins(rest, plan, begun=True):
            end = known[_state(copy)] = replace(rest, new=True)
    while end is None:
        state = _state(copy)
        if copy.now.success:
            end = _Way(NOTHING)
        elif (rest := known.get(state)) is not None and _joins(rest, plan, begun=bool(passed)):
            end = rest
        elif copy.now.over or len(passed) > _MOST or not (plan := plan or copy.env.plan()):
            end = _Way(None)
        else:
            first, *plan = plan
            now = copy.act(Decision(first))
            passed.append((state, first, now.cost))
            if now.reason is None:
                refused.clear()
            elif first in refused:
                end = _Way(None)
            else:
                refused.add(first)
                plan = ()
    for number, (state, action, cost) in reversed([*enumerate(passed)]):
        effort = end.effort and Effort(actions=1, steps=cost) + end.effort
        end = _Way(effort, (action, *end.actions), new=number == 0)
        if state is None:
            continue
        old = known.get(state)
        if old is not None and old.effort and not (effort and effort.actions < old.effort.actions):
            end = replace(old, new=old.new or end.new)
        if effort is not None or number == 0:
            known[state] = end
    return end


def _shortened(episode: Episode, way: _Way) -> _Way:
    """The way without actions that it does not need, such as one that failed; where it is short."""
    if way.effort is None or len(way.actions) > _SHORT:
        return way
    for place in range(len(way.actions) - 1):
        rest = way.actions[:place] + way.actions[place + 1 :]
        if (shorter := _carried_out(episode, rest)) is not None:
            return _shortened(episode, shorter)
    return way


def _carried_out(episode: Episode, actions: tuple[Action, ...]) -> _Way | None:
    """The way by these actions as far as the goal; None if they don't reach it from here."""
    effort = NOTHING
    with episode.fork() as copy:
        for number, action in enumerate(actions, 1):
            # What was not seen yet may be acted on, but nobody could know of it.
            if action not in copy.env.actions() or copy.act(Decision(action)).reason is not None:
                return None
            effort += Effort(actions=1, steps=copy.now.cost)
            if copy.now.success:
                return _Way(effort, actions[:number], new=True)
    return None


def _joins(rest: _Way, plan: Sequence[Action], *, begun: bool) -> bool:
    """Whether to go on by the `rest` that is known, and not by the rest of the `plan`."""
    if plan and rest.effort is not None:
        return len(plan) >= rest.effort.actions
    return begun or rest.new


def _state(episode: Episode) -> str | None:
    """What names the state; None where the environment doesn't tell."""
    return episode.env.digest() if isinstance(episode.env, Privileged) else None


class _Point:
    """A recorded decision, and what the expert says of the state before it."""

    def __init__(
        self,
        record: EpisodeRecord,
        step: StepRecord,
        again: Episode,
        options: int,
        known: _Known,
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
        """Whether the agent described the scene, and what matters wrongly or not at all."""
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
