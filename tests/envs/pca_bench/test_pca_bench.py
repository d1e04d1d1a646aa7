from __future__ import annotations

import json
import logging
from collections.abc import Sequence
from pathlib import Path

import pytest

from inhabit.cli import main
from inhabit.envs.contract import EnvContract
from inhabit.envs.core import Env, SceneError, Task, TaskError
from inhabit.envs.pca_bench import REGISTRATION
from inhabit.envs.pca_bench.env import PcaBench
from inhabit.envs.pca_bench.sampling import Situation, solve
from inhabit.envs.pca_bench.scene import PcaSettings
from tests.envs.pca_bench.pca_files import drive, game, home, png, write


def read(source: Path, **settings: object) -> list[Task]:
    return list(REGISTRATION.read(str(source), PcaSettings.model_validate(settings)))


class TestMadeInstances(EnvContract):
    def make(self) -> Env:
        return PcaBench(PcaSettings(expert="recipes"))

    def tasks(self) -> Sequence[Task]:
        return list(REGISTRATION.sample(10, 0, PcaSettings()))


def test_reads_the_released_form_with_pictures(tmp_path: Path) -> None:
    write(tmp_path / "Domestic Robot", [home(0), home(1)])
    write(tmp_path / "Open-World Game", [game()])
    write(tmp_path / "Autonomous Driving", [drive()])
    tasks = read(tmp_path)
    kinds = [task.kind for task in tasks]
    assert kinds == ["autonomous_driving", *["domestic_robot"] * 2, "open_world_game"]
    assert len({task.id for task in tasks}) == 4
    with PcaBench() as env:
        env.reset(tasks[1], seed=0)
        seen = env.observe()
        assert seen.text == "You have Apple in your hands."
        assert seen.rgb is not None and seen.rgb.shape == (24, 32, 3)
        outcome = env.act(env.plan()[0])
        assert outcome.over and (outcome.met, outcome.total) == (1, 1)
        env.reset(tasks[3], seed=0)
        assert env.observe().text == "Currently you have 3 iron_ingot in your inventory."
        assert env.call("list_nearby_mobs_in_minecraft", {}) == ["cow"]
        wrong = env.parse("FIND COW.")
        assert wrong is not None
        assert env.act(wrong).over and env.progress() == (0, 1)
        env.reset(tasks[0], seed=0)
        assert [tool["name"] for tool in env.tools()] == [
            *("detect_traffic_sign", "object_detection", "ocr"),
            *("image_caption", "weather_detection"),
        ]
        assert env.call("ocr", {}) == "nothing" and env.call("detect_traffic_sign", {}) == []


def test_a_missing_result_may_be_written_as_nan(tmp_path: Path) -> None:
    nan = float("nan")
    cached = {"list_items_in_inventory": [["log", nan]], "list_nearby_mobs": nan}
    (task,) = read(write(tmp_path, [game(api_cached_result=cached)]))
    assert Task.model_validate_json(task.model_dump_json()) == task


def test_folders_of_one_name_in_different_places(tmp_path: Path) -> None:
    for place in ("kitchen/train", "flats/train"):
        write(tmp_path / place, [home(0), home(1)])
    assert len({task.id for task in read(tmp_path)}) == 4


def test_reads_the_open_form_without_index_or_picture(tmp_path: Path) -> None:
    records = [home(), home()]
    for record in records:
        for name in ("index", "image", "api_cached_results", "domain"):
            del record[name]
    file = tmp_path / "Domestic-Robot-test_open-meta.json"
    file.write_text(json.dumps(records))
    tasks = read(tmp_path)
    assert len(tasks) == 2 and tasks[0].kind == "domestic_robot"
    with PcaBench() as env:
        env.reset(tasks[0], seed=0)
        assert env.observe().rgb is None and env.observe().text == "" and env.tools() == []


def test_reads_parquet(tmp_path: Path) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    record = home(domain="ALFRED", image={"bytes": png(), "path": None})
    del record["index"], record["api_cached_results"]
    record["question_prompt"] = "Look. You have Apple in your hands. Choose."
    parquet.write_table(
        pyarrow.Table.from_pylist([record, record]), tmp_path / "test_open-00000.parquet"
    )
    tasks = read(tmp_path)
    with PcaBench() as env:
        env.reset(tasks[1], seed=0)
        seen = env.observe()
        assert seen.rgb is not None and int(seen.rgb[0, 0, 0]) == 200
        assert seen.text == "You have Apple in your hands."


@pytest.mark.parametrize(
    ("broken", "said"),
    [
        (home(1, answer_index=3), "not one of its 3 actions"),
        (home(1, actions=[]), "no actions"),
        (home(1, domain="Kitchen {x}"), "unknown domain 'Kitchen {x}'"),
        (home(0), "index 0"),
        (home(1, question=""), "no question"),
    ],
)
def test_what_makes_no_sense_is_named_and_counted(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, broken: dict[str, object], said: str
) -> None:
    file = write(tmp_path, [home(0), broken])
    with caplog.at_level(logging.WARNING):
        assert len(read(tmp_path)) == 1
    assert f"{file}, record 1" in caplog.text and said in caplog.text
    assert "1 of 2 records" in caplog.text


def test_a_missing_picture_is_named_and_none_at_all_is_played(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    write(tmp_path / "some", [home(0), home(1)])
    (tmp_path / "some" / "imgs" / "FloorPlan3_Rotation_1.png").unlink()
    with caplog.at_level(logging.WARNING):
        assert len(read(tmp_path / "some")) == 1
    assert "FloorPlan3_Rotation_1.png" in caplog.text
    write(tmp_path / "none", [home(0), home(1)], pictures=None)
    assert len(read(tmp_path / "none")) == 2


def test_a_picture_stays_in_its_folder(tmp_path: Path) -> None:
    write(tmp_path / "set", [home(image="../../secret.png")])
    write(tmp_path, [home(image="secret.png")], pictures=".")
    (tmp_path / "set" / "imgs" / "secret.png").unlink()
    (task,) = read(tmp_path / "set" / "meta_data.json")
    assert task.scene["image"] is None


def test_a_broken_picture_is_refused(tmp_path: Path) -> None:
    write(tmp_path, [home()])
    (tmp_path / "imgs" / "FloorPlan3_Rotation_0.png").write_bytes(b"no picture")
    (task,) = read(tmp_path)
    with PcaBench() as env, pytest.raises(SceneError, match=r"scene\.image"):
        env.reset(task, seed=0)


@pytest.mark.parametrize("content", ["{", "{}", "[1]", "[]"])
def test_broken_files_are_named(tmp_path: Path, content: str) -> None:
    file = tmp_path / "meta_data.json"
    file.write_text(content)
    with pytest.raises(TaskError, match=str(tmp_path)):
        read(tmp_path)


@pytest.mark.parametrize(
    ("goal", "inventory", "mobs", "best"),
    [
        ("Harvest milk", {}, [], "find cow"),
        ("Harvest milk", {}, ["cow"], "find iron ore"),
        ("Harvest milk", {"iron ore": 4}, ["cow"], "craft iron ingot"),
        ("Harvest milk", {"iron_ingot": 8}, ["cow", "pig"], "craft bucket"),
        ("Harvest milk", {"bucket": 1}, ["cow"], "milk cow"),
        ("Place a bookshelf in front of you", {"book": 5}, [], "find log"),
        ("Place a bookshelf in front of you", {"book": 5, "log": 2}, [], "craft plank"),
        ("Place a bookshelf in front of you", {"planks": 6, "paper": 3}, ["cow"], "kill cow"),
        ("Place a bookshelf in front of you", {"planks": 6, "book": 2}, ["cow"], "find paper"),
        ("Place a bookshelf in front of you", {"bookshelf": 1}, [], "place bookshelf"),
        ("Place a crafting table in front of you", {"planks": 3}, [], "find planks"),
        ("Place a crafting table in front of you", {"planks": 10}, [], "craft crafting table"),
        ("Harvest beef using an iron sword", {"iron sword": 1}, ["cow"], "kill cow"),
        ("Harvest beef using an iron sword", {"iron ingot": 2, "log": 1}, ["cow"], "find log"),
        ("Harvest beef using an iron sword", {"iron ingot": 2, "log": 2}, ["cow"], "craft stick"),
        ("Sing a song", {}, [], None),
    ],
)
def test_recipes(goal: str, inventory: dict[str, int], mobs: list[str], best: str | None) -> None:
    options = next(
        (
            [str(action) for action in task.scene["actions"]]  # type: ignore[union-attr]
            for task in REGISTRATION.sample(5, 0, PcaSettings())
            if task.goal == goal
        ),
        ["find cow"],
    )
    assert solve(goal, Situation.of(inventory, mobs, options)) == best


def test_a_run_counts_abstentions_apart(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """PCA-Bench-Action: right, wrong, and not answered."""
    write(tmp_path / "set", [home(0), home(1), home(2)])
    script = tmp_path / "script.json"
    said = ["Description: a fridge.\nAction: Open the fridge", "Action: Pick up the apple", "No."]
    script.write_text(json.dumps({"abilities": ["images", "words"], "replies": said}))
    with pytest.raises(SystemExit) as left:
        main(
            [
                *("run", "pca_bench", "--tasks", str(tmp_path / "set"), "--agent", "chat"),
                *("--model", f"scripted:{script}", "--out", str(tmp_path / "run")),
                *("--set", "repairs=0", "--set", "in_process=true", "--json"),
            ]
        )
    assert left.value.code in (0, None)
    scores = json.loads(capsys.readouterr().out.splitlines()[-1])
    endings = {name: n for name, n in scores["endings"].items() if n}
    assert endings == {"success": 1, "wrong_answer": 1, "format_error": 1}


def test_an_empty_option_is_refused(tmp_path: Path) -> None:
    write(tmp_path, [home(0)])
    (task,) = read(tmp_path)
    wrong = task.model_copy(update={"scene": {**task.scene, "actions": ["yes", " "]}})
    with PcaBench() as env, pytest.raises(SceneError, match="an option is empty"):
        env.reset(wrong, seed=0)
