"""An episode goes on otherwise from a step, and both ways are kept."""

from __future__ import annotations

import json
import os
import resource
from pathlib import Path

import pytest
from toy_runs import play_toy, toy, toy_tasks

import inhabit
from inhabit.cli import main
from inhabit.envs.core import Task
from inhabit.episodes.playing.fork import Continuation, preferred, read_pairs
from inhabit.episodes.playing.retrace import replay_run
from inhabit.episodes.recording.reader import Run
from inhabit.episodes.recording.schema import Ending
from tests.agents.models.endpoints.endpoint import endpoint, good

IN_PROCESS = ["--set", "in_process=true"]


@pytest.fixture
def chance(tmp_path: Path) -> Run:
    return play_toy(tmp_path / "run", tasks=toy_tasks(2), assignments=["in_process=true"])


def fork(run: Run, *words: str) -> int:
    with pytest.raises(SystemExit) as left:
        main(["fork", str(run.folder), *words])
    assert isinstance(left.value.code, int)
    return left.value.code


def test_another_action_leads_elsewhere(chance: Run, capsys: pytest.CaptureFixture[str]) -> None:
    was = chance.episode(1).last()
    assert was is not None and was.steps[3].decide is not None
    other = next(c for c in was.steps[3].candidates if c != was.steps[3].decide.action)
    assert fork(chance, "--episode", "toy-0-1", "--step", "3", "--action", other, "--json") == 0
    said = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert (said["id"], said["step"], said["forked"]["action"]) == ("toy-0-1", 3, other)
    (pair,) = read_pairs(chance)
    assert pair.original.action == was.steps[3].decide.action
    assert pair.candidates == was.steps[3].candidates
    assert len(pair.history) == 3
    assert (chance.folder / str(pair.frame)).is_file()
    forked = Run.open(chance.folder / pair.fork)
    now = forked.episode(0).last()
    assert now is not None and now.end is not None
    assert [s.see.digest for s in now.steps[:4]] == [s.see.digest for s in was.steps[:4]]
    assert now.steps[3].decide is not None and now.steps[3].decide.action == other
    assert forked.header.fork == pair.changed
    assert [r.difference for r in replay_run(forked, toy)] == [None], "A run like any other."
    assert Run.open(chance.folder).episode(1).last() == was, "The original is as it was."


def test_a_branch_that_was_cut_off_is_told_without_figures(
    chance: Run, capsys: pytest.CaptureFixture[str]
) -> None:
    """Its figures are not known: they are no zeros."""
    file = chance.episode(0).file
    file.write_bytes(file.read_bytes()[:-40])
    assert fork(chance, "--episode", "0", "--step", "0", "--action", "go to the hall") == 0
    assert capsys.readouterr().out.splitlines()[0].endswith(". Interrupted.")


def test_one_refusal_says_all_that_a_fork_of_an_endpoint_needs(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with endpoint(lambda request, number: good('{"action": "go to the hall"}')) as serving:
        asked = ["--model", "openai:m", "--base-url", serving.base_url]
        with pytest.raises(SystemExit):
            out = ["--out", str(tmp_path / "run"), *IN_PROCESS]
            main(["run", "toy", "--agent", "chat", *asked, "--n", "1", "--max-steps", "2", *out])
        run = Run.open(tmp_path / "run")
        words = ["--episode", "0", "--step", "1", "--action", "go to the kitchen"]
        capsys.readouterr()
        assert fork(run, *words) == 2
        assert " ".join(asked) in " ".join(capsys.readouterr().err.split())
        assert fork(run, *words, *asked) == 0


def test_the_better_way_is_named(tmp_path: Path) -> None:
    run = play_toy(
        tmp_path / "run", tasks=toy_tasks(1), agent="expert", assignments=["in_process=true"]
    )
    first = run.episode(0).last()
    assert first is not None and first.end is not None
    ways = [c for c in first.steps[0].candidates if c.startswith("go to")]
    waste = next(c for c in ways if cost_by_hand(run.tasks[0], [c]) > first.end.cost)
    assert fork(run, "--episode", "0", "--step", "0", "--action", waste, *IN_PROCESS) == 0
    (wasted,) = read_pairs(run)
    assert wasted.better == "original"
    assert wasted.forked.success, "The expert mends it."
    assert wasted.fork == "forks/0000"


@pytest.mark.slow
def test_the_preference_is_right_on_fifty_forks(tmp_path: Path) -> None:
    run = play_toy(
        tmp_path / "run", tasks=toy_tasks(12), agent="expert", assignments=["in_process=true"]
    )
    expected = []
    for number, task in enumerate(run.tasks):
        attempt = run.episode(number).last()
        assert attempt is not None and attempt.end is not None
        taken = [str(step.decide.action) for step in attempt.steps if step.decide]
        for at, was in enumerate(taken):
            others = [c for c in attempt.steps[at].candidates if c != was]
            action = others[len(expected) * 7 % len(others)]
            words = ("--episode", str(number), "--step", str(at), "--action", action)
            assert fork(run, *words) == 0
            cost = cost_by_hand(task, [*taken[:at], action])
            expected.append(None if cost == attempt.end.cost else "original")
            assert cost >= attempt.end.cost, "Nothing is shorter than a shortest plan."
            if len(expected) == 50:
                break
        if len(expected) == 50:
            break
    assert [pair.better for pair in read_pairs(run)] == expected
    assert len(expected) == 50 and 0 < expected.count(None) < 50


def cost_by_hand(task: Task, actions: list[str]) -> int:
    """Low-level steps of these actions and of a shortest plan after them."""
    with inhabit.open("toy", task) as session:
        cost = sum(session.act(action).cost for action in actions)
        return cost + sum(session.act(action).cost for action in session.plan())


def test_a_fork_that_changes_nothing_is_refused(
    chance: Run, capsys: pytest.CaptureFixture[str]
) -> None:
    for nothing in ((), ("--hint", "")):
        assert fork(chance, "--episode", "0", "--step", "1", *nothing) == 2
        assert "Nothing would change" in " ".join(capsys.readouterr().err.split())
    attempt = chance.episode(0).last()
    assert attempt is not None and attempt.steps[1].decide is not None
    same = str(attempt.steps[1].decide.action).upper()
    assert fork(chance, "--episode", "0", "--step", "1", "--action", same) == 2
    assert "a fork has to change something" in " ".join(capsys.readouterr().err.split())
    assert read_pairs(chance) == ()


def branch(ending: Ending | None, met: int = 0, cost: int = 0) -> Continuation:
    return Continuation(
        action="a", reason=None, feedback="", ending=ending, success=ending is Ending.SUCCESS,
        met=met, total=3, steps=5, cost=cost,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("original", "forked", "better"),
    [
        (branch(Ending.SUCCESS, 3, 20), branch(Ending.INVALID_LIMIT, 0, 0), "original"),
        (branch(Ending.STEP_LIMIT, 1, 90), branch(Ending.STOPPED, 1, 0), None),
        (branch(Ending.STEP_LIMIT, 1, 90), branch(Ending.STEP_LIMIT, 2, 99), "forked"),
        (branch(Ending.SUCCESS, 3, 20), branch(Ending.SUCCESS, 3, 12), "forked"),
        (branch(Ending.SUCCESS, 3, 20), branch(Ending.SUCCESS, 3, 20), None),
        (branch(Ending.SUCCESS, 3, 20), branch(Ending.SIMULATOR_FAULT, 0, 0), None),
        (branch(None, 2, 5), branch(Ending.STOPPED, 0, 0), None),
    ],
)
def test_the_preference_goes_by_results_and_never_by_how_soon_one_failed(
    original: Continuation, forked: Continuation, better: str | None
) -> None:
    assert preferred(original, forked) == better
    mirrored = {"original": "forked", "forked": "original", None: None}[better]
    assert preferred(forked, original) == mirrored


@pytest.mark.slow
def test_a_hint_and_a_model_are_on_record(tmp_path: Path) -> None:
    script = tmp_path / "script.json"
    script.write_text(json.dumps({"rules": [{"contains": "look", "logprob": -0.1}]}))
    run = play_toy(
        tmp_path / "run", tasks=toy_tasks(1), agent="rank", model=f"scripted:{script}",
        assignments=["in_process=true"], max_steps=4,
    )  # fmt: skip
    hint = "Try the {fridge} first."
    assert fork(run, "--episode", "0", "--step", "2", "--hint", hint) == 2, "A file on record."
    again = ("--model", f"scripted:{script}")
    assert fork(run, "--episode", "0", "--step", "2", "--hint", hint, *again) == 0
    forked = Run.open(run.folder / "forks" / "0000")
    attempt = forked.episode(0).last()
    assert attempt is not None
    sent = [json.dumps([c.messages for c in s.decide.calls]) for s in attempt.steps if s.decide]
    assert [hint in text for text in sent] == [False, False, True, False]
    other = tmp_path / "other.json"
    other.write_text(json.dumps({"rules": [{"contains": "go to", "logprob": -0.1}]}))
    assert fork(run, "--episode", "0", "--step", "2", "--model", f"scripted:{other}") == 0
    assert Run.open(run.folder / "forks" / "0001").header.model == f"scripted:{other}"


@pytest.mark.parametrize(
    ("words", "code", "says"),
    [
        (["--episode", "0", "--step", "99", "--hint", "h"], 2, "has no step 99"),
        (["--episode", "0", "--step", "1", "--action", "fly to the {moon}"], 2, "'fly to the {m"),
        (["--episode", "0", "--step", "1", "--action", "a", "--hint", "b"], 2, "exclude each"),
        (["--episode", "nobody", "--step", "1", "--hint", "h"], 2, "no episode 'nobody'"),
        (["--episode", "0", "--step", "1", "--hint", os.fsdecode(b"\xff")], 2, "no text in UTF-8"),
    ],
)
def test_what_can_not_be_forked_is_a_sentence(
    chance: Run, capsys: pytest.CaptureFixture[str], words: list[str], code: int, says: str
) -> None:
    assert fork(chance, *words) == code
    assert says in " ".join(capsys.readouterr().err.split())
    assert not list(chance.folder.glob("forks/*")), "Nothing is left of it."


def test_a_full_disk_is_not_blamed_on_an_option_that_fork_lacks(
    chance: Run, capsys: pytest.CaptureFixture[str]
) -> None:
    """A limit on the size of files stands in for a full disk."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, before[1]))
    try:
        assert fork(chance, "--episode", "0", "--step", "1", "--hint", "h", *IN_PROCESS) == 2
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    said = " ".join(capsys.readouterr().err.split())
    assert "forks/0000 can't be written to: File too large. Fix this and fork" in said
    assert "--out" not in said


def test_a_past_that_comes_out_differently_can_not_be_forked(
    chance: Run, capsys: pytest.CaptureFixture[str]
) -> None:
    file = chance.episode(0).file
    lines = [json.loads(line) for line in file.read_text().splitlines()]
    next(x for x in lines if x["kind"] == "act" and x["step"] == 1)["feedback"] = "All is well."
    file.write_text("".join(json.dumps(line) + "\n" for line in lines))
    assert fork(chance, "--episode", "0", "--step", "3", "--hint", "h", *IN_PROCESS) == 1
    assert (
        "Step 1 differs from the record when it is re-executed: feedback was 'All"
        in capsys.readouterr().err
    )
    assert read_pairs(chance) == ()
