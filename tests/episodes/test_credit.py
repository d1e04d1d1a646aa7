"""What an action cost: equal to a search of all states, and 0 where the expert acted."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from random import Random

import pytest
from mistakes import Bare
from sampling import every
from toy_runs import Silent, play_toy, toy, toy_tasks

import inhabit
from inhabit.agents.core import View
from inhabit.cli import main
from inhabit.envs.core import Action, Task
from inhabit.envs.toy.env import Toy
from inhabit.episodes.credit.credit import FILE, credit_run, credits_of, read
from inhabit.episodes.credit.schema import NOTHING, EpisodeCredit
from inhabit.episodes.playing.from_record import env_of_run
from inhabit.episodes.recording.reader import RecordError, Run
from inhabit.episodes.view import LackingError


def credits(run: Run, options: int = 0) -> list[EpisodeCredit]:
    return [one for _, one in credit_run(run, toy, options=options)]


def searched(env: Toy) -> int:
    """The fewest actions to the goal, by trying all of them."""
    seen, front, depth = {env.digest()}, [env.fork()], 0
    while not any(met == total for met, total in (one.progress() for one in front)):
        after = []
        for one in front:
            for action in one.admissible():
                fork = one.fork()
                fork.act(action)
                if fork.digest() not in seen:
                    seen.add(fork.digest())
                    after.append(fork)
        front, depth = after, depth + 1
        assert front, "The toy house has no dead ends."
    return depth


@pytest.mark.parametrize("n", [2, pytest.param(40, marks=pytest.mark.slow)])
def test_regret_is_that_of_an_exhaustive_search(n: int, tmp_path: Path) -> None:
    run = play_toy(tmp_path / "run", tasks=toy_tasks(n, seed=8), agent="random", max_steps=12)
    for record, found in credit_run(run, toy):
        with Toy() as env:
            attempt = record.last()
            assert attempt is not None
            env.reset(attempt.start.task, seed=attempt.start.seed)
            before = searched(env)
            for step in found.steps:
                assert step.before is not None and step.before.actions == before
                action = env.parse(step.action or "")
                assert action is not None
                env.act(action)
                after = searched(env)
                assert step.regret is not None and step.regret.actions == 1 + after - before
                before = after


@pytest.mark.parametrize(
    "env",
    ["toy", *(pytest.param(e, marks=pytest.mark.slow) for e in ("alfred", "virtualhome"))],
)
def test_an_expert_has_no_regret(env: str, tmp_path: Path) -> None:
    inhabit.run(env, "expert", tmp_path / "run", n=6, seed=4, settings={"in_process": True})
    run = Run.open(tmp_path / "run")
    found = [one for _, one in credit_run(run, env_of_run(run))]
    assert len(found) == 6
    for one in found:
        assert one.success and all(step.in_time for step in one.steps)
        assert one.regret == NOTHING


def actions_of(run: Run) -> list[list[str]]:
    found = []
    for episode in run.episodes():
        attempt = episode.last()
        assert attempt is not None
        found.append([s.decide.action or "" for s in attempt.steps if s.decide])
    return found


def played(folder: Path, actions: Sequence[str], number: int) -> Run:
    return play_toy(
        folder,
        tasks=toy_tasks(12)[number : number + 1],
        agent="scripted",
        assignments=[f"actions={'; '.join(actions)}"],
    )


@pytest.mark.parametrize("number", every(2, range(6)))
def test_a_planted_action_is_named(number: int, tmp_path: Path) -> None:
    right = actions_of(play_toy(tmp_path / "right", tasks=toy_tasks(12), agent="expert"))[number]
    place = number % len(right)
    run = played(tmp_path / "wrong", [*right[:place], "sing a song", *right[place:]], number)
    (found,) = credits(run)
    (wrong,) = [step for step in found.steps if step.cause]
    assert wrong.step == place and wrong.regret is not None and wrong.regret.actions == 1
    assert found.success and wrong.cause == "cognition"


def worse(task: Task, done: Sequence[str], rng: Random) -> str | None:
    """An action that works and leads away from the goal, by exhaustive search."""
    with Toy() as env:
        env.reset(task, seed=0)
        for action in done:
            env.act(env.parse(action) or Action(action, ""))
        before, tried = searched(env), [*env.admissible()]
        rng.shuffle(tried)
        for action in tried:
            fork = env.fork()
            fork.act(action)
            if searched(fork) > before:
                return action.text
    return None


@pytest.mark.slow
def test_planted_mistakes_are_named_with_their_kind(tmp_path: Path) -> None:
    """Useless, harmful and final ones, at random steps of the expert's way."""
    rng, found = Random(5), []
    expert = play_toy(tmp_path / "expert", tasks=toy_tasks(66, seed=5), agent="expert")
    for number, plan in enumerate(actions_of(expert)):
        kind, place = ("useless", "harmful", "final")[number % 3], rng.randrange(len(plan))
        task = expert.tasks[number]
        wrong = {"useless": "look around", "final": "stop"}.get(kind)
        if (wrong := wrong or worse(task, plan[:place], rng)) is None:
            continue

        async def errs(view: View, wrong: str = wrong, place: int = place) -> str | None:
            assert view.grants.plan is not None
            if len(view.history) == place:
                return None if wrong == "stop" else wrong
            return (await view.grants.plan())[0].text

        run = inhabit.run(
            "toy",
            errs,
            tmp_path / str(number),
            tasks=[task],
            grants=["expert"],
            settings={"in_process": True},
        ).run
        (credit,) = credits(run)
        (lost,) = [step for step in credit.steps if step.cause]
        by = 0 if lost.regret is None else lost.regret.actions
        named = "final" if lost.closed else "useless" if by == 1 else "harmful"
        found.append((lost.step == place, named == kind))
    assert len(found) >= 60 and all(step and kind for step, kind in found)


def test_an_action_too_early_serves_the_goal_and_fails(tmp_path: Path) -> None:
    right = actions_of(play_toy(tmp_path / "right", tasks=toy_tasks(1), agent="expert"))[0]
    run = played(tmp_path / "wrong", [right[-1], *right], 0)
    (found,) = credits(run)
    assert [step.cause for step in found.steps if step.cause] == ["action"]


def test_who_gives_up_reaches_nothing(tmp_path: Path) -> None:
    run = play_toy(
        tmp_path / "run", tasks=toy_tasks(1), agent="scripted", assignments=["actions=stop"]
    )
    (found,) = credits(run)
    (step,) = found.steps
    assert found.closed == step and step.regret is None and step.before is not None
    assert found.late is None, "There was time left."


def test_what_ranked_best_is_tried_too(tmp_path: Path) -> None:
    run = play_toy(
        tmp_path / "run", tasks=toy_tasks(1), agent="rank", model="scripted:first", max_steps=2
    )
    (found,) = credits(run, options=3)
    assert len(found.steps) == 2
    for step in found.steps:
        assert len(step.options) == 3 and step.action not in {one.action for one in step.options}
        assert all(one.regret is not None and one.regret.actions >= 0 for one in step.options)
    assert read(run.folder / FILE, run.folder) == [found]
    assert credits(run) == [found], "What was done is not done again."


def test_an_episode_that_was_played_again_has_another_credit(tmp_path: Path) -> None:
    """As one that a model which was away had ended, when the same command is repeated."""
    tasks = toy_tasks(1)
    (found,) = credits(play_toy(tmp_path / "run", tasks=tasks, made=Silent()))
    assert not found.success and not found.steps
    run = play_toy(tmp_path / "run", tasks=tasks, agent="expert")
    assert not credits_of(run), "Pages show no credit of an attempt that is not shown."
    (found,) = credits(run)
    assert found.success and found.steps
    assert credits_of(run) == {0: found}
    assert credits(run) == [found] == read(run.folder / FILE, run.folder)


def test_the_command_prints_and_a_spoilt_file_is_said(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = play_toy(tmp_path / "run", tasks=toy_tasks(2), agent="random")
    with pytest.raises(SystemExit) as left:
        main(["credit", str(run.folder), "--json"])
    figures = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert left.value.code == 0 and figures["episodes"] == 2
    assert sum(figures["causes"].values()) == figures["steps_with_regret"] <= figures["steps"]
    with (run.folder / FILE).open("ab") as file:
        file.write(b"\0" * 9 + b"\n")  # As a loss of power leaves it.
    assert len(credits(run)) == 2
    (run.folder / FILE).write_text('{"episode": []}\n')
    with pytest.raises(RecordError, match=r"credit\.jsonl, line 1"):
        credits(run)


def test_an_environment_without_copies_is_refused(tmp_path: Path) -> None:
    run = play_toy(tmp_path / "run", tasks=toy_tasks(1))
    with pytest.raises(LackingError, match="copies of its state"):
        list(credit_run(run, Bare))
