"""Goals in people's words, read from a file of JSON lines."""

import json
import lzma
from pathlib import Path

import pytest

from alfred_teaching import nouns_of_room, spoken_goals
from inhabit.envs.core import TaskError

LINE = {
    "trial": "trial_of_our_own",
    "type": "pick_and_place_with_movable_recep",
    "params": {
        "object_target": "Apple",
        "parent_target": "Cart",
        "mrecep_target": "Plate",
        "toggle_target": "",
        "object_sliced": True,
    },
    "scene": "FloorPlan4",
    "said": [{"goal": "serve apple", "steps": ["go", "serve"]}, {"goal": "apple on a plate"}],
}


def test_each_annotation_is_a_goal_in_todays_nouns(tmp_path: Path) -> None:
    plain, packed = tmp_path / "goals.jsonl", tmp_path / "goals.jsonl.xz"
    plain.write_text(json.dumps(LINE) + "\n")
    packed.write_bytes(lzma.compress(plain.read_bytes()))
    first, second = spoken_goals(plain)
    assert first.parts == ("apple slice", "side table", "plate")
    assert (first.text, first.steps, second.steps) == ("serve apple", ("go", "serve"), ())
    assert list(spoken_goals(packed)) == [first, second]


def test_a_bad_line_is_named(tmp_path: Path) -> None:
    file = tmp_path / "goals.jsonl"
    file.write_text(json.dumps(LINE) + "\n{}\n")
    with pytest.raises(TaskError, match="line 2"):
        list(spoken_goals(file))


def test_the_nouns_of_a_room_are_those_of_its_kind() -> None:
    assert "toilet" in nouns_of_room("FloorPlan412")
    assert {"fridge", "apple slice"} <= set(nouns_of_room("FloorPlan12"))
    assert "toilet" not in nouns_of_room("FloorPlan12")
