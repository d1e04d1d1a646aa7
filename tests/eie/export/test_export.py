"""Exports, read by what other people read them with."""

from __future__ import annotations

import json
import re
import resource
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image as Picture

from inhabit.agents.dialogue.answer import read_answer
from inhabit.agents.dialogue.history import dropped
from inhabit.agents.models.core import Image
from inhabit.eie.examples.example import Example
from inhabit.eie.export import pca
from inhabit.eie.export.conversations import Conversations
from inhabit.eie.export.egoplan import infinitive
from inhabit.eie.export.export import SetSource
from inhabit.eie.export.export import export as write
from inhabit.eie.export.exporter import EXPORTERS
from inhabit.eie.sets.folder import SetFolder
from inhabit.episodes.recording.reader import RecordError
from tests.eie.made_set import NASTY, read_examples, write_set

FORMATS = [name for name in EXPORTERS.ours if EXPORTERS.find(name).write_set is not None]


def load(file: Path) -> list[dict[str, Any]]:
    found = json.loads(file.read_text(encoding="utf-8"))
    assert isinstance(found, list)
    return found


def export(folder: Path, form: str, out: Path) -> int:
    return write(SetSource(SetFolder.open(folder)), form, out)


def by_split(folder: Path, split: str) -> list[Example]:
    return [example for example in read_examples(folder) if example.split == split]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_set(tmp_path_factory.mktemp("sets") / "plain")


@pytest.fixture(scope="module")
def nasty(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_set(tmp_path_factory.mktemp("sets") / "nasty", saying=NASTY)


@pytest.fixture(scope="module")
def walks(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_set(tmp_path_factory.mktemp("sets") / "walks", kind="trajectory")


def read_llava(out: Path, split: str, *, several: bool) -> list[dict[str, Any]]:
    """The rows as LLaVA's documentation describes them, each field checked."""
    rows = load(out / f"{split}.json")
    for row in rows:
        assert set(row) == {"id", "image", "conversations"}
        assert isinstance(row["id"], str)
        assert isinstance(row["image"], list if several else str)
        names = [str(name) for name in (row["image"] if several else [row["image"]])]
        assert all((out / name).is_file() for name in names)
        asked, answered = row["conversations"]
        assert (asked["from"], answered["from"]) == ("human", "gpt")
        assert asked["value"].count("<image>") == len(names)
        assert several or asked["value"].startswith("<image>\n")
        assert "<image>" not in answered["value"]
    return rows


@pytest.mark.parametrize("which", ["made", "nasty", "walks"])
@pytest.mark.parametrize("form", ["llava", "llava-interleave"])
def test_llava_rows_are_as_its_documentation_says(
    form: str, which: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    folder = request.getfixturevalue(which)
    out = tmp_path / "out"
    assert export(folder, form, out) == len(read_examples(folder))
    several = form == "llava-interleave"
    for split in ("train", "val", "test"):
        rows = read_llava(out, split, several=several)
        for row, example in zip(rows, by_split(folder, split), strict=True):
            assert row["id"] == example.id
            asked, answered = row["conversations"]
            for text in (*example.candidates, *(p.action for p in example.history[-4:])):
                assert text in asked["value"]
            said = read_answer(answered["value"])
            assert said is not None
            assert said.action == example.candidates[example.answer]
            past = len(example.history)
            past -= dropped(past, 4)
            name = row["image"][-1] if several else row["image"]
            shown = np.asarray(Picture.open(out / str(name)))
            assert Image(shown).digest == example.image_digest
            assert not several or len(row["image"]) == past + 1


@pytest.mark.parametrize("form", ["llava", "llava-interleave", "messages", "jsonl"])
def test_a_set_with_an_empty_split_loads(form: str, tmp_path: Path) -> None:
    datasets = pytest.importorskip("datasets")
    count = export(write_set(tmp_path / "set", 2), form, tmp_path / "out")
    loaded = datasets.load_dataset(str(tmp_path / "out"), cache_dir=str(tmp_path / "cache"))
    assert {split: len(rows) for split, rows in loaded.items()} == {"train": count}


def test_jsonl_loads_without_a_schema_error(tmp_path: Path, walks: Path) -> None:
    datasets, pandas = pytest.importorskip("datasets"), pytest.importorskip("pandas")
    lines = (walks / "examples.jsonl").read_text().splitlines()
    plain = json.loads(lines[0]) | {"id": "alone", "lineage": None, "question": "And what now?"}
    copy = tmp_path / "set"
    shutil.copytree(walks, copy)
    (copy / "examples.jsonl").write_text("".join(f"{x}\n" for x in [json.dumps(plain), *lines]))
    assert export(copy, "jsonl", tmp_path / "out") == len(lines) + 1
    files = {s: str(tmp_path / "out" / f"{s}.jsonl") for s in ("train", "val", "test")}
    loaded = datasets.load_dataset("json", data_files=files, cache_dir=str(tmp_path / "cache"))
    for split, file in files.items():
        examples = by_split(copy, split)
        assert loaded[split]["id"][:] == [e.id for e in examples]
        assert set(loaded[split].column_names) == set(Example.model_fields)
        table = pandas.read_json(file, lines=True)
        assert set(table.columns) == set(Example.model_fields)
        assert not table.isna().any().any()
        for row, example in zip(loaded[split], examples, strict=True):
            assert [p["action"] for p in row["history"]] == [p.action for p in example.history]
            assert (tmp_path / "out" / row["image"]).is_file()
            assert not row["lineage"] or json.loads(row["lineage"])["seed"] == example.lineage.seed  # type: ignore[union-attr]


def test_pca_tells_the_history(walks: Path, tmp_path: Path) -> None:
    export(walks, "pca", tmp_path / "out")
    later = [e for e in by_split(walks, "train") if e.history]
    records = [r for r in load(tmp_path / "out/train/meta_data.json") if r["history"]]
    assert len(records) == len(later) > 2
    for record, example in zip(records, later, strict=True):
        assert [h["index"] for h in record["history"]] == list(range(len(example.history)))
        for number, (step, past) in enumerate(
            zip(record["history"], example.history, strict=True), 1
        ):
            assert (step["action"], step["feedback"]) == (past.action, past.feedback)
            assert f"Step {number}: {past.action}." in record["question"]
            assert past.image is not None
            copied = (tmp_path / "out/train/images" / step["observation"]).read_bytes()
            assert copied == (walks / past.image).read_bytes()
        assert record["question"].endswith(example.question)


def test_repeated_and_contradictory_rows_are_left_out(made: Path, tmp_path: Path) -> None:
    copy = tmp_path / "set"
    shutil.copytree(made, copy)
    lines = [json.loads(line) for line in (made / "examples.jsonl").read_text().splitlines()]
    again = lines[0] | {"id": "again"}
    other = lines[1] | {"id": "other", "answer": (lines[1]["answer"] + 1) % 4}
    written = [json.dumps(line) for line in [*lines, again, other]]
    (copy / "examples.jsonl").write_text("".join(f"{line}\n" for line in written))
    for form in ("llava", "messages", "pca", "jsonl"):
        source = SetSource(SetFolder.open(copy))
        assert write(source, form, tmp_path / form) == len(lines) - 1
        assert +source.left_out.counts == {"repeated": 1, "contradictory": 2}
        assert source.left_out.sentence() == (
            "Left out 3 rows: 1 with the images, words and answer of an earlier row; "
            "2 with equal images and words, and different answers."
        )


def test_a_still_video_is_left_out(made: Path, tmp_path: Path) -> None:
    copy = tmp_path / "set"
    shutil.copytree(made, copy)
    lines = [json.loads(line) for line in (made / "examples.jsonl").read_text().splitlines()]
    images = list(dict.fromkeys(line["image"] for line in lines))
    film = lines[0] | {"kind": "recognition", "image": images[1]}
    moving = film | {"id": "moving", "history": [{"action": "", "image": images[0]}]}
    still = film | {"id": "still", "history": [{"action": "", "image": images[1]}]}
    text = "".join(json.dumps(line) + "\n" for line in (moving, still))
    (copy / "examples.jsonl").write_text(text)
    (copy / "attempts.jsonl").write_text("")
    for form in ("recognition", "llava-interleave", "jsonl"):
        source = SetSource(SetFolder.open(copy))
        assert write(source, form, tmp_path / form) == 1
        assert +source.left_out.counts == {"still": 1}
    (row,) = load(tmp_path / "recognition/ActionRecognition_IT.json")
    assert row["answer"] == lines[0]["candidates"][lines[0]["answer"]]
    assert row["answer"] not in row["negative_answers"]
    frames = tmp_path / "recognition/frames" / row["video_id"] / "rgb_frames" / row["video_id"]
    for number, name in enumerate(images[:2], 1):
        shown = np.asarray(Picture.open(frames / f"frame_{number:010d}.jpg")).astype(int)
        assert np.abs(shown - np.asarray(Picture.open(made / name))).mean() < 6


@pytest.mark.parametrize(
    ("goal", "expected"),
    [
        ("Heat a mug and put it on the table.", "heat a mug and put it on the table"),
        ("Please wash the cup!", "wash the cup"),
        ("Could you open the fridge?", "open the fridge"),
        ("I need a cold bowl on the desk.", "get a cold bowl on the desk"),
        ("I would like an apple to be in the bin.", "get an apple to be in the bin"),
        ("The milk belongs on the bookshelf.", "put the milk on the bookshelf"),
        ("Two books should be together on the bed.", "get two books to be together on the bed"),
        ("There should be an egg in a pan.", "make sure that there is an egg in a pan"),
        ("I want you to sit down.", "sit down"),
        ("If the mug is dirty, wash it.", "reach this goal: if the mug is dirty, wash it"),
    ],
)  # fmt: skip
def test_goals_become_infinitives(goal: str, expected: str) -> None:
    assert infinitive(goal) == expected


def test_a_step_of_an_episode_tells_what_came_before(walks: Path) -> None:
    later = [e for e in read_examples(walks) if len(e.history) > 4]
    assert later
    for conversation in Conversations(4).of_examples(later, walks):
        assert conversation.example is not None
        told = "".join(part for part in conversation.question if isinstance(part, str))
        for past in conversation.example.history[-4:]:
            assert past.action in told
        past = len(conversation.example.history)
        assert len(conversation.pictures) == 1 + past - dropped(past, 4)


@pytest.mark.parametrize("which", ["made", "nasty", "walks"])
def test_messages_load_with_datasets(
    which: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    datasets = pytest.importorskip("datasets")
    folder = request.getfixturevalue(which)
    export(folder, "messages", tmp_path / "out")
    loaded = datasets.load_dataset(str(tmp_path / "out"), cache_dir=str(tmp_path / "cache"))
    names = {"train": "train", "validation": "val", "test": "test"}
    assert set(loaded) == set(names)
    for name, split in names.items():
        expected = by_split(folder, split)
        assert loaded[name]["id"][:] == [e.id for e in expected]
        for row, example in zip(loaded[name], expected, strict=True):
            system, asked, answered = row["messages"]
            roles = [one["role"] for one in (system, asked, answered)]
            assert roles == ["system", "user", "assistant"]
            marks = [part for part in asked["content"] if part["type"] == "image"]
            assert len(marks) == len(row["images"])
            assert Image(np.asarray(row["images"][-1])).digest == example.image_digest
            assert f"Goal: {' '.join(example.goal.split())}" in asked["content"][0]["text"]
            assert row["candidates"] == list(example.candidates)
            assert row["answer"] == example.answer


@pytest.mark.parametrize("which", ["made", "nasty"])
def test_pca_has_the_benchmarks_fields(
    which: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    folder = request.getfixturevalue(which)
    export(folder, "pca", tmp_path / "out")
    for split in ("train", "val", "test"):
        records = load(tmp_path / "out" / split / "meta_data.json")
        assert [r["index"] for r in records] == list(range(len(records)))
        for record, example in zip(records, by_split(folder, split), strict=True):
            assert set(record) == {
                *("version", "domain", "index", "image", "history", "question"),
                *("actions", "answer_index", "reason", "key_concept"),
            }
            assert (record["version"], record["domain"]) == ("1.0", "Domestic Robot")
            assert record["actions"][record["answer_index"]] == example.candidates[example.answer]
            assert record["question"] == example.question
            shown = np.asarray(Picture.open(tmp_path / "out" / split / "images" / record["image"]))
            assert Image(shown).digest == example.image_digest


def test_pca_keeps_its_own_names_of_fields(made: Path) -> None:
    example = read_examples(made)[0]
    fields = {
        env: pca.domain(example.model_copy(update={"env": env}))
        for env in ("driving", "virtualhome", "minedojo", "harbour")
    }
    assert list(fields.values()) == [
        "Autonomous Driving",
        "Domestic Robot",
        "Open-World Game",
        "harbour",
    ]


def test_pca_has_no_films(tmp_path: Path) -> None:
    folder = write_set(tmp_path / "set", kind="recognition")
    assert export(folder, "pca", tmp_path / "out") == 0
    assert not (tmp_path / "out").exists()


def test_egoplan_shows_nothing_of_the_asked_action(walks: Path, tmp_path: Path) -> None:
    export(walks, "egoplan", tmp_path / "out")
    samples = load(tmp_path / "out/EgoPlan_IT.json")
    steps = [e for e in by_split(walks, "train") if len(e.lineage.actions + e.lineage.plan) > 1]  # type: ignore[union-attr]
    assert len(samples) == len(steps)
    for sample, example in zip(samples, steps, strict=True):
        now = sample["current_observation_frame"]
        assert sample["answer"] == example.candidates[example.answer]
        assert sample["answer"] not in sample["negative_answers"]
        assert sample["negative_answers"]
        assert sample["question"].endswith("?")
        progress = sample["task_progress_metadata"]
        assert [clip["narration_text"] for clip in progress] == [p.action for p in example.history]
        assert [clip["stop_frame"] for clip in progress] == list(range(2, now + 1))
        video = sample["video_id"]
        # Where EgoPlan's own loader looks, which takes what is before "_" for a participant.
        film = tmp_path / "out/frames" / video.split("_")[0] / "rgb_frames" / video
        shown = np.asarray(Picture.open(film / f"frame_{now:010d}.jpg")).astype(int)
        apart = shown - np.asarray(Picture.open(walks / example.image))
        assert np.abs(apart).mean() < 6
    chosen = [*load(tmp_path / "out/EgoPlan_validation.json")]
    chosen += load(tmp_path / "out/EgoPlan_test.json")
    assert chosen
    for sample in chosen:
        choices = {letter: sample[f"choice_{letter.lower()}"] for letter in "ABCD"}
        assert len(set(choices.values())) == 4
        assert choices[sample["golden_choice_idx"]] == sample["answer"]


def test_films_of_one_episode_share_their_frames(walks: Path, tmp_path: Path) -> None:
    export(walks, "egoplan", tmp_path / "out")
    films = sorted((tmp_path / "out/frames").iterdir())
    episodes = {e.lineage.seed_task for e in read_examples(walks) if e.lineage}
    assert len(films) == len(episodes)


def test_what_is_in_the_way_is_left_alone(made: Path, tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("mine")
    with pytest.raises(RecordError, match="Choose another --out"):
        export(made, "llava", tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]


@pytest.mark.parametrize("place", ["../secret.png", "images/../../x.png", "/etc/passwd", "x.png"])
def test_a_picture_is_never_looked_for_elsewhere(made: Path, tmp_path: Path, place: str) -> None:
    example = read_examples(made)[0].model_copy(update={"image": place})
    with pytest.raises(RecordError, match="not a path inside the set"):
        pca.write([example], made, tmp_path / "out")


def test_half_an_export_is_no_export(made: Path, tmp_path: Path) -> None:
    examples = read_examples(made)
    gone = examples[-1].model_copy(update={"image": "images/0000000000000000.png"})
    with pytest.raises(RecordError, match="No such file"):
        pca.write([*examples, gone], made, tmp_path / "out")
    assert not (tmp_path / "out/train/meta_data.json").exists()


@pytest.mark.parametrize("form", ["llava", "messages", "pca"])
def test_a_picture_that_is_cut_off_is_named(form: str, tmp_path: Path) -> None:
    made = write_set(tmp_path / "set")
    file = made / read_examples(made)[0].image
    file.write_bytes(file.read_bytes()[:-40])
    with pytest.raises(RecordError, match=rf"{file.name} can't be read, .* not a whole one\."):
        export(made, form, tmp_path / "out")


def test_sets_are_no_episodes(made: Path, tmp_path: Path) -> None:
    with pytest.raises(RecordError, match="whole episodes"):
        export(made, "lerobot", tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_the_same_set_gives_the_same_bytes(walks: Path, tmp_path: Path) -> None:
    for form in FORMATS:
        both = []
        for name in ("a", "b"):
            out = tmp_path / f"{form}-{name}"
            export(walks, form, out)
            both.append({p.relative_to(out): p.read_bytes() for p in out.rglob("*") if p.is_file()})
        assert both[0] == both[1]


@pytest.mark.slow
@pytest.mark.parametrize("form", sorted({*FORMATS} - {"recognition"}))  # its rows have no words
def test_ten_thousand_examples_need_no_more_memory_than_a_few(
    walks: Path, tmp_path: Path, form: str
) -> None:
    def many(name: str, times: int) -> Path:
        folder = tmp_path / name
        shutil.copytree(walks, folder)
        few = (walks / "examples.jsonl").read_text()
        # Of rows with equal words and images, one is written.
        lines = (re.sub(r'("(?:question|goal)":")', rf"\g<1>{n}. ", few) for n in range(times))
        (folder / "examples.jsonl").write_text("".join(lines))
        return folder

    count = len(read_examples(walks))
    few, lots = many("few", 300 // count), many("lots", 10_000 // count)
    export(few, form, tmp_path / "few-out")
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    assert export(lots, form, tmp_path / "lots-out") > 5000
    after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    assert after - before < 40_000  # kilobytes
