"""scripts/check_set finds nothing in true sets, and every sort of lie in others."""

from __future__ import annotations

import importlib.util
import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from PIL import Image as Picture
from waiting import PATIENCE

from inhabit.eie.examples.example import Example
from inhabit.envs.core import SceneObject
from tests.eie.made_set import read_examples, write_set

SCRIPTS = Path(__file__).parents[3] / "scripts"


def check(folder: Path) -> dict[str, Any]:
    words = [sys.executable, str(SCRIPTS / "check_set"), str(folder), "--workers", "1", "--json"]
    done = subprocess.run(words, capture_output=True, text=True, timeout=PATIENCE)
    assert done.stdout, done.stderr
    found = json.loads(done.stdout.splitlines()[-1])
    assert done.returncode == (1 if found["wrong"] else 0)
    assert isinstance(found, dict)
    return found


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_set(tmp_path_factory.mktemp("sets") / "true", 4)


@pytest.fixture(scope="module")
def checked(made: Path) -> dict[str, Any]:
    return check(made)


def all_true(found: dict[str, Any], folder: Path) -> None:
    # What this test's own maker does not look to: an item that is not in the image.
    assert set(found["by_cause"]) <= {"hidden", "split"}
    assert found["examples"] == len(read_examples(folder))


def test_nothing_is_wrong_with_what_is_true(checked: dict[str, Any], made: Path) -> None:
    all_true(checked, made)


@pytest.mark.slow
def test_nothing_is_wrong_with_true_trajectories(tmp_path: Path) -> None:
    folder = write_set(tmp_path / "set", kind="trajectory")
    all_true(check(folder), folder)


def other(example: Example, **changes: Any) -> Example:
    return example.model_copy(update=changes)


def lineage(example: Example, **changes: Any) -> Example:
    assert example.lineage is not None
    return other(example, lineage=example.lineage.model_copy(update=changes))


def first_wrong(example: Example) -> int:
    return (example.answer + 1) % 4


def twice(example: Example) -> Example:
    candidates = list(example.candidates)
    candidates[first_wrong(example)] = candidates[example.answer]
    return other(example, candidates=tuple(candidates))


LIES: dict[str, tuple[str, Callable[[Example], Example]]] = {
    "another answer": ("answer", lambda e: other(e, answer=first_wrong(e))),
    "the answer twice": ("answer", twice),
    "no action": ("answer", lambda e: other(e, candidates=("fly away",) * 4)),
    "the answer in the question": (
        "given away",
        lambda e: other(e, question=f"Should you {e.candidates[e.answer]}?"),
    ),
    "an absent object": ("claim", lambda e: other(e, reason="The mug is on the shelf.")),
    "an absent object in the goal": ("goal", lambda e: other(e, goal="Wash the mug.")),
    "a wrong state": (
        "claim",
        lambda e: other(e, reason="The fridge is open. The fridge is closed."),
    ),
    "a wrong count": ("claim", lambda e: other(e, question="There are three fridges here.")),
    "a wrong place": ("claim", lambda e: other(e, reason="The fridge is on the shelf.")),
    "a state that its kind lacks": ("claim", lambda e: other(e, reason="Take the dirty apple.")),
    "another start": ("action", lambda e: lineage(e, actions=("jump",))),
    "a scene that can't be": (
        "scene",
        lambda e: lineage(e, task=dict(e.lineage.task) | {"scene": {"room": "attic"}}),  # type: ignore[union-attr]
    ),
    "other words told": ("told", lambda e: other(e, text="You have a crown in your hand.")),
    "a concept that is nowhere": ("hidden", lambda e: other(e, key_concepts=("red mug",))),
}


def test_every_lie_is_found_for_what_it_is(made: Path, tmp_path: Path) -> None:
    folder = tmp_path / "set"
    shutil.copytree(made, folder)
    example = read_examples(made)[0]
    told = [lie(example).model_copy(update={"id": name}) for name, (_, lie) in LIES.items()]
    (folder / "examples.jsonl").write_text("".join(f"{e.model_dump_json()}\n" for e in told))
    (folder / "attempts.jsonl").unlink()  # which tells of others
    words = [sys.executable, str(SCRIPTS / "check_set"), str(folder), "--workers", "1"]
    said = subprocess.run(
        words, capture_output=True, text=True, timeout=PATIENCE
    ).stderr.splitlines()
    found = {tuple(line.split(": ")[:2]) for line in said}
    missed = [name for name, (cause, _) in LIES.items() if (name, cause) not in found]
    assert missed == []


def test_pictures_are_held_against_the_scene(
    checked: dict[str, Any], made: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "set"
    shutil.copytree(made, folder)
    one, second, third, *_ = {e.image: e for e in read_examples(made)}.values()
    # One file shows something else; another example tells of another image, with its digest.
    rgb = np.asarray(Picture.open(folder / one.image)).copy()
    rgb[0, 0] ^= 1
    Picture.fromarray(rgb).save(folder / one.image)
    lines = [
        other(e, image_digest=third.image_digest, image=third.image) if e.id == second.id else e
        for e in read_examples(folder)
    ]
    (folder / "examples.jsonl").write_text("".join(f"{e.model_dump_json()}\n" for e in lines))
    after = check(folder)["by_cause"]
    assert after["picture"] >= 1
    assert after["file"] >= 1
    assert "file" not in checked["by_cause"]


def test_a_past_that_was_not_is_found(tmp_path: Path) -> None:
    folder = write_set(tmp_path / "set", 2, kind="trajectory")
    lines = []
    for example in read_examples(folder):
        if example.history:
            last = example.history[-1].model_copy(update={"feedback": "Nothing happened."})
            example = other(example, history=(*example.history[:-1], last))
        lines.append(f"{example.model_dump_json()}\n")
    (folder / "examples.jsonl").write_text("".join(lines))
    changed = sum("Nothing happened" in line for line in lines)
    assert check(folder)["by_cause"]["history"] == changed


@pytest.mark.slow
def test_a_picture_in_two_splits_is_found(tmp_path: Path) -> None:
    folder = write_set(tmp_path / "set", 1)
    leaked = read_examples(folder)[0].model_copy(update={"id": "leaked", "split": "test"})
    with (folder / "examples.jsonl").open("a") as file:
        file.write(f"{leaked.model_dump_json()}\n")
    assert check(folder)["by_cause"]["split"] >= 1


@pytest.fixture(scope="module")
def texts() -> ModuleType:
    spec = importlib.util.spec_from_file_location("check_texts", SCRIPTS / "check_texts.py")
    assert spec is not None and spec.loader is not None
    found = importlib.util.module_from_spec(spec)
    sys.modules["check_texts"] = found
    spec.loader.exec_module(found)
    return found


THINGS = (
    SceneObject("fridge_1", "fridge", {"open": False}, pixels=900),
    SceneObject("cabinet_1", "cabinet", {"open": True}, pixels=90),
    SceneObject("cabinet_2", "cabinet", {"open": False}),
    SceneObject("coffee table_1", "coffee table", {}, pixels=500),
    SceneObject("mug_1", "mug", {"dirty": True}, support="coffee table_1", pixels=40),
    SceneObject("mug_2", "mug", {"dirty": False}, held=True, pixels=80),
    SceneObject("apple_1", "apple", {"sliced": False}, support="fridge_1", inside=True),
    SceneObject("garbage can_1", "garbage can", {}, pixels=300),
)
NAMES = ("fridge", "cabinet", "coffee table", "mug", "apple", "garbage can", "knife", "book", "can")


@pytest.mark.parametrize(
    "text",
    [
        "The fridge is closed. Open the fridge so that you can pick up the apple.",
        "The apple is in the fridge.",
        "The dirty mug is on the coffee table.",
        "You have a mug in your hands.",
        "The mug is in your hand.",
        "There are two mugs and two cabinets.",
        "The cabinet is open now.",
        "The cabinet_2 is not open.",
        "You have put it in the garbage can.",
        "There is no knife.",
        "Can you see it? Book a table.",
        "The clean mug is held. {fridge} “mug” 100 %",
    ],
)
def test_true_texts_pass(texts: ModuleType, text: str) -> None:
    assert list(texts.Reader(NAMES).wrong(text, THINGS)) == []


@pytest.mark.parametrize(
    "text",
    [
        "The fridge is open.",
        "The fridge is not closed.",
        "Take the open fridge.",
        "The apple is on the coffee table.",
        "The apple is in your hand.",
        "You have an apple in your hands.",
        "Nothing is in your hands.",
        "You have nothing in your hand.",
        "Cut it with the knife.",
        "The mug_3 is near.",
        "There are three mugs.",
        "The cabinet_2 is open.",
        "The apple is sliced.",
        "Mind the book.",
        "The fridge is dirty.",
    ],
)
def test_false_texts_don_t(texts: ModuleType, text: str) -> None:
    assert list(texts.Reader(NAMES).wrong(text, THINGS))


def test_a_name_of_several_kinds_means_any_of_them(texts: ModuleType) -> None:
    reader = texts.Reader((*NAMES, "desk lamp", "floor lamp"), synonyms={"lamp": "desk lamp"})
    lamps = [SceneObject(f"{kind}_1", kind, {}) for kind in ("desk lamp", "floor lamp")]
    for lamp in lamps:
        assert not list(reader.absent("Turn on the tall lamp.", (*THINGS, lamp)))
        assert not list(reader.absent("Turn on a lamp.", (*THINGS, lamp)))
    assert list(reader.absent("Turn on a lamp.", THINGS))
    assert list(reader.absent("Turn on the desk lamp.", (*THINGS, lamps[1])))


def test_what_can_be_made_may_be_wished_for_and_not_be_seen(texts: ModuleType) -> None:
    reader = texts.Reader((*NAMES, "planks", "log"), {"planks": "log"})
    things = (*THINGS, SceneObject("log_1", "log", {}, pixels=50))
    for text in ("Get 2 planks.", "The log gives you planks."):
        assert not list(reader.wrong(text, things, made=True))
        assert list(reader.wrong(text, things, made=False))
