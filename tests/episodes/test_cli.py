"""The command as people and scripts type it: its answers, its sentences, its exit codes."""

from __future__ import annotations

import json
import shutil
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NoReturn

import pytest
import torch

from inhabit.agents.core import ModelError
from inhabit.agents.models.local.fingerprint import of_folder
from inhabit.cli import main
from inhabit.envs.core import Task, TaskError
from inhabit.envs.registry import find
from inhabit.envs.toy.tasks import sample
from inhabit.episodes.commands.doctor import _start_once
from inhabit.episodes.playing.plan import plan
from inhabit.episodes.recording.reader import Run, read_tasks
from tests.agents.models.local.tiny import save_llama

FAST = ("--set", "in_process=true")


class Said:
    """What a command left behind."""

    def __init__(self, code: int, out: str, err: str) -> None:
        self.code, self.out, self.err = code, out, err
        self.sentence = " ".join(err.split())

    @property
    def json(self) -> Any:
        return json.loads(self.out.splitlines()[-1])


@pytest.fixture
def inhabit(capsys: pytest.CaptureFixture[str]) -> Any:
    def call(*words: str) -> Said:
        with pytest.raises(SystemExit) as left:
            main(list(words))
        assert isinstance(left.value.code, int)
        return Said(left.value.code, *capsys.readouterr())

    return call


def test_run_plays_and_says_what_it_came_to(inhabit: Any, tmp_path: Path) -> None:
    out = str(tmp_path / "a [bold]{run}[/bold]")
    said = inhabit("run", "toy", "--agent", "expert", "--n", "3", *FAST, "--out", out, "--json")
    assert said.code == 0
    assert len(said.out.splitlines()) == 1
    assert said.json["success_rate"] == 1.0
    assert said.json["run"] == out
    assert said.json["grants"] == ["expert"], "Granted, because this agent can't do without."
    assert "[bold]{run}[/bold]" in said.err, "Names are shown as they are."
    header = Run.open(out).header
    assert header.settings.env["pixels"] == 96
    assert header.software["inhabit"]


def test_the_record_says_what_a_model_was_run_with(inhabit: Any, tmp_path: Path) -> None:
    words = ("run", "toy", "--agent", "rank", "--n", "1", "--max-steps", "1", "--json", *FAST)
    words = (*words, "--model", f"local:{save_llama(tmp_path / 'model')}")
    set_to = ("--set", "device=cpu", "--set", "dtype=auto")
    assert inhabit(*words, *set_to, "--out", str(tmp_path / "run")).code == 0
    header = Run.open(tmp_path / "run").header
    assert header.settings.model["dtype"] == "auto"
    assert header.model_details["device"] == "cpu"
    assert header.model_details["dtype"] in ("float32", "bfloat16")


def test_run_in_workers_comes_to_the_same(inhabit: Any, tmp_path: Path) -> None:
    words = ("run", "toy", "--agent", "random", "--n", "4", "--json", "--seed", "5")
    alone = inhabit(*words, *FAST, "--out", str(tmp_path / "a")).json
    crowd = inhabit(*words, "--workers", "3", "--out", str(tmp_path / "b")).json
    for key in alone.keys() - {"run", "seconds", "overhead_ms_p50"}:
        assert alone[key] == crowd[key], key


def test_tasks_of_a_file_are_played_in_their_order(inhabit: Any, tmp_path: Path) -> None:
    said = inhabit("tasks", "toy", "--n", "4", "--seed", "7")
    assert said.code == 0
    file = tmp_path / "{my} tasks.jsonl"
    file.write_text("".join(reversed(said.out.splitlines(keepends=True))))
    out = str(tmp_path / "run")
    words = ("run", "toy", "--agent", "expert", *FAST, "--out", out, "--json")
    assert inhabit(*words, "--tasks", str(file)).json["episodes"] == 4
    assert [t.id for t in Run.open(out).tasks] == [f"toy-7-{i}" for i in (3, 2, 1, 0)]
    assert list(Run.open(out).tasks) == list(read_tasks(file))
    assert inhabit("tasks", "toy", "--n", "2", "--json").json["tasks"][1]["id"] == "toy-0-1"


def test_envs_are_listed_with_what_they_need(inhabit: Any) -> None:
    listed = {e["name"]: e for e in inhabit("envs", "--json").json["envs"]}
    assert listed["toy"]["backends"] == [{"name": "grid", "ready": True, "needs": []}]
    assert "toy" in inhabit("envs").out


@pytest.mark.slow
def test_a_run_goes_on_with_what_auto_came_to(inhabit: Any, tmp_path: Path) -> None:
    model = save_llama(tmp_path / "model")
    words = ["run", "toy", "--agent", "rank", "--model", f"local:{model}", "--n", "2", *FAST]
    words += ["--max-steps", "1", "--out", str(tmp_path / "run")]
    for dtype, other in (("bfloat16", "float32"), ("float32", "bfloat16")):
        assert inhabit(*words).code == 0
        header = tmp_path / "run" / "run.json"
        details = json.loads(header.read_text())
        details["model_details"]["dtype"] = dtype
        header.write_text(json.dumps(details))
        shutil.rmtree(tmp_path / "run" / "episodes" / "00001")
        assert inhabit(*words).code == 0, "It goes on with the dtype that it began with."
        details["settings"]["model"]["dtype"] = other
        header.write_text(json.dumps(details))
        shutil.rmtree(tmp_path / "run" / "episodes" / "00001")
        refused = inhabit(*words, "--set", f"dtype={other}")
        assert refused.code == 2
        assert f"whose dtype was '{dtype}', and now it is '{other}'" in refused.sentence
        shutil.rmtree(tmp_path / "run")


@pytest.mark.parametrize("device", ["cuda", "mps"])
def test_a_run_begun_on_a_device_needs_one_of_its_kind(
    device: str, inhabit: Any, tmp_path: Path
) -> None:
    if getattr(torch, device).is_available():
        pytest.skip(f"There is a device of kind {device}.")
    model = save_llama(tmp_path / "model")
    chosen = plan("toy", "rank", model=f"local:{model}")
    loaded = chosen.load_model({"device": "cpu:0"})  # a GPU is recorded as "cuda:0"
    assert loaded is not None
    assert loaded.details["device"] == "cpu"
    with pytest.raises(ModelError, match=f"device={device}: torch .* finds no such device here"):
        chosen.load_model({"device": f"{device}:0"})


def test_agents_and_models_are_listed_with_their_settings(inhabit: Any) -> None:
    listed = inhabit("agents", "--json").json
    agents = {one["name"]: one for one in listed["agents"]}
    assert agents["beam"]["settings"]["width"] == 5
    assert agents["holmes"]["needs"] == ["tools"]
    assert agents["random"]["model"] is None
    models = {one["kind"]: one for one in listed["models"]}
    assert models["local"]["settings"]["batch"] == 8
    shown = inhabit("agents")
    assert shown.code == 0
    assert "beam" in shown.out
    assert "local:NAME" in shown.out


@pytest.mark.parametrize(
    ("words", "key", "default", "values"),
    [
        (("agents", "rank"), "temperature", "0.0", "number >= 0"),
        (("agents", "rank"), "score", "sum", "sum, mean, contrast"),
        (("agents", "local:smollm2"), "batch", "8", "integer >= 1"),
        (("envs", "toy"), "pixels", "96", "integer >= 16, <= 1024"),
    ],
)
def test_every_setting_is_listed_with_meaning_values_and_default(
    inhabit: Any, words: Sequence[str], key: str, default: str, values: str
) -> None:
    listed = {row["key"]: row for row in inhabit(*words, "--json").json["settings"]}
    assert (listed[key]["default"], listed[key]["values"]) == (default, values)
    assert all(row["meaning"] for row in listed.values()), "Every setting says what it is."
    assert key in inhabit(*words).out


def test_every_setting_of_this_project_says_what_it_is(inhabit: Any) -> None:
    agents = inhabit("agents", "--json").json
    names = [("agents", one["name"]) for one in agents["agents"]]
    names += [("agents", one["kind"]) for one in agents["models"]]
    names += [("envs", one["name"]) for one in inhabit("envs", "--json").json["envs"]]
    for command, name in names:
        for row in inhabit(command, name, "--json").json["settings"]:
            assert row["meaning"], f"{name}: {row['key']} has no description"


def test_an_unknown_name_is_told_with_the_three_nearest(inhabit: Any) -> None:
    refused = inhabit("run", "toy", "--agent", "random", "--n", "1", "--out", "x", "--set", "zz=1")
    assert refused.code == 2
    assert "and 1" in refused.sentence and refused.sentence.count(",") <= 3
    assert inhabit("agents", "rnak").sentence.endswith("Did you mean: rank?")


def test_a_model_without_words_is_told_before_anything_begins(inhabit: Any, tmp_path: Path) -> None:
    words = ["run", "toy", "--agent", "chat", "--model", "scripted:first", "--n", "1", *FAST]
    said = inhabit(*words, "--out", str(tmp_path / "run"))
    assert said.code == 2
    assert "asks its model for words, which scripted:first can't do" in said.sentence
    assert not (tmp_path / "run" / "run.json").exists()


BAD: Sequence[tuple[Sequence[str], str]] = [
    ([], "toy has no agent of its own: name one with --agent"),
    (["--agent", "{radnom}"], "There is no agent '{radnom}'. Did you mean: random"),
    (["--agent", "rank", "--model", "lokal:x"], "no kind of model 'lokal'. Did you mean: local"),
    (["--agent", "rank", "--model", "local"], "named as KIND:NAME"),
    (["--agent", "random", "--model", "scripted:first"], "'random' asks no model"),
    (["--agent", "random", "--backend", "gird"], "There is no backend of toy 'gird'. Did you mean"),
    (["--agent", "random", "--set", "pixls=3"], "no setting 'pixls'. Did you mean: pixels"),
    (["--agent", "random", "--set", "pixels=[3]"], "env.pixels: Input should be a valid integer"),
    (["--agent", "random", "--tasks", "nowhere.jsonl"], "nowhere.jsonl can't be read: No such"),
    (["--agent", "random", "--tasks", "{nowhere}"], "Unknown toy tasks '{nowhere}'"),
    (["--agent", "random", "--n", "0"], "--n"),
    (["--agent", "random", "--candidates", "all"], "'all' is not one of 'vocabulary', 'seen'"),
    (["--agent", "random", "--grant", "wings"], "'wings' is not one of"),
    (["--agent", "random", "--sight", "half"], "'half' is not one of 'shown', 'blank'"),
    (["--agent", "random", "--sight", "all"], "need tasks of two rooms at least"),
    (["--agent", "random", "--out", "/dev/null/x"], "/dev/null/x can't be a run folder"),
]


@pytest.mark.parametrize(("words", "says"), BAD)
def test_a_mistake_is_a_sentence_and_exit_code_2(
    inhabit: Any, tmp_path: Path, words: list[str], says: str
) -> None:
    said = inhabit("run", "toy", "--n", "1", "--out", str(tmp_path / "run"), *words)
    assert said.code == 2
    assert says in said.sentence
    assert "Traceback" not in said.err
    assert not (tmp_path / "run" / "run.json").exists()


def test_where_no_agent_is_named_the_planner_decides_in_what_it_knows(
    inhabit: Any, tmp_path: Path
) -> None:
    out = str(tmp_path / "run")
    words = ("run", "alfred", "--n", "1", "--max-steps", "1", *FAST, "--set", "wire=none")
    assert inhabit(*words, "--out", out).code == 0
    header = Run.open(out).header
    assert (header.agent, header.model) == ("planner", "alfred_specialist:bundled")
    assert header.candidates == "vocabulary", "What the planner was trained on."


def test_an_unknown_environment_is_named_with_the_nearest(inhabit: Any, tmp_path: Path) -> None:
    said = inhabit("run", "tyo", "--agent", "random", "--n", "1", "--out", str(tmp_path))
    assert (said.code, said.sentence) == (
        2,
        "There is no environment 'tyo'. Did you mean: toy?",
    )


def test_neither_number_nor_source_of_tasks(inhabit: Any, tmp_path: Path) -> None:
    said = inhabit("run", "toy", "--agent", "random", "--out", str(tmp_path))
    assert said.code == 2
    assert "(--n) or a source of tasks (--tasks)" in said.sentence


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"env": "alfred"}, "task 2 ('{b}'): its env is 'alfred', and this run is of 'toy'"),
        ({"id": "toy-0-0"}, "task 2: its id 'toy-0-0' is that of task 1 too"),
        ({"goal": ""}, "line 2: goal: "),
        ({"max_steps": 0}, "line 2: max_steps: "),
        ({"scene": []}, "line 2: scene: "),
    ],
)
def test_a_bad_line_of_tasks_is_named(
    inhabit: Any, tmp_path: Path, change: dict[str, object], says: str
) -> None:
    one, two = (task.model_dump(mode="json") for task in sample(2, 0))
    file = tmp_path / "tasks.jsonl"
    file.write_text(json.dumps(one) + "\n" + json.dumps({**two, "id": "{b}", **change}) + "\n")
    said = inhabit(
        "run", "toy", "--agent", "random", "--tasks", str(file), "--out", str(tmp_path / "r")
    )
    assert said.code == 2
    assert f"{file}, {says}" in said.sentence


def test_a_folder_of_something_else_is_left_alone(inhabit: Any, tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("x")
    said = inhabit("run", "toy", "--agent", "random", "--n", "1", "--out", str(tmp_path))
    assert said.code == 2
    assert "holds 'thesis.tex' but no run.json" in said.sentence
    assert [f.name for f in tmp_path.iterdir()] == ["thesis.tex"]


def test_half_a_run_json_is_named_and_nothing_is_lost(inhabit: Any, tmp_path: Path) -> None:
    words = ("run", "toy", "--agent", "random", "--n", "1", *FAST, "--out", str(tmp_path))
    assert inhabit(*words).code == 0
    before = {f: f.read_bytes() for f in tmp_path.rglob("*.*")}
    (tmp_path / "run.json").write_bytes(before[tmp_path / "run.json"][:99])
    said = inhabit(*words)
    assert said.code == 2
    assert "run.json is broken" in said.sentence
    for file, content in before.items():
        assert file.name == "run.json" or file.read_bytes() == content


def test_braces_and_brackets_in_tasks_are_only_text(inhabit: Any, tmp_path: Path) -> None:
    goal = 'Put {0.__class__} in the [red]fridge[/red] "now" \\ \u202e\n<script>'
    hostile = next(iter(sample(1, 0))).model_copy(update={"goal": goal, "id": "../../[{x}]"})
    file = tmp_path / "tasks.jsonl"
    file.write_text(hostile.model_dump_json() + "\n")
    out = tmp_path / "run"
    words = ("--agent", "expert", "--tasks", str(file), *FAST, "--out", str(out), "--json")
    said = inhabit("run", "toy", *words)
    assert (said.code, said.json["success_rate"]) == (0, 1.0)
    assert [e.name for e in (out / "episodes").iterdir()] == ["00000"]
    assert Run.open(out).tasks == (Task.model_validate(hostile),)
    said = inhabit("replay", str(out), "--episode", "../../[{x}]", "--json")
    assert (said.code, said.json["identical"]) == (0, True)


def test_a_goal_that_holds_at_the_start_is_told(inhabit: Any, tmp_path: Path) -> None:
    scene = {"items": {"cup": "shelf"}, "inside": {"cup": "shelf"}}
    done = next(iter(sample(1, 0))).model_copy(update={"scene": scene})
    file = tmp_path / "tasks.jsonl"
    file.write_text(done.model_dump_json() + "\n")
    words = ("--agent", "expert", "--tasks", str(file), *FAST, "--out", str(tmp_path / "run"))
    assert "1 episode solved at the start, without an action." in inhabit("run", "toy", *words).out


def test_replay_of_no_run_is_a_sentence(inhabit: Any, tmp_path: Path) -> None:
    (tmp_path / "{file}").touch()
    for command, name, what in (
        ("replay", "{gone}", "does not exist."),
        ("replay", "{file}", "is not a run folder: it has no run.json."),
        ("show", "{file}", "is no run folder (run.json) and contains none."),
    ):
        said = inhabit(command, str(tmp_path / name))
        assert said.code == 2
        assert f"{name} {what}" in said.sentence


def test_the_record_says_which_weights_and_goes_on_with_no_others(
    inhabit: Any, tmp_path: Path
) -> None:
    model = save_llama(tmp_path / "model")
    words = ["run", "toy", "--agent", "rank", "--model", f"local:{model}", "--n", "2", *FAST]
    words += ["--max-steps", "1", "--set", "dtype=float32", "--out", str(tmp_path / "run")]
    assert inhabit(*words).code == 0
    was = Run.open(tmp_path / "run").header.model_details["hash"]
    assert was == f"sha256:{of_folder(model)}"
    shutil.rmtree(tmp_path / "run" / "episodes" / "00001")
    assert inhabit(*words).code == 0
    weights = next(model.glob("*.safetensors"))
    flipped = bytearray(weights.read_bytes())
    flipped[-1] ^= 1
    weights.write_bytes(flipped)
    shutil.rmtree(tmp_path / "run" / "episodes" / "00001")
    refused = inhabit(*words)
    assert refused.code == 2
    assert f"whose hash was '{was}'" in refused.sentence


def test_a_budget_is_not_spread_over_a_cluster(inhabit: Any, tmp_path: Path) -> None:
    words = ["run", "toy", "--agent", "chat", "--model", "openai:m", "--n", "1", "--ray"]
    words += ["--base-url", "http://127.0.0.1:9/v1", "--set", "budget_calls=3"]
    refused = inhabit(*words, "--out", str(tmp_path / "run"))
    assert refused.code == 2
    assert "budget_calls cannot be enforced" in refused.sentence


@pytest.mark.parametrize("command", ["run", "synth"])
def test_settings_of_a_cluster_without_one_are_refused(
    command: str, inhabit: Any, tmp_path: Path
) -> None:
    words = [command, "toy", *(["--agent", "random"] if command == "run" else [])]
    words += ["--n", "1", "--set", "ray_cpus=2", "--out", str(tmp_path / "out")]
    refused = inhabit(*words)
    assert refused.code == 2 and "ray_cpus has no effect without --ray" in refused.sentence
    assert not (tmp_path / "out").exists()


def test_an_agent_in_a_file_is_not_on_the_nodes_of_a_cluster(inhabit: Any, tmp_path: Path) -> None:
    file = tmp_path / "mine.py"
    file.write_text("def first(view):\n    return view.candidates[0].text\n")
    words = ["run", "toy", "--agent", f"{file}:first", "--n", "1", "--ray"]
    refused = inhabit(*words, "--out", str(tmp_path / "run"))
    assert refused.code == 2 and "is in a file: omit --ray" in refused.sentence
    agents = f"{{agent: random}}, {{agent: '{file}:first', name: mine}}"
    asked = f"name: both\nenvironments: [{{env: toy, tasks: {{n: 1}}}}]\nagents: [{agents}]\n"
    (tmp_path / "both.yaml").write_text(asked)
    words = ["experiment", str(tmp_path / "both.yaml"), "--ray", "--out", str(tmp_path / "out")]
    refused = inhabit(*words)
    assert refused.code == 2 and "is in a file: omit --ray" in refused.sentence
    assert not list((tmp_path / "out").rglob("run.json")), "No other agent has played."


@pytest.mark.parametrize("why", [TaskError("Give --tasks."), ZeroDivisionError("none")])
def test_setup_says_why_an_environment_gives_no_task(why: Exception) -> None:
    def none(*asked: object) -> NoReturn:
        raise why

    told: list[str] = []
    _start_once(replace(find("toy"), sample=none), "grid", told.append)
    assert len(told) == 1 and "toy (grid): not started. " in told[0] and str(why) in told[0]


def test_setup_can_leave_the_text_model_out(inhabit: Any) -> None:
    said = inhabit("setup", "toy", "--no-model", "--json")
    assert said.code == 0
    assert len(said.json["told"]) == 1 and "started" in said.json["told"][0]


@pytest.mark.parametrize(
    "words", [("agents", "chat", "--prompt"), ("experiment", "x", "--dry-run")]
)
def test_json_is_refused_where_there_is_none(inhabit: Any, words: tuple[str, ...]) -> None:
    said = inhabit(*words, "--json")
    assert said.code == 2 and f"--json has no effect with {words[-1]}." in said.sentence
