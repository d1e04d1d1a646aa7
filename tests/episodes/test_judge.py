"""Judging recorded runs: what is written down, error maps, agreement, and chat models as judges."""

from __future__ import annotations

import csv
import io
import json
import math
import random
import tracemalloc
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from toy_runs import Silent, play_toy, toy_tasks

from inhabit.cli import main
from inhabit.envs.core import Reason, Task
from inhabit.envs.plain_data import validated_scene
from inhabit.envs.toy.env import Toy
from inhabit.envs.toy.house import ToyGoal, ToyHouse, ToyScene, successors
from inhabit.envs.toy.tasks import sample
from inhabit.episodes.judging.chat import read
from inhabit.episodes.judging.errors import (
    Consequence,
    FailureType,
    StepOutcome,
    failures,
    first_mistake,
)
from inhabit.episodes.judging.schema import StepLine, file_of, whole
from inhabit.episodes.judging.scores import ABSENT, Dimension, Judged, Verdict
from inhabit.episodes.judging.sheet import kappa
from inhabit.episodes.recording.reader import Run
from inhabit.episodes.reports.page.summary import judgement_of
from inhabit.episodes.scoring.builtin_metrics import clustered, hierarchical


def inhabit(*words: object) -> None:
    with pytest.raises(SystemExit) as left:
        main([str(word) for word in words])
    assert left.value.code in (0, None)


def play(out: Path, agent: str, n: int, *more: object) -> Path:
    inhabit(
        "run", "toy", "--agent", agent, "--n", n, "--out", out, "--set", "in_process=true", *more
    )
    return out


def judged(run: Path, capsys: pytest.CaptureFixture[str], *more: object) -> dict[str, object]:
    capsys.readouterr()
    inhabit("judge", run, "--json", *more)
    found: dict[str, object] = json.loads(capsys.readouterr().out.splitlines()[-1])
    return found


def small(task: Task) -> Task:
    """With the things of the goal and one besides, so that everything can be tried."""
    scene = dict(task.scene)
    items, wanted = dict(scene["items"]), dict(scene["inside"])  # type: ignore[arg-type]
    kept = [*wanted, *(item for item in items if item not in wanted)][:2]
    return task.model_copy(update={"scene": {**scene, "items": {i: items[i] for i in kept}}})


def distance(house: ToyHouse, goal: ToyGoal) -> int:
    """Actions to the goal, by trying everything: nothing of the expert's own search is used."""
    level, seen, steps = {house}, {house}, 0
    while not any(goal.met(one) == goal.total for one in level):
        level = {after for one in level for _, after in successors(one)} - seen
        seen |= level
        steps += 1
    return steps


@pytest.mark.slow
def test_first_mistakes_agree_with_exhaustive_search(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Two hundred random episodes: the first wrong step is the first that brings it no nearer."""
    tasks = tmp_path / "tasks.jsonl"
    tasks.write_text("".join(small(task).model_dump_json() + "\n" for task in sample(200, 5)))
    run = play(tmp_path / "run", "random", 200, "--max-steps", 3, "--tasks", tasks)
    judged(run, capsys)
    found = Run.open(run)
    steps, episodes = whole(file_of(found, "oracle"))
    assert len(episodes) == 200
    for line in episodes:
        scene = validated_scene(ToyScene, found.tasks[line.episode])
        goal, env = scene.goal(), Toy()
        env.reset(found.tasks[line.episode], seed=0)
        wrong = None
        for step in (s for s in steps if s.episode == line.episode):
            here = distance(env._house, goal)
            assert step.ahead == here
            best = {a.text for a, after in successors(env._house) if distance(after, goal) < here}
            assert set(step.best or ()) == best
            assert step.answer.action is not None
            if wrong is None and step.answer.action not in best:
                wrong = step.step
            action = env.parse(step.answer.action)
            assert action is not None
            env.act(action)
        assert (None if line.mistake is None else line.mistake.step) == wrong


def test_an_expert_is_right_throughout(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = play(tmp_path / "run", "expert", 6)
    summary = judged(run, capsys)
    overall = summary["overall"]
    assert isinstance(overall, dict)
    assert overall["action"]["mean"] == 1.0 and overall["action"]["coverage"] == 1.0
    assert overall["perception"]["mean"] is None and overall["perception"]["given"] == 0
    assert overall["genuine"]["mean"] is None
    assert 0 < overall["chance"] < 1
    assert summary["first_mistakes"] == {
        "perception": 0,
        "cognition": 0,
        "action": 0,
        "none": 6,
        "unjudged": 0,
    }


@pytest.mark.parametrize(
    "command", ["judge", "credit", "export --format trajectories --out {0}/out"]
)
def test_episodes_that_have_not_ended_are_counted(
    command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Otherwise the figures of a run that was killed would pass for those of the whole."""
    run = play(tmp_path / "run", "expert", 2)
    record = run / "episodes/00001/episode.jsonl"
    record.write_bytes(record.read_bytes()[:-40])
    name, *more = command.format(tmp_path).split()
    inhabit(name, run, *more)
    assert "Left out, as not ended: 1 episode." in capsys.readouterr().err


def test_an_episode_that_was_played_again_is_judged_again(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """As one that a model which was away had ended, when the same command is repeated."""
    tasks = toy_tasks(1)
    run = play_toy(tmp_path / "run", tasks=tasks, made=Silent()).folder
    assert judged(run, capsys)["overall"]["steps"] == 0  # type: ignore[index]
    assert judgement_of(Run.open(run)).episodes == 1  # type: ignore[union-attr]
    play_toy(run, tasks=tasks, agent="expert")
    assert judgement_of(Run.open(run)).episodes == 0  # type: ignore[union-attr]
    assert judged(run, capsys)["overall"]["steps"] > 0  # type: ignore[index]
    file = file_of(Run.open(run), "oracle")
    before = file.read_bytes()
    judged(run, capsys)
    assert file.read_bytes() == before


def test_what_a_model_says_is_judged_and_not_twice(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    script = tmp_path / "agent.json"
    says = {
        "description": "I see a fridge that is closed.",
        "reasoning": "I should dance.",
        "action": "go to the kitchen",
    }
    script.write_text(
        json.dumps(
            {
                "abilities": ["images", "words"],
                "answers": [{"when": "", "say": json.dumps(says)}],
            }
        )
    )
    run = play(tmp_path / "run", "chat", 3, "--model", f"scripted:{script}", "--max-steps", 2)
    judged(run, capsys)
    file = file_of(Run.open(run), "oracle")
    before = file.read_bytes()
    summary = judged(run, capsys)
    assert file.read_bytes() == before and file.name == "0001.jsonl"
    overall = summary["overall"]
    assert isinstance(overall, dict)
    assert overall["perception"]["given"] == overall["steps"] > 0
    steps, _ = whole(file)
    assert {step.judged.cognition.score for step in steps} <= {None, 0, 1}


@pytest.mark.slow
def test_a_chat_judge_that_breaks_the_form_is_asked_again_and_then_unjudged(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = play(tmp_path / "run", "expert", 1)
    steps = len(list((tmp_path / "run/episodes/00000/frames").iterdir())) - 1
    good = "\n".join(f"{p.value} evidence: so\n{p.value} score: 1" for p in Dimension)
    script = tmp_path / "judge.json"
    replies = ["Hm.", good, *["No idea."] * 3, *[good] * steps]
    script.write_text(json.dumps({"abilities": ["words"], "replies": replies}))
    summary = judged(run, capsys, "--judge", f"scripted:{script}")
    overall = summary["overall"]
    assert isinstance(overall, dict) and steps > 2
    # Turns of several answers interleave, so that only their sum is certain.
    assert overall["action"]["given"] == steps
    assert overall["action"]["judged"] >= steps - 2
    # What was not said is not scored, whatever the judge says.
    assert overall["perception"]["given"] == 0
    agreement = judged(run, capsys, "--against", f"scripted:{script}")["agreement"]
    assert isinstance(agreement, dict) and agreement["action"]["agreeing"] == 1.0


def test_a_sheet_is_written_and_read_back(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = play(tmp_path / "run", "random", 6, "--max-steps", 5)
    judged(run, capsys)
    inhabit("judge", run, "--sample", 9, "--csv")
    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    assert len(rows) == 9 and {row["action"] for row in rows} == {""}
    assert all(Path(row["picture"]).is_file() for row in rows)
    steps, _ = whole(file_of(Run.open(run), "oracle"))
    right = {(s.episode, s.step): s.judged.action.score for s in steps}
    for row in rows:
        row["action"] = str(right[int(row["episode"]), int(row["step"])])
    labelled = tmp_path / "labelled.csv"
    with labelled.open("w", newline="") as stream:
        table = csv.DictWriter(stream, list(rows[0]))
        table.writeheader()
        table.writerows(rows)
    agreement = judged(run, capsys, "--labels", labelled)["agreement"]
    assert isinstance(agreement, dict)
    assert agreement["action"]["items"] == 9 and agreement["action"]["agreeing"] == 1.0
    for unused in ("--labels", "--against", "--plot"):
        with pytest.raises(SystemExit) as left:
            main(["judge", str(run), "--csv", unused, str(labelled)])
        assert left.value.code == 2 and "--csv excludes" in capsys.readouterr().err
    with pytest.raises(SystemExit) as left:
        main(["judge", str(run), "--labels", str(labelled), "--against", "oracle"])
    assert left.value.code == 2 and "exclude each other" in capsys.readouterr().err
    labelled.write_text("episode,step,action\n0,0,maybe\n")
    with pytest.raises(SystemExit) as left:
        main(["judge", str(run), "--labels", str(labelled)])
    assert left.value.code == 2 and "row 2" in capsys.readouterr().err


def test_a_run_that_the_simulator_no_longer_repeats_is_not_judged(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = play(tmp_path / "run", "expert", 1)
    file = run / "episodes/00000/episode.jsonl"
    file.write_text(file.read_text().replace('"reason":null', '"reason":"blocked"', 1))
    with pytest.raises(SystemExit) as left:
        main(["judge", str(run)])
    assert left.value.code == 2
    assert "has another outcome than recorded" in " ".join(capsys.readouterr().err.split())


@pytest.mark.parametrize(
    ("text", "scores"),
    [
        (
            "Action evidence: a\naction score: 1\nPerception Score: 0\nperception evidence: {x}\n"
            "**cognition score**: 1.0\ncognition evidence: c",
            (0, 1, 1),
        ),
        ("action score: 1\nperception score: 2\ncognition score: 0", None),
        ("1. Action score: 1/1\n2. perception score: 0.0\n3. cognition score: 1 (yes)", (0, 1, 1)),
        (
            "<think>action score: 0</think>\naction score: 1\nperception score: 0\n"
            "cognition score: 1",
            (0, 1, 1),
        ),
        ("action score: -1\nperception score: 0\ncognition score: 1", None),
        ("action score: 0.5\nperception score: 0\ncognition score: 1", None),
        ("**action_score**: 1\n- Perception-Score = 0\n3. __Cognition score__: **1**", (0, 1, 1)),
        ('{"action_score": 1, "perception_score": 0, "cognition_score": 1}', (0, 1, 1)),
        ("action_score = 0.5\nperception_score = 0\ncognition_score = 1", None),
        ("action score: 1/5\nperception score: 0\ncognition score: 1", None),
        ("action score: <0 or 1>\nperception score: 0\ncognition score: 1", None),
        (
            "perception evidence: it says\naction score: 1\naction score: 0\nperception score: 0\n"
            "cognition score: 1",
            None,
        ),
        ("action score: 1\nperception score: 1", None),
        ("", None),
    ],
)
def test_six_lines(text: str, scores: tuple[int, int, int] | None) -> None:
    found = read(text)
    assert (found and tuple(found[part].score for part in Dimension)) == scores


@given(st.text())
def test_any_reply_is_read(text: str) -> None:
    read(text)


def done(
    step: int, action: str | None, ahead: int, score: int | None, **more: object
) -> StepOutcome:
    verdicts = Judged(
        perception=Verdict(score=more.get("seen", 1)),  # type: ignore[arg-type]
        cognition=ABSENT,
        action=Verdict(score=score),
    )
    plan = ("pick up the cup", "put the cup in the chest")
    return StepOutcome(step, action, more.get("reason"), verdicts, ahead, plan)  # type: ignore[arg-type]


def test_the_error_map_tells_where_it_began_and_what_came_of_it() -> None:
    steps = [done(0, "a", 3, 1), done(1, "b", 2, 0, seen=0), done(2, "c", 4, 0), done(3, "d", 1, 1)]
    mistake = first_mistake(steps, success=False)
    assert mistake is not None
    assert (mistake.step, mistake.began_with) == (1, Dimension.PERCEPTION)
    assert mistake.consequence is Consequence.SET_BACK and mistake.recovered
    assert first_mistake(steps[:1], success=False) is None
    blocked = [done(0, "a", 2, 0, reason=Reason.BLOCKED), done(1, "a", 2, 0)]
    mistake = first_mistake(blocked, success=False)
    assert mistake is not None and mistake.consequence is Consequence.NO_EFFECT
    assert not mistake.recovered and mistake.began_with is Dimension.ACTION
    lost = first_mistake([done(0, "a", 2, 0), done(1, "b", 0, None)], success=False)
    assert lost is not None and lost.consequence is Consequence.OUT_OF_REACH


def test_the_three_types_of_failure() -> None:
    steps = [
        done(0, "go to the hall", 3, 1),
        done(1, "put the cup in the chest", 3, 0, reason=Reason.HANDS_EMPTY),
        done(2, "go to the hall", 3, 0),
        done(3, "put the cup in the chest", 3, 0),
        done(4, "open the fridge", 3, 0),
    ]
    assert failures("Put the cup in the chest.", steps) == {
        FailureType.LIKE_THE_GOAL: 1,
        FailureType.REPEATED: 1,
        FailureType.MISREAD_STATE: 1,
    }


def test_kappa_is_cohens() -> None:
    """The textbook's fifty grant proposals: 20 yes-yes, 5 yes-no, 10 no-yes, 15 no-no."""
    one = [1] * 25 + [0] * 25
    other = [1] * 20 + [0] * 5 + [1] * 10 + [0] * 15
    found = kappa(one, other)
    assert found.value == pytest.approx(0.4)
    assert found.low < 0.4 < found.high and found.items == 50
    assert kappa(one, one).value == 1.0
    assert math.isnan(kappa([1, 1], [1, 1]).value)
    with pytest.raises(ValueError, match="not 1 and 2"):
        kappa([1], [1, 0])


def test_clustered_intervals_hold_what_they_promise() -> None:
    """Of 200 samples about 95 % cover the truth; drawing values one by one would cover far less."""
    draw = random.Random(0)
    covered = 0
    for i in range(200):
        clusters = [[float(draw.random() < p)] * 10 for p in [0.5] * 40]
        estimate = clustered(clusters, seed=i)
        covered += estimate.low <= 0.5 <= estimate.high
    assert 180 <= covered <= 199


def test_the_interval_of_many_episodes_takes_little_memory() -> None:
    episodes = [[float(number % 3 == 0)] for number in range(10_000)]
    tracemalloc.start()
    clustered(episodes)
    hierarchical(np.array(episodes), np.ones(len(episodes)))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 100e6


def test_judgements_are_lines_of_their_own(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """What was cut off is judged anew; what was whole stays as it was."""
    run = play(tmp_path / "run", "random", 3, "--max-steps", 2)
    first = judged(run, capsys)
    file = file_of(Run.open(run), "oracle")
    whole_lines = file.read_bytes()
    lines = whole_lines.splitlines(keepends=True)
    file.write_bytes(b"".join(lines[:-1])[:-5])
    assert judged(run, capsys) == first
    assert any(isinstance(line, StepLine) for line in whole(file)[0])
    other = file.rename(file.with_name("0002.jsonl"))
    before = lines[0].replace(b'"oracle"', b'"openai:m"')
    other.write_bytes(before)
    assert judged(run, capsys) == first
    assert other.read_bytes() == before, "It is the file of another judge."
