"""What an agent is told that it should find out, and whether the oracle stays out of its reach."""

from __future__ import annotations

import re
import time
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from statistics import fmean, median
from typing import cast

from inhabit.envs.core import Env, Expert, Factual, Privileged, Tools
from inhabit.episodes.validating.check import CheckFigure, Measure
from inhabit.episodes.validating.subject import (
    DoesNotApply,
    Play,
    Snapshot,
    Subject,
    at_random,
    play,
    trace,
)


def _flat(text: str) -> str:
    """The letters and digits of a text, with a space between words and at both ends."""
    return f" {' '.join(re.findall(r'[a-z0-9]+', text.lower()))} "


def _steps(subject: Subject) -> Iterator[tuple[Play, Snapshot]]:
    """The expert's steps that had a choice, each with its episode."""
    found = [(one, s) for one in subject.plans for s in one.acted if len(s.candidates) > 1]
    if len(found) < 4:
        raise DoesNotApply("The expert's episodes have fewer than four choices.")
    yield from found


def _gain(rows: Sequence[tuple[Collection[str], str]]) -> float:
    """How much better the named actions, the first of each row, hit the expert's, the second, than
    its own frequencies do.
    """
    often = Counter(right for _, right in rows)
    gain = sum((a == right) - often[a] / len(rows) for named, right in rows for a in named)
    return max(0.0, gain / len(rows))


def _quoted(where: Callable[[Snapshot], str]) -> Callable[[Subject], CheckFigure]:
    """What a text gives away by naming the expert's action and hardly another one."""

    def measure(subject: Subject) -> CheckFigure:
        rows, worst = list[tuple[Collection[str], str]](), ""
        for one, shot in _steps(subject):
            text, goal = _flat(where(shot)), _flat(one.task.goal)
            named = {a for a in shot.candidates if _flat(a) in text and _flat(a) not in goal}
            if len(named) > 1 + len(shot.candidates) / 4:
                named = set()  # A list of what can be done.
            rows.append((named, shot.action))
            if shot.action in named:
                worst = f"{where(shot)[:200]!r} before {shot.action!r}."
        return CheckFigure(_gain(rows), worst)

    return measure


def _in_goal(subject: Subject) -> CheckFigure:
    told = [
        one.task.id
        for one in subject.plans
        if len({s.action for s in one.acted}) > 1
        and all(_flat(s.action) in _flat(one.task.goal) for s in one.acted)
    ]
    return CheckFigure(len(told), f"{told[0]} tells its whole plan." if told else "")


def _in_ids(subject: Subject) -> CheckFigure:
    told = [
        f"{one.task.id} holds {shot.action!r}."
        for one in subject.plans
        for shot in one.acted
        if _flat(shot.action) in _flat(f"{one.task.id} {one.task.kind}")
    ]
    return CheckFigure(len(told), told[0] if told else "")


def _position(end: int) -> Callable[[Subject], CheckFigure]:
    def measure(subject: Subject) -> CheckFigure:
        return CheckFigure(_gain([([s.candidates[end]], s.action) for _, s in _steps(subject)]))

    return measure


def _plan_alone(subject: Subject) -> CheckFigure:
    """How alike the candidates at the start and the actions of the plan are (Jaccard)."""
    alike = []
    for one in subject.plans:
        subject.begin(one.task)
        offered, plan = set(one.shots[0].candidates), {s.action for s in one.acted}
        if offered >= {action.text for action in subject.env.vocabulary()}:
            offered = set()  # What is always offered tells nothing.
        alike.append(len(offered & plan) / len(offered | plan) if offered | plan else 0.0)
    return CheckFigure(fmean(alike))


def _one_choice(subject: Subject) -> CheckFigure:
    shots = [s for one in subject.plans for s in one.acted]
    if not shots:
        raise DoesNotApply("The expert does nothing.")
    subject.begin(subject.tasks[0])
    if len(subject.env.vocabulary()) < 2:
        raise DoesNotApply("The vocabulary has one action.")
    return CheckFigure(fmean(len(s.candidates) == 1 for s in shots))


def _progress_told(subject: Subject) -> CheckFigure:
    """Texts that give the number of goal conditions met whenever it has changed."""
    told = changed = 0
    for one in subject.plans:
        for before, after in zip(one.shots, one.shots[1:], strict=False):
            if before.met == after.met or after is one.shots[-1]:
                continue
            changed += 1
            text = f"{after.told} {after.seen.text}"
            told += bool(re.search(rf"\b{after.met}\s*(/|of|out of)\s*{after.total}\b", text))
    if not changed:
        raise DoesNotApply("No condition is met before the last action.")
    return CheckFigure(told / changed)


def _time(subject: Subject) -> CheckFigure:
    """How often the expert's action takes by far the longest or the shortest time to parse."""
    odd, env = [], subject.env
    for one in subject.plans[:4]:
        first = one.shots[0]
        subject.begin(one.task)
        others = [a for a in first.candidates if a != first.action][:6]
        if not others or not one.acted:
            continue
        right, wrong = _parse_seconds(env, first.action), [_parse_seconds(env, a) for a in others]
        slow = right > 3 * max(wrong) and right - max(wrong) > 1e-3
        fast = right < min(wrong) / 3 and min(wrong) - right > 1e-3
        odd.append(slow or fast)
    if not odd:
        raise DoesNotApply("There is no choice at the start.")
    return CheckFigure(fmean(odd))


def _parse_seconds(env: Env, text: str) -> float:
    """The shortest of several times, which other processes disturb least."""
    found = []
    for _ in range(5):
        began = time.perf_counter()
        env.parse(text)
        found.append(time.perf_counter() - began)
    return min(found)


def _containment(subject: Subject) -> CheckFigure:
    """The same episode with and without every oracle asked before each step."""
    env = subject.env
    if not isinstance(env, Expert | Privileged | Factual):
        raise DoesNotApply("This environment has no oracle.")
    wrong = 0
    for task in subject.tasks[:4]:
        pick, again = at_random(task), at_random(task)

        def asked(now: object, pick: Callable[..., object] = pick) -> object:
            _ask_all(env)
            return pick(now)

        left = trace(play(env, task, again, longest=10).shots, pictures=False)
        right = trace(play(env, task, asked, longest=10).shots, pictures=False)  # type: ignore[arg-type]
        wrong += left != right
    return CheckFigure(wrong)


def _ask_all(env: Env) -> None:
    if isinstance(env, Expert):
        env.plan(), env.best_actions()
    if isinstance(env, Privileged):
        env.state(), env.digest(), env.admissible()
    if isinstance(env, Factual):
        env.things()


def _tools(subject: Subject) -> CheckFigure:
    """Answers of tools that change the state or name the expert's first action."""
    tools = cast(Tools, subject.needs(Tools, "tools"))
    env, wrong = subject.env, []
    for task in subject.tasks[:4]:
        subject.begin(task)
        plan = _flat(env.plan()[0].text) if isinstance(env, Expert) and env.plan() else None
        before = env.digest() if isinstance(env, Privileged) else None
        for tool in tools.tools():
            answer = _flat(str(tools.call(str(tool["name"]), {})))
            if plan is not None and plan in answer:
                wrong.append(f"{tool['name']} names the next action.")
            if isinstance(env, Privileged) and env.digest() != before:
                wrong.append(f"{tool['name']} changes the state.")
    return CheckFigure(len(wrong), wrong[0] if wrong else "")


def _growing(subject: Subject) -> CheckFigure:
    """The longest text that an agent reads at a step, in characters."""
    longest = [len(s.seen.text) + len(s.told) + sum(map(len, s.candidates)) for s in subject.shots]
    return CheckFigure(max(longest), f"The median is {median(longest):.0f}.")


_LEAK = "semantic.no_solution_leakage"
_WHY = "An agent that is told the solution is not measured by finding it."
MEASURES: Mapping[str, Measure] = {
    f"{_LEAK}.text": _quoted(lambda shot: shot.seen.text),
    f"{_LEAK}.feedback": _quoted(lambda shot: shot.told),
    f"{_LEAK}.goal": _in_goal,
    f"{_LEAK}.ids": _in_ids,
    f"{_LEAK}.first_candidate": _position(0),
    f"{_LEAK}.last_candidate": _position(-1),
    f"{_LEAK}.candidates": _plan_alone,
    f"{_LEAK}.one_candidate": _one_choice,
    f"{_LEAK}.progress": _progress_told,
    f"{_LEAK}.time": _time,
    "runtime.oracle_containment": _containment,
    "runtime.oracle_containment.tools": _tools,
    "runtime.observation_length": _growing,
}
