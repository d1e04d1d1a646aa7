"""The card of a set, and the counts in it."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inhabit.eie.examples.example import Rejection
from inhabit.eie.sets.card import plain_markdown, write_card
from inhabit.eie.sets.coverage import SAMPLES, ChiSquare, cover, effects, evenness
from inhabit.eie.sets.folder import SetFolder
from inhabit.eie.sets.tables import SCHEMA, write_tables
from tests.eie.made_set import NASTY, read_examples, write_set


def table(text: str, first: str) -> dict[str, list[str]]:
    """The table whose first row begins with `first`: cells by the row's name."""
    lines = text[text.index(f"\n| {first}") + 1 :].split("\n")
    rows = {}
    for line in lines:
        if not line.startswith("|"):
            break
        name, *cells = [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
        rows[name] = cells
    return rows


def test_the_card_counts_what_is_there(tmp_path: Path) -> None:
    folder = write_set(tmp_path / "a_set", 12)
    text = write_card(SetFolder.open(folder)).read_text(encoding="utf-8")
    examples = read_examples(folder)
    splits = Counter(e.split for e in examples)
    assert "# Decisions in toy" in text
    kinds = table(text, "| train")
    expected = [str(splits[s]) for s in ("train", "val", "test")] + [str(len(examples))]
    assert kinds["decision"] == kinds["**all**"] == expected
    funnel = table(text, "what became of it")
    assert funnel["kept"][0] == str(len(examples))
    assert [funnel[reason][0] for reason in ("hidden", "duplicate", "schema")] == ["4"] * 3
    share = 100 * len(examples) / (len(examples) + 12)
    assert funnel["kept"][1] == f"{share:.1f} %"
    assert "for 84 tokens read and 36 written" in text
    covered = table(
        text, "| " + max(Counter(e.verb for e in examples).items(), key=lambda i: i[1])[0]
    )
    fridge = [e for e in examples if "fridge" in e.objects]
    assert covered["fridge"][-1] == str(len(fridge))
    rooms = len({e.room for e in fridge if e.verb == "open"})
    opened = sum(e.verb == "open" for e in fridge)
    assert f"{opened} ({rooms})" in covered["fridge"]
    kitchen = [
        sum(e.room == "kitchen" and e.split == s for e in examples)
        for s in ("train", "val", "test")
    ]
    assert table(text, "room")["kitchen"] == [str(count) for count in kitchen]
    moments = [[one.state for one in e.lineage.topology] for e in examples if e.lineage is not None]
    assert {state for states in moments for state in states} == {"done", "next", "open", "blocked"}
    depths = table(text, "| 0 done")
    none = sum("done" not in states and "next" in states for states in moments)
    assert sum(int(cells[0] or 0) for cells in depths.values() if cells[0].isdigit()) == none
    places = [sum(e.answer == place for e in examples) for place in range(4)]
    assert table(text, "4 candidates")["examples"] == [str(count) for count in places]
    columns = text.partition("## Fields")[2].partition("##")[0]
    assert [name for name in SCHEMA.names if f"`{name}`" not in columns] == []
    assert len({e.room for e in examples}) < 5
    assert "trained on examples of other groups (folds by group" in text
    sees, accuracy, *_ = table(text, "| images")["always the first candidate"]
    assert sees == "no"
    assert accuracy == f"{100 * sum(e.answer == 0 for e in examples) / len(examples):.1f} %"


@pytest.mark.slow
def test_the_card_tells_of_twins_and_copies(tmp_path: Path) -> None:
    folder = write_set(tmp_path / "set", 4)
    examples = [
        e.model_copy(update={"twins": str(number // 2)})
        for number, e in enumerate([*read_examples(folder), read_examples(folder)[0]])
    ]
    (folder / "examples.jsonl").write_text("".join(f"{e.model_dump_json()}\n" for e in examples))
    text = write_card(SetFolder.open(folder)).read_text(encoding="utf-8")
    groups = (len(examples) + 1) // 2
    assert f"{len(examples)} examples are in {groups} groups of twins" in text
    assert "1 examples have the images and words of another" in text


def test_a_square_is_of_one_task(tmp_path: Path) -> None:
    """Each of its goals has an id of its own."""
    folder = write_set(tmp_path / "set", 4)
    examples = [e.model_copy(update={"square": str(e.split)}) for e in read_examples(folder)]
    (folder / "examples.jsonl").write_text("".join(f"{e.model_dump_json()}\n" for e in examples))
    (effect,) = effects(SetFolder.open(folder))
    assert len({e.lineage.seed_task for e in examples if e.lineage}) == 4
    assert (effect.tasks, effect.kept, effect.examples) == (3, 3, len(examples))


def test_texts_from_outside_stay_texts(tmp_path: Path) -> None:
    folder = write_set(tmp_path / "set", 4)
    nasty = "| ` <img src=x> {{ x }} *b* [l](u)\n# h"
    lines = [
        e.model_copy(update={"room": nasty, "verb": nasty, "objects": (nasty,)}).model_dump_json()
        for e in read_examples(folder)
    ]
    (folder / "examples.jsonl").write_text("".join(f"{line}\n" for line in lines))
    text = write_card(SetFolder.open(folder)).read_text(encoding="utf-8")
    assert "<img" not in re.sub(r"\\.", "", text)
    assert "\n# h" not in text
    rooms = table(text, "room")
    assert len(next(iter(rooms.values()))) == 3
    assert len(rooms) == 3  # head, ruler, the one room


def test_the_hub_reads_the_set_by_its_card(tmp_path: Path) -> None:
    datasets = pytest.importorskip("datasets")
    folder = write_set(tmp_path / "set", 6, saying=NASTY)
    opened = SetFolder.open(folder)
    write_tables(opened)
    write_card(opened)
    loaded = datasets.load_dataset(str(folder), cache_dir=str(tmp_path / "cache"))
    by_split = {"train": "train", "validation": "val", "test": "test"}
    for name, split in by_split.items():
        expected = [e for e in read_examples(folder) if e.split == split]
        assert loaded[name]["id"][:] == [e.id for e in expected]
        assert loaded[name]["question"][:] == [e.question for e in expected]


def test_an_empty_set_has_a_card(tmp_path: Path) -> None:
    folder = write_set(tmp_path / "set", 1)
    for name in ("examples", "attempts"):
        (folder / f"{name}.jsonl").unlink()
    text = write_card(SetFolder.open(folder)).read_text(encoding="utf-8")
    assert "0 pictures" in text
    assert "too few examples to measure it" in text


def test_samples_of_rejections_are_few_and_differ(tmp_path: Path) -> None:
    folder = write_set(tmp_path / "set", 27)
    covered = cover(SetFolder.open(folder))
    assert covered.rejected[Rejection.HIDDEN] == 9
    samples = covered.samples[Rejection.HIDDEN]
    assert len(set(samples)) == len(samples) == SAMPLES


@pytest.mark.parametrize(
    ("statistic", "freedom", "p"),
    [(3.841, 1, 0.05), (5.991, 2, 0.05), (7.815, 3, 0.05), (11.345, 3, 0.01), (18.307, 10, 0.05)],
)
def test_tails_are_those_of_the_tables(statistic: float, freedom: int, p: float) -> None:
    assert ChiSquare(statistic, freedom).p == pytest.approx(p, rel=2e-3)


@given(st.floats(0, 500), st.integers(1, 60))
def test_a_tail_is_a_probability_that_falls(statistic: float, freedom: int) -> None:
    less, more = (ChiSquare(x, freedom).p for x in (statistic + 1, statistic))
    assert 0 <= less <= more + 1e-12
    assert more <= 1


def test_skew_is_seen_and_evenness_is_not_doubted() -> None:
    even = {(4, place): 250 + place for place in range(4)} | {(2, 0): 50, (2, 1): 51}
    assert evenness(even).freedom == 4
    assert evenness(even).p > 0.9
    assert evenness({(4, 0): 400, (4, 1): 200, (4, 2): 200, (4, 3): 200}).p < 1e-6
    assert evenness({}).p == 1.0


@given(st.text())
def test_escaped_text_is_one_line_without_marks(text: str) -> None:
    escaped = plain_markdown(text)
    assert not set(re.sub(r"\\.", "", escaped)) & set("\\`*_{}[]<>#|~&$\n\r\u2028")


def test_a_command_with_a_bar_stays_as_it_is(tmp_path: Path) -> None:
    opened = SetFolder.open(write_set(tmp_path / "set"))
    opened.header = opened.header.model_copy(update={"command": ("inhabit", "photographs", "a|b")})
    assert "    inhabit photographs 'a|b'\n" in write_card(opened).read_text()
