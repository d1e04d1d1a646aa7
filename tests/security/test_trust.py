"""The table of docs/security.md: a test for each cell that refuses."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Annotated, Any

import pytest
from pydantic import BaseModel, Field

from inhabit.agents.models import registry as models
from inhabit.agents.registry import find as find_agent
from inhabit.agents.registry import names as agents
from inhabit.cli import main
from inhabit.envs.core import Determinism
from inhabit.envs.marks import NoEffect, Place, Words, places, without_effect
from inhabit.envs.registry import find as find_env
from inhabit.envs.registry import names as envs
from inhabit.episodes.playing.from_record import allowed, plan_like
from inhabit.episodes.playing.plan import plan
from inhabit.episodes.playing.settings import RunSettings, SettingError
from inhabit.episodes.recording.folder import LOCK_FILE, held
from inhabit.episodes.recording.reader import RecordError, Run
from tests.episodes.toy_runs import play_toy, toy_tasks

KEY = "sk-test-0123456789abcdef"


@pytest.fixture
def run(tmp_path: Path) -> Run:
    return play_toy(
        tmp_path / "run", tasks=toy_tasks(1), agent="expert", assignments=["in_process=true"]
    )


def command(*words: object) -> int:
    with pytest.raises(SystemExit) as left:
        main([str(word) for word in words])
    return int(left.value.code or 0)


def change(run: Run, **fields: Any) -> None:
    file = run.folder / "run.json"
    plain = json.loads(file.read_text())
    for name, value in fields.items():
        if name == "settings":
            for owner, settings in value.items():
                plain["settings"][owner] = settings
        else:
            plain[name] = value
    file.write_text(json.dumps(plain))


def test_the_places_of_all_settings_are_these() -> None:
    found = {f"{n}.{p}" for n in envs() for p in places(find_env(n).settings)}
    found |= {f"{n}.{p}" for n in agents() for p in places(find_agent(n).settings)}
    found |= {f"{k}.{p}" for k in models.kinds() for p in places(models.find(f"{k}:x")[0].settings)}
    found |= {f"run.{p}" for p in places(RunSettings)}
    ours = {
        *("alfred.executable", "alfred.rooms", "virtualhome.executable", "virtualhome.host"),
        *("virtualhome.port", "minedojo.python", "minedojo.tasks", "pca_bench.images"),
        *("egoplan.videos", "chat.examples", "holmes.examples", "llm.examples"),
        *("openai.base_url", "openai.cache", "openai.extra", "run.ray_address"),
    }
    assert ours <= found
    assert not {one for one in found - ours if one.split(".")[0] in ("toy", "run", "openai")}


def test_settings_of_others_are_places_unless_they_say_otherwise() -> None:
    class Theirs(BaseModel):
        program: str = ""
        folders: tuple[Path, ...] = ()
        port: Annotated[int, Place()] = 0
        goal: Annotated[str, Words()] = ""
        wait: Annotated[float, NoEffect()] = Field(default=1.0, gt=0)
        level: int = 1

    assert places(Theirs) == {"program", "folders", "port"}
    assert without_effect(Theirs) == {"wait"}


@pytest.mark.parametrize(
    "words", [("replay",), ("judge",), ("fork", "--episode=0", "--step=0", "--hint=x")]
)
def test_a_recorded_program_is_asked_for_again(
    run: Run, tmp_path: Path, words: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    program = tmp_path / "program"
    program.write_text(f"#!/bin/sh\ntouch {tmp_path}/ran\nexit 1\n")
    program.chmod(0o755)
    unity = {"executable": str(program), "timeout": 3}
    change(run, env="virtualhome", backend="unity", settings={"env": unity})
    name, *rest = words
    assert command(name, run.folder, *rest) == 2
    said = capsys.readouterr().err
    assert f"env.executable {str(program)!r}" in said and "--trust-record" in said
    assert "--set env.executable=..." in said
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize("how", ["say", "trust"])
def test_what_is_said_again_is_used(run: Run, tmp_path: Path, how: str) -> None:
    program = tmp_path / "program"
    program.write_text(f"#!/bin/sh\ntouch {tmp_path}/ran\nexit 1\n")
    program.chmod(0o755)
    unity = {"executable": str(program), "timeout": 3}
    change(run, env="virtualhome", backend="unity", settings={"env": unity})
    again = ["--trust-record"] if how == "trust" else ["--set", f"executable={program}"]
    assert command("replay", run.folder, *again) in (1, 2, 3)
    assert (tmp_path / "ran").exists()


@pytest.mark.parametrize(
    ("words", "refused"),
    [
        ({}, "openai:x"),
        ({"model": "openai:x"}, "model.base_url"),
        ({"model": "openai:x", "base_url": "http://127.0.0.1:1/v1"}, None),
        ({"base_url": "http://127.0.0.1:1/v1"}, None),
        ({"model": "openai:y", "base_url": "http://127.0.0.1:1/v1"}, None),
        ({"model": "scripted:first"}, None),
        ({"trusted": True}, None),
    ],
)
def test_no_key_goes_to_a_recorded_address(
    run: Run, words: dict[str, Any], refused: str | None
) -> None:
    model = {"base_url": "http://127.0.0.1:9/v1"}
    change(run, agent="chat", model="openai:x", settings={"agent": {}, "model": model})
    header = Run.open(run.folder).header
    if refused is None:
        plan = plan_like(header, where=run.folder, **words)
        address = getattr(plan.settings["model"], "base_url", None)
        given = words.get("base_url", model["base_url"] if words.get("trusted") else None)
        assert address == given
    else:
        with pytest.raises(SettingError, match=refused):
            plan_like(header, where=run.folder, **words)


def test_a_prompt_that_the_model_brings_is_not_asked_for_again(tmp_path: Path) -> None:
    told = {"version": 1, "agent": {"prompt": "prompt.jinja"}}
    (tmp_path / "inhabit.json").write_text(json.dumps(told))
    (tmp_path / "prompt.jinja").write_text("{% block system %}Act.{% endblock %}")
    model = f"local:{tmp_path}"
    header = plan("toy", "rank", model=model).header(Determinism.FRAMES, (), ())
    found = plan_like(header, where=tmp_path, model=model)
    assert getattr(found.settings["agent"], "prompt", None) == tmp_path / "prompt.jinja"
    (tmp_path / "inhabit.json").unlink()
    with pytest.raises(SettingError, match=r"agent\.prompt"):
        plan_like(header, where=tmp_path, model=model)


def test_a_file_that_a_task_names_is_opened_only_below_a_folder_that_is_named_now(
    run: Run, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    task = toy_tasks(1)[0].model_copy(
        update={"env": "egoplan", "scene": {"actions": ["a", "b"], "answer": 0, "video": "/v.mp4"}}
    )
    (run.folder / "tasks.jsonl").write_text(task.model_dump_json() + "\n")
    change(run, env="egoplan", backend="files", settings={"env": {}})
    assert command("replay", run.folder) == 2
    assert "'/v.mp4'" in capsys.readouterr().err
    assert command("replay", run.folder, "--set", f"videos={tmp_path}") == 2
    assert "'/v.mp4'" in capsys.readouterr().err


def test_a_record_of_another_scene_is_refused(run: Run) -> None:
    record = run.episode(0).file
    content = record.read_text()
    record.write_text(content.replace('"scene":{', '"scene":{"more":"/etc/passwd",', 1))
    assert record.read_text() != content
    with pytest.raises(RecordError, match="another scene"):
        run.episode(0).attempts()


def test_one_s_own_run_goes_on_as_one_says_it_again(tmp_path: Path) -> None:
    words = ("run", "toy", "--n", 2, "--agent", "random", "--out", tmp_path / "run")
    assert command(*words, "--set", "in_process=true") == 0
    record = (tmp_path / "run" / "episodes/00001/episode.jsonl").read_bytes()
    (tmp_path / "run" / "episodes/00001/episode.jsonl").unlink()
    other = ("--set", "deadline=7", "--set", "retries=2", "--set", "reset_deadline=9")
    assert command(*words, *other, "--set", "in_process=true") == 0
    assert len(record.splitlines()) == len(
        (tmp_path / "run" / "episodes/00001/episode.jsonl").read_bytes().splitlines()
    )
    assert command(*words, "--set", "max_invalid=3") == 2, "That changes results."


def test_settings_without_effect_may_change(tmp_path: Path) -> None:
    free = without_effect(models.find("openai:x")[0].settings) | without_effect(RunSettings)
    assert {"timeout", "attempts", "in_flight", "cache", "base_url", "deadline", "retries"} <= free
    assert not {"temperature", "max_seconds", "max_invalid", "remember"} & free
    assert {"port", "host", "timeout"} <= without_effect(find_env("virtualhome").settings)


def test_judging_takes_a_lock(run: Run, capsys: pytest.CaptureFixture[str]) -> None:
    with held(run.folder / "judgements", inside=run.folder):
        assert command("judge", run.folder) == 2
    assert "being written to" in capsys.readouterr().err
    assert command("judge", run.folder) == 0


def test_a_file_system_without_locks_has_a_lock_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import errno
    import fcntl

    def none(descriptor: int, operation: int) -> None:
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))

    monkeypatch.setattr(fcntl, "flock", none)
    folder = tmp_path / "run"
    with held(folder):
        assert (folder / LOCK_FILE).exists()
        with pytest.raises(RecordError, match="being written to"), held(folder):
            pass
    assert not (folder / LOCK_FILE).exists()
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    host = os.uname().nodename
    (folder / LOCK_FILE).write_text(json.dumps({"host": host, "pid": ended.pid}))
    with held(folder):
        pass
    (folder / LOCK_FILE).write_text(json.dumps({"host": "another", "pid": ended.pid}))
    with pytest.raises(RecordError, match="being written to"), held(folder):
        pass


def test_a_key_that_a_simulator_prints_is_not_recorded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_TOKEN", KEY)
    tasks = [toy_tasks(1)[0].model_copy(update={"goal": f"Say {KEY}."})]
    run = play_toy(tmp_path / "run", tasks=tasks, agent="expert", assignments=["in_process=true"])
    assert KEY.encode() not in run.episode(0).file.read_bytes()
    assert b"Say [key]." in run.episode(0).file.read_bytes()


def test_a_worker_has_no_key(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    from inhabit.envs.host.env import WorkerEnv

    env = WorkerEnv("toy", "grid", {})
    try:
        children = Path(f"/proc/{os.getpid()}/task").glob("*/children")
        pids = [pid for file in children for pid in file.read_text().split()]
        held_by = [Path(f"/proc/{pid}/environ").read_bytes() for pid in pids]
        assert held_by and not any(KEY.encode() in one for one in held_by)
    finally:
        env.close()


def test_a_name_that_is_no_utf_8_is_shown(run: Run, capsys: pytest.CaptureFixture[str]) -> None:
    folder = Path(os.fsdecode(os.fsencode(run.folder.parent) + b"/\xff\xfe run"))
    run.folder.rename(folder)
    for words in (("show", folder), ("replay", folder), ("show", folder, "--json")):
        assert command(*words) == 0
    out = Path(os.fsdecode(os.fsencode(folder.parent) + b"/\xff out"))
    given = ("--agent", "random", "--set", "in_process=true", "--json")
    assert command("run", "toy", "--n", 1, "--out", out, *given) == 0
    assert command("export", folder, "--format", "llava", "--out", out / "x") == 0
    assert command("compare", folder, out, "--mixed", "--page", out / "page.html") == 0
    assert "\\udcff" in capsys.readouterr().out


def test_too_many_open_files_is_a_sentence(run: Run) -> None:
    program = (
        "import resource, sys\n"
        "from inhabit.cli import main\n"
        "import inhabit.episodes.commands.replay, inhabit.envs.toy.env, inhabit.envs.host\n"
        "resource.setrlimit(resource.RLIMIT_NOFILE, (8, 8))\n"
        "main(['replay', sys.argv[1]])\n"
    )
    change(run, settings={"run": {}})
    done = subprocess.run(
        [sys.executable, "-c", program, str(run.folder)], capture_output=True, text=True
    )
    assert done.returncode in (1, 2, 3) and "Traceback" not in done.stderr, done.stderr
    assert "open files" in done.stderr


@pytest.mark.parametrize(
    "words",
    [
        ("show", "RUN", "--together", "/sys/kernel/film.gif", "--episode", "0"),
        ("show", "RUN", "--together", "/sys/kernel/film.mp4", "--episode", "0"),
        ("replan", "RUN", "--agent", "rank", "--model", "scripted:first", "--out", "/sys/x.jsonl"),
    ],
)
def test_a_disk_that_can_not_be_written_to_is_a_sentence(
    run: Run, words: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    assert command(*(run.folder if word == "RUN" else word for word in words)) == 1
    assert "can't be written" in capsys.readouterr().err


@pytest.mark.slow
def test_two_films_of_one_episode_at_once(run: Run) -> None:
    program = "from inhabit.cli import main; import sys; main(sys.argv[1:])"
    words = [sys.executable, "-c", program, "show", str(run.folder), "--gif"]
    both = [subprocess.Popen(words, stderr=subprocess.PIPE) for _ in range(2)]
    for one in both:
        one.communicate()
    assert [one.returncode for one in both] == [0, 0]
    film = (run.episode(0).folder / "episode.gif").read_bytes()
    assert film.endswith(b";") and not list(run.folder.rglob("*.half"))


def test_one_broken_run_in_a_gallery_is_left_out(
    run: Run, capsys: pytest.CaptureFixture[str]
) -> None:
    other = play_toy(run.folder.parent / "a#b?c%20<", tasks=toy_tasks(1), agent="expert")
    broken = play_toy(run.folder.parent / "broken", tasks=toy_tasks(1), agent="expert")
    (broken.folder / "run.json").write_text("{")
    assert command("show", run.folder.parent) == 0
    assert "Left out" in capsys.readouterr().err
    page = (run.folder.parent / "index.html").read_text()
    assert "a%23b%3Fc%2520%3C/index.html" in page and other.folder.name not in page


def test_a_record_chooses_neither_process_nor_deadline(run: Run) -> None:
    recorded = {"run": {**run.header.settings.run, "in_process": True, "deadline": 86400.0}}
    for trusted in (False, True):
        kept = allowed(recorded, {"run": RunSettings}, where=run.folder, trusted=trusted)
        assert bool({"in_process", "deadline"} & kept["run"].keys()) is trusted
