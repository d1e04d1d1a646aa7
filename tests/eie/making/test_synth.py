"""Sets made in the toy house: the same bytes whatever happens on the way."""

from __future__ import annotations

import asyncio
import json
import os
import shlex
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from in_process import inhabit
from PIL import Image
from waiting import PATIENCE

from inhabit.agents.models.core import Image as Pixels
from inhabit.eie.examples.example import Example, Rejection
from inhabit.eie.examples.settings import SynthSettings
from inhabit.eie.making.author import Author, Procedural
from inhabit.eie.making.local import synthesize
from inhabit.eie.making.pipeline import Pipeline
from inhabit.eie.making.runner import Components
from inhabit.eie.sets.folder import AttemptLine, SetError, SetFolder, SetHeader
from inhabit.envs.core import SimulatorError
from inhabit.envs.entries import PluginError
from inhabit.envs.registry import find
from inhabit.envs.toy.env import Toy
from inhabit.envs.toy.house import ToySettings
from tests.eie.making.authors import Clumsy, Silent

N = 12


def synth(out: Path, *more: str, limit: int | None = None) -> subprocess.CompletedProcess[str]:
    words = ("synth", "toy", "--n", str(N), "--seed", "5", "--out", str(out), "--json")
    words = (*words, "--set", "in_process=true", *more)
    if limit is None:
        return inhabit(*words)
    code = "import sys; from inhabit.cli import main; main(sys.argv[1:])"
    code = f"import resource; resource.setrlimit(resource.RLIMIT_FSIZE, ({limit},) * 2); {code}"
    return subprocess.run(
        [sys.executable, "-c", code, *words], capture_output=True, text=True, timeout=PATIENCE
    )


def files(folder: Path) -> dict[str, bytes]:
    """Everything but how long it took."""
    found = (p for p in sorted(folder.rglob("*")) if p.is_file() and p.name != "times.jsonl")
    return {str(p.relative_to(folder)): p.read_bytes() for p in found}


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("sets") / "undisturbed"
    done = synth(out)
    assert done.returncode == 0, done.stderr
    answer = json.loads(done.stdout.splitlines()[-1])
    assert N <= answer["kept"] < N + 4 and answer["set"] == str(out) and answer["seconds"] > 0
    attempts = [json.loads(line) for line in (out / "attempts.jsonl").read_text().splitlines()]
    rejected = [r["rejection"] for a in attempts for r in a.get("rejected", [])]
    assert answer["rejected"] == {reason: rejected.count(reason) for reason in set(rejected)}
    return out


def test_a_set_is_what_it_says(undisturbed: Path) -> None:
    opened = SetFolder.open(undisturbed)
    examples = list(opened.examples())
    assert opened.header.finished and len({e.id for e in examples}) == len(examples) >= N
    assert [i for a in opened.attempts() for i in a.kept] == [e.id for e in examples]
    splits: dict[str, str] = {}
    for example in examples:
        with Image.open(undisturbed / example.image) as picture:
            import numpy as np

            assert Pixels(np.asarray(picture)).digest == example.image_digest
        assert len(set(example.candidates)) == len(example.candidates) == 4
        assert splits.setdefault(example.image_digest, example.split) == example.split
    for split in ("train", "val", "test"):
        rows: list[dict[str, Any]] = pq.read_table(
            undisturbed / "data" / f"{split}.parquet"
        ).to_pylist()
        for row in rows:
            row["lineage"] = json.loads(row["lineage"])
        assert [Example.model_validate(row) for row in rows] == [
            e for e in examples if e.split == split
        ]


def test_the_answer_alone_is_best(undisturbed: Path) -> None:
    """Acted again from its lineage, each image is the same, and one candidate alone is best."""
    registration = find("toy")
    env = registration.make("grid", ToySettings())
    from inhabit.envs.core import Task

    for example in SetFolder.open(undisturbed).examples():
        lineage = example.lineage
        assert lineage is not None and isinstance(env, Toy)
        env.reset(Task.model_validate(lineage.task), seed=lineage.seed)
        for text in lineage.actions:
            action = env.parse(text)
            assert action is not None
            env.act(action)
        rgb = env.observe().rgb
        assert rgb is not None and Pixels(rgb).digest == example.image_digest
        best = {a.text for a in env.best_actions()}
        if example.kind == "recognition":
            assert example.candidates[example.answer] == lineage.actions[-1]
        else:
            right = [c for c in example.candidates if c in best]
            assert right == [example.candidates[example.answer]]
        env.close()


def test_twins_have_equal_words_and_different_images_and_answers(undisturbed: Path) -> None:
    groups: dict[str, list[Example]] = {}
    for example in SetFolder.open(undisturbed).examples():
        groups.setdefault(example.twins, []).append(example)
    assert "" not in groups and len(groups) > N / 5
    for members in groups.values():
        assert 3 <= len(members) <= 4
        first = members[0]
        for name in ("goal", "question", "text", "candidates", "split", "kind"):
            assert all(getattr(e, name) == getattr(first, name) for e in members), name
        assert len({e.answer for e in members}) == len(members)
        shown = {(e.image, *(p.image for p in e.history)) for e in members}
        assert len(shown) == len(members)


@pytest.mark.slow
def test_more_workers_make_the_same_set(undisturbed: Path, tmp_path: Path) -> None:
    assert synth(tmp_path / "set", "--workers", "3").returncode == 0
    assert files(tmp_path / "set") == files(undisturbed)


@pytest.mark.slow
@pytest.mark.parametrize("size", [300, 10, 5_000])
def test_killed_and_resumed_it_is_the_same_set(
    undisturbed: Path, tmp_path: Path, size: int
) -> None:
    """Killed as soon as its examples are `size` bytes."""
    out = tmp_path / "set"
    code = "import sys; from inhabit.cli import main; main(sys.argv[1:])"
    command = ["synth", "toy", "--n", str(N), "--seed", "5", "--out", str(out)]
    made = subprocess.Popen(
        [sys.executable, "-c", code, *command, "--set", "in_process=true"],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    lines = out / "examples.jsonl"
    while made.poll() is None and not (lines.exists() and lines.stat().st_size > size):
        time.sleep(0.001)
    os.kill(made.pid, signal.SIGKILL)
    made.wait()
    assert synth(out).returncode == 0
    assert files(out) == files(undisturbed)


@pytest.mark.parametrize(
    "cut", [40, *(pytest.param(n, marks=pytest.mark.slow) for n in (1, 1_000, 20_000))]
)
def test_torn_lines_are_made_anew(undisturbed: Path, tmp_path: Path, cut: int) -> None:
    out = tmp_path / "set"
    subprocess.run(["cp", "-r", str(undisturbed), str(out)], check=True)
    header = json.loads((out / "set.json").read_text())
    (out / "set.json").write_text(json.dumps({**header, "finished": False}))
    for name in ("attempts.jsonl", "examples.jsonl"):
        size = (out / name).stat().st_size
        keep = max(0, size - cut) if name == "attempts.jsonl" else size
        os.truncate(out / name, keep)
    assert synth(out).returncode == 0
    assert files(out) == files(undisturbed)


def test_a_set_whose_images_were_lost_is_not_finished(undisturbed: Path, tmp_path: Path) -> None:
    out = tmp_path / "set"
    shutil.copytree(undisturbed, out)
    header = json.loads((out / "set.json").read_text())
    (out / "set.json").write_text(json.dumps({**header, "finished": False}))
    shutil.rmtree(out / "images")
    done = synth(out)
    assert done.returncode == 1 and "is missing or empty. Restore it" in done.stderr, done.stderr
    shutil.copytree(undisturbed / "images", out / "images", dirs_exist_ok=True)
    assert synth(out).returncode == 0
    assert files(out) == files(undisturbed)


@pytest.mark.slow
def test_a_full_disk_stops_it_and_nothing_is_lost(undisturbed: Path, tmp_path: Path) -> None:
    out = tmp_path / "set"
    stopped = synth(out, limit=15_000)
    assert stopped.returncode == 1 and "can't be written" in stopped.stderr, stopped.stderr
    assert synth(out).returncode == 0
    assert files(out) == files(undisturbed)


def test_a_set_of_another_version_or_command_is_refused(undisturbed: Path, tmp_path: Path) -> None:
    other = inhabit("synth", "toy", "--n", "9", "--out", str(undisturbed))
    assert other.returncode == 1 and "started with seed 5, not 0" in other.stderr
    header = json.loads((undisturbed / "set.json").read_text())
    (tmp_path / "set.json").write_text(json.dumps({**header, "version": 0}))
    with pytest.raises(SetError, match="version 0"):
        SetFolder.open(tmp_path)
    (tmp_path / "set.json").unlink()
    (tmp_path / "holiday.jpg").touch()
    assert "holiday.jpg" in synth(tmp_path).stderr


def run(author: Author, folder: Path, n: int, max_attempts: int) -> list[AttemptLine]:
    template = find("toy").template
    assert template is not None
    header = SetHeader(
        command=("inhabit",),
        env="toy",
        backend="grid",
        author=author.name,
        seed=1,
        n=n,
        settings={},
        software={},
    )
    folder.mkdir()
    opened = SetFolder.begin(folder, header)
    settings = SynthSettings()
    pipeline = Pipeline("toy", template(ToySettings()), settings, 1)
    components = Components(author, pipeline, Toy, settings)
    asyncio.run(synthesize(opened, components, max_attempts=max_attempts, workers=2))
    return list(opened.attempts())


def procedural() -> Procedural:
    template = find("toy").template
    assert template is not None
    return Procedural("toy", template(ToySettings()))


def test_what_nothing_shows_is_not_asked_about(tmp_path: Path) -> None:
    words = ("--n", "2", "--out", str(tmp_path / "set"), "--set", "visible=0")
    done = inhabit("synth", "toy", *words)
    assert done.returncode == 2 and "synth.visible: Input should be greater than 0" in done.stderr


@pytest.mark.parametrize("author", ["procedural", "scripted:first"])
def test_an_address_without_an_endpoint_is_refused(author: str, tmp_path: Path) -> None:
    words = ("--author", author, "--base-url", "http://127.0.0.1:9/v1")
    done = synth(tmp_path / "set", *words)
    assert done.returncode == 2 and "--base-url needs a model with an endpoint" in done.stderr


def test_a_command_that_could_not_start_leaves_the_folder_to_the_next(tmp_path: Path) -> None:
    words = ("--n", "2", "--out", str(tmp_path / "set"))
    assert inhabit("synth", "iwisdm", *words).returncode == 3
    done = inhabit("synth", "toy", *words, "--set", "in_process=true")
    assert done.returncode == 0, done.stderr
    assert SetFolder.open(tmp_path / "set").header.env == "toy"


def test_a_clumsy_author_is_accounted_for(tmp_path: Path) -> None:
    attempts = run(Clumsy(procedural()), tmp_path / "set", n=10_000, max_attempts=15)
    assert [a.number for a in attempts] == list(range(15))
    for attempt in attempts:
        reasons = [r.rejection for r in attempt.rejected]
        if attempt.number % 10 == 9:
            assert reasons == [Rejection.NO_ANSWER] and attempt.tokens == {"in": 7}
        elif attempt.number % 3 == 0:
            # Told once what was wrong, it did the same again.
            assert reasons == [Rejection.SCHEMA, Rejection.SCHEMA] and not attempt.kept
            assert attempt.tokens == {"in": 20, "out": 10}
        else:
            assert Rejection.SCHEMA not in reasons and (attempt.kept or reasons)


def test_an_author_that_never_answers_ends(tmp_path: Path) -> None:
    attempts = run(Silent(), tmp_path / "set", n=5, max_attempts=12)
    assert [r.rejection for a in attempts for r in a.rejected] == [Rejection.NO_ANSWER] * 12


def test_a_simulator_that_fails_is_told_of_without_what_it_printed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*given: Any) -> Any:
        raise SimulatorError("The toy died after 0.5 s. The last lines it printed:\n    ouch")

    monkeypatch.setattr(Pipeline, "pieces", fail)
    (attempt,) = run(procedural(), tmp_path / "set", n=5, max_attempts=1)
    (refused,) = attempt.rejected
    assert refused.sentence == "The simulator fails: The toy died after 0.5 s."


def test_a_set_with_fewer_examples_than_asked_for_says_so(tmp_path: Path) -> None:
    words = ("synth", "toy", "--n", "300", "--out", str(tmp_path / "set"), "--set")
    told = inhabit(*words, "in_process=true", "--set", "attempts=2").stdout
    assert "fewer than --n 300: 2 tasks are tried at most." in told
    assert "as attempts.jsonl says" in told
    assert "larger set" not in told


def test_a_kind_that_no_task_allows_is_named(tmp_path: Path) -> None:
    words = ("synth", "toy", "--n", "4", "--out", str(tmp_path / "set"), "--set")
    told = inhabit(*words, "in_process=true", "--set", "trajectories=1").stdout
    assert "none is a trajectory: no task could be asked about so." in told
    assert "none is a recovery" not in told, "Its share is too small for four examples."


def test_splits_by_object_share_nothing_that_is_taken(tmp_path: Path) -> None:
    more = ("--set", "split_by=object", "--set", "candidates=2", "--n", "24", "--seed", "3")
    synth(tmp_path / "set", *more)
    splits: dict[str, set[str]] = {}
    for example in SetFolder.open(tmp_path / "set").examples():
        assert example.lineage is not None
        task = example.lineage.model_dump()["task"]
        for item in task["scene"]["inside"]:
            splits.setdefault(item, set()).add(example.split)
    assert splits == {"apple": {"train"}, "ball": {"test"}, "book": {"train"}, "cup": {"val"}}
    assert "| split |" in (tmp_path / "set" / "README.md").read_text()


def test_the_command_of_a_card_makes_the_same_set(tmp_path: Path) -> None:
    synth(tmp_path / "one", "--set", "split_by=object", "--set", "candidates=2")
    card = (tmp_path / "one" / "README.md").read_text()
    command = next(line for line in card.splitlines() if line.startswith("    inhabit synth "))
    assert inhabit(*shlex.split(command)[1:], "--out", str(tmp_path / "two")).returncode == 0
    assert files(tmp_path / "one") == files(tmp_path / "two")


def test_a_template_that_raises_is_named(tmp_path: Path) -> None:
    template = find("toy").template
    assert template is not None

    class Broken(type(template(ToySettings()))):  # type: ignore[misc]
        def seed(self, rng: Any, name: str) -> Any:
            return {}["wish"]

    author = Procedural("toy", Broken(ToySettings()))
    said = r"The template of 'toy' raised KeyError: 'wish' \(test_synth.py, line \d+\)"
    with pytest.raises(PluginError, match=said):
        run(author, tmp_path / "set", n=1, max_attempts=1)
