"""The script that makes the multimodal model goes through its stages, and does none twice."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

import inhabit
from inhabit.agents.models.core import Ability
from inhabit.agents.models.registry import load
from inhabit.agents.models.vlm import ADAPTERS, BUNDLED

SCRIPT = Path(__file__).parents[3] / "scripts" / "make_vlm"
PEOPLE = {
    "trial": "trial_of_our_own",
    "type": "pick_and_place_simple",
    "params": {
        "object_target": "Mug",
        "parent_target": "Desk",
        "mrecep_target": "",
        "toggle_target": "",
        "object_sliced": False,
    },
    "scene": "FloorPlan301",
    "said": [{"goal": "mug on the desk please", "steps": []}],
}
SMALL = ("--episodes", "5", "--tokens", "3000", "--rounds", "1", "--judged", "1")
SMALL += ("--virtualhome", "6", "--minedojo", "0")


@pytest.fixture
def people(tmp_path: Path) -> Path:
    file = tmp_path / "people.jsonl"
    file.write_text(json.dumps(PEOPLE) + "\n")
    return file


@pytest.mark.slow  # several minutes
@pytest.mark.timeout(3600)
def test_it_makes_a_model_that_acts_and_does_nothing_twice(tmp_path: Path, people: Path) -> None:
    made = tmp_path / "vlm"
    command = [sys.executable, SCRIPT, "--people", people, "--out", made, *SMALL]
    for _ in range(2):
        subprocess.run(command, check=True, cwd=SCRIPT.parents[1], timeout=3000)
    said = (made / "log.txt").read_text()
    for stage in ("teacher", "virtualhome", "own-0", "own-virtualhome-0", "judged-3000-black"):
        assert said.count(f" {stage}:") == 1, stage
    assert said.count("trained on") == 2
    model = f"local:{made / 'inhabit-vlm'}"
    assert Ability.IMAGES in load(model).abilities
    run = inhabit.run("alfred", "rank", tmp_path / "run", model=model, n=1, max_steps=2)
    assert run.episodes()[0]["ending"] == "step_limit"


@pytest.mark.slow  # several minutes
@pytest.mark.timeout(3600)
def test_it_plays_while_it_is_trained(tmp_path: Path, people: Path) -> None:
    made = tmp_path / "vlm"
    few = ("--episodes", "2", "--own", "1", "--virtualhome", "0", "--minedojo", "0")
    # A fifth of the tokens, kept for when all has been played, is more than a batch.
    few += ("--tokens", "6000", "--rounds", "1", "--judged", "1", "--workers", "1")
    # Whatever is not called "cpu" is used as a GPU is.
    at_once = ("--at-once", "--device", "cpu:0", "--start", BUNDLED / ADAPTERS)
    command = [sys.executable, SCRIPT, "--people", people, "--out", made, *few, *at_once]
    subprocess.run(command, check=True, cwd=SCRIPT.parents[1], timeout=3000)
    said = (made / "log.txt").read_text()
    assert said.count("trained on 4800 tokens") == said.count("trained on 6000 tokens") == 1
    assert said.count(" own-0:") == said.count(" judged-6000:") == 1
    assert Ability.IMAGES in load(f"local:{made / 'inhabit-vlm'}").abilities
