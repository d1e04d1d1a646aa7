"""Exports of real runs of the toy house, read as LeRobot's and EgoPlan's own code reads them."""

from __future__ import annotations

import json
from itertools import count
from pathlib import Path
from typing import Any

import av
import numpy as np
import pyarrow.parquet as pq
import pytest
from PIL import Image as Picture

import inhabit
from inhabit.agents.core import Decision, View
from inhabit.cli import main
from inhabit.eie.export import lerobot
from inhabit.eie.export.demonstrations import demonstrations
from inhabit.eie.export.export import RunSource, export
from inhabit.envs.toy.env import Toy
from inhabit.episodes.recording.reader import RecordError, Run

CAMERA = "observation.images.front"


def play(folder: Path, agent: str, n: int = 4) -> Run:
    words = ["run", "toy", "--agent", agent, "--n", str(n), "--set", "in_process=true"]
    with pytest.raises(SystemExit) as left:
        main([*words, "--max-steps", "12", "--out", str(folder)])
    assert left.value.code == 0
    return Run.open(folder)


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    return play(tmp_path_factory.mktemp("runs") / "expert", "expert")


def steps(run: Run) -> list[tuple[str, Path]]:
    """Every action of a run with the image that it was chosen on, straight from the record."""
    found = []
    for episode in run.episodes():
        attempt = episode.last()
        assert attempt is not None
        for step in attempt.steps:
            if step.decide and step.decide.action and step.act:
                frame = episode.frame(step.see)
                assert frame is not None
                found.append((step.decide.action, frame))
    return found


def test_other_words_for_the_same_action_contradict_nothing(tmp_path: Path) -> None:
    (task,) = inhabit.tasks("toy", 1)
    with inhabit.open("toy", task) as session:
        plan = session.plan()
    thoughts = count()

    async def talkative(view: View) -> Decision:
        action = await view.parse(plan[len(view.history)])
        return Decision(action, description="A room.", reasoning=f"Thought {next(thoughts)}.")

    again = task.model_copy(update={"id": "again"})
    settings = {"in_process": True}
    inhabit.run("toy", talkative, tmp_path / "run", tasks=[task, again], settings=settings)
    source = RunSource(Run.open(tmp_path / "run"))
    assert export(source, "messages", tmp_path / "out") == len(plan)
    assert +source.left_out.counts == {"repeated": len(plan)}


def test_an_answer_without_an_action_costs_no_demonstration(tmp_path: Path, run: Run) -> None:
    fluent = list(demonstrations(run))
    plans = {one.task.goal: [step.action for step in one.steps] for one in fluent}

    def stammering(view: View) -> str:
        tried = len(view.history)
        return "well ..." if tried == 1 else plans[view.goal][tried - (tried > 1)]

    inhabit.run("toy", stammering, tmp_path / "run", n=4, settings={"in_process": True})
    stammered = list(demonstrations(Run.open(tmp_path / "run")))
    assert [[step.action for step in one.steps] for one in stammered] == list(plans.values())
    assert [len(one.pictures) for one in stammered] == [len(one.pictures) for one in fluent]


@pytest.fixture(scope="module")
def robot(run: Run, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("exports") / "robot"
    assert export(RunSource(run), "lerobot", out) == len(run.tasks)
    return out


def test_lerobot_lies_as_its_own_description_says(robot: Path, run: Run) -> None:
    info = json.loads((robot / "meta/info.json").read_text())
    assert info["codebase_version"] == "v3.0"
    assert info["total_episodes"] == len(run.tasks)
    assert info["total_frames"] == len(steps(run))
    assert info["splits"] == {"train": f"0:{len(run.tasks)}"}
    file = info["data_path"].format(chunk_index=0, file_index=0)
    rows = pq.read_table(robot / file)
    stored = {name for name, one in info["features"].items() if one["dtype"] != "video"}
    assert set(rows.column_names) == stored
    assert rows["index"].to_pylist() == list(range(info["total_frames"]))
    words = json.loads((robot / "meta/actions.json").read_text())
    named = [words[index] for index in rows["language.action_index"].to_pylist()]
    assert named == [a for a, _ in steps(run)]
    stats = json.loads((robot / "meta/stats.json").read_text())
    assert np.shape(stats[CAMERA]["mean"]) == (3, 1, 1)
    assert stats["frame_index"]["count"] == [info["total_frames"]]
    assert stats["frame_index"]["mean"] == [pytest.approx(np.mean(rows["frame_index"]))]
    assert stats["frame_index"]["std"] == [pytest.approx(np.std(rows["frame_index"]))]


def test_lerobot_finds_each_episode_in_the_shared_files(robot: Path, run: Run) -> None:
    info = json.loads((robot / "meta/info.json").read_text())
    rows = pq.read_table(robot / "data/chunk-000/file-000.parquet").to_pylist()
    episodes = pq.read_table(robot / "meta/episodes/chunk-000/file-000.parquet").to_pylist()
    frames = film(robot / info["video_path"].format(video_key=CAMERA, chunk_index=0, file_index=0))
    assert len(frames) == len(rows)
    seen = iter(steps(run))
    for number, (episode, task) in enumerate(zip(episodes, run.tasks, strict=True)):
        own = rows[episode["dataset_from_index"] : episode["dataset_to_index"]]
        assert len(own) == episode["length"]
        assert {row["episode_index"] for row in own} == {number}
        assert [row["next.done"] for row in own] == [False] * (len(own) - 1) + [True]
        assert episode["tasks"] == [task.goal]
        begin = episode[f"videos/{CAMERA}/from_timestamp"]
        for row in own:
            action, file = next(seen)
            assert row["language.action"] == action
            shown = frames[round((begin + row["timestamp"]) * info["fps"])].astype(int)
            assert np.abs(shown - np.asarray(Picture.open(file))).mean() < 6


def test_lerobot_knows_its_tasks_by_their_words(robot: Path, run: Run) -> None:
    pandas = pytest.importorskip("pandas")
    tasks = pandas.read_parquet(robot / "meta/tasks.parquet")
    rows = pq.read_table(robot / "data/chunk-000/file-000.parquet").to_pylist()
    goals = {row["episode_index"]: tasks.iloc[row["task_index"]].name for row in rows}
    assert list(goals.values()) == [task.goal for task in run.tasks]
    assert [tasks.loc[goal].task_index for goal in tasks.index] == list(range(len(tasks)))


def test_a_full_film_is_followed_by_another(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lerobot, "LARGEST", 0)
    lerobot.write(demonstrations(run), tmp_path, env="toy")
    episodes = pq.read_table(tmp_path / "meta/episodes/chunk-000/file-000.parquet").to_pylist()
    assert [e["data/file_index"] for e in episodes] == list(range(len(run.tasks)))
    for number, episode in enumerate(episodes):
        assert episode[f"videos/{CAMERA}/from_timestamp"] == 0
        rows = pq.read_table(tmp_path / f"data/chunk-000/file-{number:03d}.parquet")
        assert len(rows) == episode["length"]
        shown = film(tmp_path / f"videos/{CAMERA}/chunk-000/file-{number:03d}.mp4")
        assert len(shown) == episode["length"]


def test_egoplan_asks_for_every_step(run: Run, tmp_path: Path) -> None:
    export(RunSource(run), "egoplan", tmp_path / "out")
    samples = json.loads((tmp_path / "out/EgoPlan_IT.json").read_text())
    assert [s["answer"] for s in samples] == [action for action, _ in steps(run)]
    for sample in samples:
        assert sample["answer"] not in sample["negative_answers"]
        video = sample["video_id"]
        film_folder = tmp_path / "out/frames" / video / "rgb_frames" / video
        assert (film_folder / f"frame_{sample['current_observation_frame']:010d}.jpg").is_file()
    assert not (tmp_path / "out/EgoPlan_validation.json").exists()


def test_egoplans_wrong_answers_of_a_run_are_wrong_in_the_simulator(
    run: Run, tmp_path: Path
) -> None:
    export(RunSource(run), "egoplan", tmp_path / "out")
    samples = iter(json.loads((tmp_path / "out/EgoPlan_IT.json").read_text()))
    tried = 0
    for episode in run.episodes():
        attempt = episode.last()
        assert attempt is not None
        with Toy() as env:
            env.reset(attempt.start.task, seed=attempt.start.seed)
            for step in attempt.steps[:-1]:
                assert step.decide is not None and step.decide.action is not None
                left = len(env.plan())
                for text in next(samples)["negative_answers"]:
                    wrong = env.parse(text)
                    assert wrong is not None
                    with env.fork() as copy:
                        outcome = copy.act(wrong)
                        assert outcome.reason is not None or 1 + len(copy.plan()) > left
                    tried += 1
                action = env.parse(step.decide.action)
                assert action is not None
                env.act(action)
    assert tried > 10


def test_llava_shows_the_frames_as_they_were_recorded(run: Run, tmp_path: Path) -> None:
    export(RunSource(run), "llava", tmp_path / "out")
    samples = json.loads((tmp_path / "out/train.json").read_text())
    for sample, (action, file) in zip(samples, steps(run), strict=True):
        asked, answered = (turn["value"] for turn in sample["conversations"])
        names = [sample["image"]] if isinstance(sample["image"], str) else sample["image"]
        assert answered == action
        assert asked.count("<image>") == len(names)
        assert (tmp_path / "out" / names[-1]).read_bytes() == file.read_bytes()


def test_only_what_went_well_is_taught(tmp_path: Path) -> None:
    run = play(tmp_path / "random", "random", n=8)
    solved = [e.number for e in run.episodes() if (end := e.end()) and end.success]
    assert [one.number for one in demonstrations(run)] == solved
    assert len(solved) < 8


def test_a_run_has_no_candidates_with_reasons(run: Run, tmp_path: Path) -> None:
    with pytest.raises(RecordError, match="inhabit synth"):
        export(RunSource(run), "pca", tmp_path / "out")


def film(file: Path) -> list[Any]:
    with av.open(str(file)) as container:
        return [frame.to_ndarray(format="rgb24") for frame in container.decode(video=0)]


def test_lerobot_takes_a_first_episode_of_a_few_frames(tmp_path: Path) -> None:
    short = next(task for task in inhabit.tasks("toy", n=40) if task.reference_cost == 3)
    inhabit.run("toy", "expert", tmp_path / "run", tasks=[short], settings={"in_process": True})
    assert export(RunSource(Run.open(tmp_path / "run")), "lerobot", tmp_path / "robot") == 1
