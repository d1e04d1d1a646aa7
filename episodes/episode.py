"""One episode of a task: it is reset, then acts, until it ends. Nothing else acts for a task.

    episode = Episode(env, task, seed=1)
    for before, decision, after in steps(episode, decide):
        print(before.number, decision.action, after.feedback)
    print(episode.now.ending)

Runs, replays, judges, videos, training data, trainers and `inhabit.open` differ in who decides, and
in what they look at.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from html import escape
from itertools import islice
from random import Random
from typing import Any, Self

from pydantic import JsonValue

from inhabit.agents.core import NOTHING_GRANTED, Decision, Grants, Parse, Step, View
from inhabit.envs.core import Action, Env, Forkable, Observation, Outcome, Privileged, Reason, Task
from inhabit.episodes.recording.schema import Choice, Ending, Sight
from inhabit.episodes.view import LackingError, candidates_of, shown

MAX_INVALID = 10
"""Ten actions without effect fail an episode in ALFRED (Shridhar et al. 2020, section 5) and in
EmbodiedBench (Yang et al. 2025)."""
_MOMENTS = 8
"""Pictures of another room, shown in turn (`Sight.OTHER`)."""
UNREADABLE = "That answer could not be understood as an action."
"""Feedback for an answer that matches no action."""
CUT_OFF = "That answer was cut off at the limit of tokens before it named an action."
"""Feedback for an answer that used up its tokens."""


@dataclass(frozen=True, slots=True)
class Limits:
    """When an episode is cut short. By default it is not."""

    steps: float = math.inf
    """Actions tried, whether or not they worked."""
    invalid: float = math.inf
    """Actions without effect, in all and not in a row."""


@dataclass(slots=True, eq=False)
class Episode:
    """One task in one environment. `reset` starts it, `act` goes on, `now` is where it stands."""

    env: Env
    task: Task
    seed: int = 0
    limits: Limits = Limits()
    candidates: Choice = Choice.SEEN
    """Which actions an agent chooses from."""
    sight: Sight = Sight.SHOWN
    """Which images the agent is shown."""
    remember: float = math.inf
    """The number of past images in the history."""
    other: Task | None = None
    """Another task, in another room, whose pictures are shown in place of the task's own."""
    pictures: tuple[Observation, ...] = field(default=(), repr=False)
    """Pictures of `other`, taken at `reset`."""
    now: Moment = field(init=False, repr=False)

    def __post_init__(self) -> None:
        self.now = self._start(0, 0)

    def reset(self) -> Moment:
        """Start the task.

        Raises:
            SceneError: its scene can't be built.
            SimulatorError: the simulator did not start.
        """
        if self.other is not None:
            self.pictures = wander(self.env, self.other, self.seed)
        self.env.reset(self.task, seed=self.seed)
        self.now = self._start(*self.env.progress())
        return self.now

    def act(self, decision: Decision) -> Moment:
        """Carry out a decision. An answer that is no action is a step without effect.

        Raises:
            SimulatorError: the simulator failed.
        """
        before = self.now
        if decision.stop:
            self.now = before._with(decision=decision, reason=None, feedback="", cost=0)
            return self.now
        action = decision.action
        outcome = self.env.act(action) if action else _unreadable(decision, before)
        self.now = Moment(
            outcome.reason,
            outcome.feedback,
            outcome.met,
            outcome.total,
            outcome.over,
            outcome.cost,
            episode=self,
            number=before.number + 1,
            decision=decision,
            history=self._history(decision, outcome),
            tally=before.tally.plus(decision, outcome, before),
        )
        return self.now

    async def parse(self, text: str) -> Action | None:
        """The action that a text means, or None."""
        return self.env.parse(text)

    def fork(self) -> Episode:
        """An independent copy at this moment. Close it when done.

        Raises:
            LackingError: the environment can't copy its state.
        """
        if not isinstance(self.env, Forkable):
            raise LackingError(f"The environment {self.task.env!r} can't copy its state.")
        copy = replace(self, env=self.env.fork())
        copy.now = self.now._with(episode=copy)
        return copy

    def close(self) -> None:
        """Close the environment. Safe to call twice."""
        self.env.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def _start(self, met: int, total: int) -> Moment:
        return Moment(None, "", met, total, over=False, cost=0, episode=self)

    def _history(self, decision: Decision, outcome: Outcome) -> tuple[Step, ...]:
        """The past steps and this one."""
        before = self.now
        seen = before.shown if "observation" in vars(before) else Observation("")
        text = decision.action.text if decision.action else decision.raw
        reason, feedback, planned = outcome.reason, outcome.feedback, decision.planned
        step = Step(text, reason, feedback, seen.rgb, seen.text, seen.clips, planned)
        return remembered(before.history, step, self.remember)


def steps(
    episode: Episode, decide: Callable[[Moment], Decision | None]
) -> Iterator[tuple[Moment, Decision, Moment]]:
    """Play an episode from its start to its end, or until `decide` returns None.

    Yields:
        The moment before each decision, the decision, and the moment after it.
    """
    before = episode.reset()
    while before.ending is None and (decision := decide(before)) is not None:
        after = episode.act(decision)
        yield before, decision, after
        before = after


def wander(env: Env, task: Task, seed: int) -> tuple[Observation, ...]:
    """What there is to see in the scene of `task` after each of a few random actions.

    Raises:
        SceneError: it can't be built.
        SimulatorError: the simulator failed.
    """
    draw = Random(seed)

    def any_action(now: Moment) -> Decision | None:
        return Decision(draw.choice(now.candidates)) if now.candidates else None

    played = islice(steps(Episode(env, task, seed), any_action), _MOMENTS)
    return tuple(after.observation for _, _, after in played)


@dataclass(frozen=True, slots=True)
class Tally:
    """Sums over the actions of an episode so far."""

    cost: int = 0
    """Low-level steps taken; in `minedojo`, ticks."""
    invalid: int = 0
    """Actions without effect."""
    unmatched: int = 0
    """Answers that were no action; each is `invalid` too."""
    replans: int = 0
    """Actions that differ from the action before, which had no effect."""

    def plus(self, decision: Decision, outcome: Outcome, before: Moment) -> Tally:
        """The sums after one more action."""
        failed = before.action if before.reason else None
        return Tally(
            self.cost + outcome.cost,
            self.invalid + (outcome.reason is not None),
            self.unmatched + (decision.action is None),
            self.replans + (None not in (failed, decision.action) and failed != decision.action),
        )


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class Moment(Outcome):
    """What the last action did, and what there is to see and to know before the next decision.

    The environment is asked for `observation`, `candidates`, `digest` and `state` on first use,
    and only before the episode goes on.
    """

    episode: Episode
    number: int = 0
    """Number of the next decision, from 0: as many actions were tried before."""
    decision: Decision | None = None
    """The decision that led here; None at the start."""
    history: tuple[Step, ...] = ()
    """Past steps, oldest first, with what was looked at of each."""
    tally: Tally = Tally()

    @cached_property
    def ending(self) -> Ending | None:
        """How the episode has ended; None while it goes on."""
        limits, unreadable = self.episode.limits, self.decision and self.decision.action is None
        if self.decision and self.decision.stop:
            ending = Ending.STOPPED
        elif self.over:
            ending = Ending.WRONG_ANSWER
        elif self.tally.invalid >= limits.invalid:
            ending = Ending.FORMAT_ERROR if unreadable else Ending.INVALID_LIMIT
        elif self.number >= limits.steps:
            only = unreadable and limits.steps == 1
            ending = Ending.FORMAT_ERROR if only else Ending.STEP_LIMIT
        else:
            return None
        # Whatever ends an episode, it is solved if its goal holds then.
        return Ending.SUCCESS if self.success else ending

    @property
    def success(self) -> bool:
        """Whether all goal conditions hold."""
        return 0 < self.total == self.met

    @property
    def action(self) -> Action | None:
        """The last action; None at the start, and after an answer that was none."""
        return self.decision.action if self.decision else None

    @cached_property
    def observation(self) -> Observation:
        """What the environment shows."""
        return self._env.observe()

    @cached_property
    def shown(self) -> Observation:
        """What the agent sees of it."""
        pictures = self.episode.pictures
        other = pictures[self.number % len(pictures)] if pictures else None
        return shown(self.observation, self.episode.sight, other)

    @cached_property
    def candidates(self) -> tuple[Action, ...]:
        """The actions to choose from."""
        return tuple(candidates_of(self._env, self.episode.candidates))

    @cached_property
    def digest(self) -> str | None:
        """A hash of the simulator's state; None where it shows none."""
        env = self._env
        return env.digest() if isinstance(env, Privileged) else None

    @cached_property
    def state(self) -> Mapping[str, JsonValue]:
        """The simulator's state; empty where it shows none. Agents never see it."""
        env = self._env
        return env.state() if isinstance(env, Privileged) else {}

    def view(
        self,
        parse: Parse | None = None,
        grants: Grants = NOTHING_GRANTED,
        *,
        can_undo: bool = False,
    ) -> View:
        """What an agent may base its decision on.

        Args:
            parse: the environment's parser, where it has to be called in a way of its own.
            grants: what is granted beyond observing and acting.
            can_undo: whether a person may take back the last step.
        """
        episode = self.episode
        return View(
            goal=episode.task.goal,
            observation=self.shown,
            candidates=self.candidates,
            history=self.history,
            seed=episode.seed,
            parse=parse or episode.parse,
            grants=grants,
            can_undo=can_undo,
        )

    def __repr__(self) -> str:
        reason = f", reason={self.reason.value!r}" if self.reason else ""
        ending = f", {self.ending.value}" if self.ending else ""
        met = f"{self.met} of {self.total} goal conditions"
        return f"Moment({self.number}: {self.feedback!r}{reason}, {met}{ending})"

    def _repr_html_(self) -> str:
        text = escape(f"{self.feedback} ({self.met} of {self.total} goal conditions)")
        return f"{self.observation._repr_html_()}<p>{text}</p>"

    @property
    def _env(self) -> Env:
        if self.episode.now is not self:
            raise RuntimeError("The episode has gone on: look at a moment before you act.")
        return self.episode.env

    def _with(self, **changes: Any) -> Moment:
        """This moment with changes; what was looked at stays."""
        other = replace(self, **changes)
        looks = ("observation", "shown", "candidates", "digest", "state")
        vars(other).update({look: vars(self)[look] for look in looks if look in vars(self)})
        return other


def remembered(history: tuple[Step, ...], step: Step, images: float) -> tuple[Step, ...]:
    """The history with one more step, and with the newest `images` images."""
    steps = [*history, step]
    if (old := len(history) - images) >= 0:
        steps[int(old)] = replace(steps[int(old)], rgb=None, clips=())
    return tuple(steps)


def _unreadable(decision: Decision, before: Moment) -> Outcome:
    cut = decision.calls and decision.calls[-1].finish == "length"
    feedback = CUT_OFF if cut else UNREADABLE
    unknown = Reason.UNKNOWN_ACTION
    return Outcome(unknown, feedback, before.met, before.total, over=False, cost=0)
