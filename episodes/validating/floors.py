"""What the expert reaches, and what agents reach that do not look or think."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import partial
from statistics import fmean

from inhabit.envs.core import Action, Task
from inhabit.episodes.episode import Moment
from inhabit.episodes.validating.check import CheckFigure, Measure
from inhabit.episodes.validating.subject import (
    Choose,
    DoesNotApply,
    Subject,
    at_random,
    play,
    said_again,
)


def _words(text: str) -> frozenset[str]:
    return frozenset(re.findall(r"[a-z]+", text.lower()))


def _goal_words(task: Task) -> Choose:
    """The candidate that shares most words with the goal, less those tried as often."""
    goal, tried = _words(task.goal), dict[str, int]()

    def choose(now: Moment) -> Action | None:
        if not now.candidates:
            return None
        one = max(now.candidates, key=lambda a: len(_words(a.text) & goal) - tried.get(a.text, 0))
        tried[one.text] = tried.get(one.text, 0) + 1
        return one

    return choose


def _nth(pick: Callable[[Moment], int]) -> Callable[[Task], Choose]:
    def agent(task: Task) -> Choose:
        return lambda now: now.candidates[pick(now)] if now.candidates else None

    return agent


def _by_length(sign: int) -> Callable[[Task], Choose]:
    def agent(task: Task) -> Choose:
        return lambda now: max(now.candidates, key=lambda a: sign * len(a.text), default=None)

    return agent


_AGENTS: Mapping[str, Callable[[Task], Choose]] = {
    "random": at_random,
    "first_candidate": _nth(lambda now: 0),
    "last_candidate": _nth(lambda now: -1),
    "in_turn": _nth(lambda now: now.number % len(now.candidates)),
    "longest_candidate": _by_length(1),
    "shortest_candidate": _by_length(-1),
    "goal_words": _goal_words,
}
"""Agents that need neither image nor thought."""


def _rate(subject: Subject, agent: str) -> float:
    """The share of tasks that an agent solves, measured once."""
    if agent == "random":
        return fmean(one.solved for one in subject.walks)
    found = subject.kept.get(agent)
    if not isinstance(found, float):
        make = _AGENTS[agent]
        found = fmean(play(subject.env, task, make(task)).solved for task in subject.tasks)
        subject.kept[agent] = found
    return found


def _floor(agent: str, subject: Subject) -> CheckFigure:
    return CheckFigure(_rate(subject, agent))


def _oracle_max(subject: Subject) -> CheckFigure:
    plans = subject.plans
    failed = [one.task.id for one in plans if not one.solved]
    return CheckFigure(
        fmean(one.solved for one in plans), f"Unsolved: {failed[:3]}" if failed else ""
    )


def _floor_gap(subject: Subject) -> CheckFigure:
    ceiling = fmean(one.solved for one in subject.plans)
    best = max(_AGENTS, key=lambda agent: _rate(subject, agent))
    rate = _rate(subject, best)
    return CheckFigure(ceiling - rate, f"The expert: {ceiling:.2f}; {best}: {rate:.2f}.")


def _canary_floor(subject: Subject) -> CheckFigure:
    """Nothing is done, or an action that does not exist."""
    nothing = Action("stand still and wait for the reward", "stand", ())
    ways: Mapping[str, Choose] = {"nothing": lambda now: None, "no action": lambda now: nothing}
    won = [
        f"{task.id}: {said}"
        for task in subject.tasks
        for said, way in ways.items()
        for one in (play(subject.env, task, way, longest=8),)
        if one.solved or one.shots[-1].met > one.shots[0].met
    ]
    return CheckFigure(len(won), won[0] if won else "")


def _said_goal(subject: Subject) -> CheckFigure:
    def agent(now: Moment) -> Action | None:
        return subject.env.parse(now.episode.task.goal)

    return CheckFigure(fmean(play(subject.env, t, agent, longest=8).solved for t in subject.tasks))


def _one_action(subject: Subject) -> CheckFigure:
    subject.begin(subject.tasks[0])
    rates = {}
    for one in list(subject.env.actions())[: 6 if subject.fast else 12]:
        rates[one.text] = fmean(
            play(subject.env, task, _only(one), longest=10).solved for task in subject.tasks[:6]
        )
    if not rates:
        raise DoesNotApply("There is no candidate at the start.")
    best = max(rates, key=lambda text: rates[text])
    return CheckFigure(rates[best], f"Nothing but {best!r}.")


def _only(action: Action) -> Choose:
    return lambda now: action


def _one_plan(subject: Subject) -> CheckFigure:
    """The plan of each task, in the next one."""
    plans = subject.plans
    solved = []
    for one, other in zip(plans, [*plans[1:], plans[0]], strict=True):
        if one.task.goal == other.task.goal and one.task.scene == other.task.scene:
            continue
        told = said_again(subject.env, one)
        solved.append(play(subject.env, other.task, told, longest=len(one.acted)).solved)
    if not solved:
        raise DoesNotApply("All tasks are the same.")
    return CheckFigure(fmean(solved))


def _verifier(subject: Subject) -> CheckFigure:
    subject.needs_state()
    seen: dict[str, tuple[int, int]] = {}
    wrong = []
    for task in subject.tasks:
        seen.clear()
        for salt in ("", "again"):
            for shot in play(subject.env, task, _to_and_fro(task, salt)).shots:
                now = (shot.met, shot.total)
                if shot.digest and seen.setdefault(shot.digest, now) != now:
                    wrong.append(f"{task.id}: {seen[shot.digest]} and {now} for one state.")
    return CheckFigure(len(wrong), wrong[0] if wrong else "")


def _to_and_fro(task: Task, salt: str) -> Choose:
    """A few candidates only, again and again, so that states come back."""
    chosen: list[str] = []
    pick = at_random(task, salt)

    def choose(now: Moment) -> Action | None:
        known = {one.text: one for one in now.candidates}
        if now.number < 3 and (first := pick(now)):
            chosen.append(first.text)
        again = [known[text] for text in chosen if text in known]
        return again[now.number % len(again)] if again and now.number % 5 else pick(now)

    return choose


def _in_limit(subject: Subject) -> CheckFigure:
    late = [one.task.id for one in subject.plans if len(one.acted) > one.task.max_steps]
    cut = [one.task.id for one in subject.plans if not one.solved]
    share = 1 - len({*late, *cut}) / len(subject.plans)
    return CheckFigure(
        share, f"Not within its max_steps: {[*late, *cut][:3]}" if late or cut else ""
    )


def _reference(subject: Subject) -> CheckFigure:
    off = {
        one.task.id: abs(cost / one.task.reference_cost - 1)
        for one in subject.plans
        if one.task.reference_cost
        for cost in (sum(s.outcome.cost for s in one.acted if s.outcome),)
    }
    if not off:
        raise DoesNotApply("No task has a reference cost.")
    worst = max(off, key=lambda name: off[name])
    return CheckFigure(fmean(off.values()), f"{worst}: off by {off[worst]:.0%}.")


MEASURES: Mapping[str, Measure] = {
    "semantic.oracle_max": _oracle_max,
    "semantic.floor_gap": _floor_gap,
    "semantic.canary_floor": _canary_floor,
    **{f"semantic.floor.{agent}": partial(_floor, agent) for agent in _AGENTS},
    "semantic.floor.goal_said": _said_goal,
    "semantic.floor.one_action": _one_action,
    "semantic.floor.one_plan": _one_plan,
    "semantic.verifier_determinism": _verifier,
    "semantic.solvable_in_limit": _in_limit,
    "semantic.reference_cost": _reference,
}
