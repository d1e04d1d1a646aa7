"""The planner joins as packages of others do, and records of earlier versions go on."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest

import inhabit
from inhabit.agents.alfred_specialist.ranker import model
from inhabit.agents.alfred_specialist.ranker.model import RANKER
from inhabit.agents.core import ModelError
from inhabit.agents.models.eyes import BUNDLED
from inhabit.agents.models.registry import load
from inhabit.envs.registry import find
from tests.golden.calling import call

EARLIER = {
    "model": "local:inhabit",
    "model_details": {"device": "cpu", "hash": "sha256:0"},
}
FAST = {"in_process": "true", "wire": "none", "env.width": "64", "height": "64"}


def test_it_is_the_default_agent_of_alfred() -> None:
    assert find("alfred").agent == "planner"


@pytest.mark.slow
def test_a_run_of_an_earlier_version_is_continued_shown_and_forked(tmp_path: Path) -> None:
    run = tmp_path / "run"
    asked = {"settings": FAST, "seed": 2, "max_steps": 2}
    inhabit.run("alfred", "planner", run, n=1, **asked)
    header = json.loads((run / "run.json").read_text())
    assert header["model"] == "alfred_specialist:bundled"
    assert header["model_details"].keys() == {"device", "ranker", "eyes"}
    header |= EARLIER
    header["settings"]["agent"]["skills"] = True
    header["settings"]["model"] = {"device": "auto", "threads": None}
    (run / "run.json").write_text(json.dumps(header))
    inhabit.run("alfred", "planner", run, n=2, **asked)
    inhabit.run("alfred", "planner", run, n=2, model="local:inhabit", **asked)
    kept = inhabit.read_run(run)
    assert [line["steps"] for line in kept.episodes()] == [2, 2]
    assert json.loads((run / "run.json").read_text())["model"] == "local:inhabit"
    call("replay", run)
    call("show", run)
    call("fork", run, "--episode", 0, "--step", 1, "--hint", "Look around.")


def test_a_folder_of_it_is_refused_where_transformers_models_are_named(tmp_path: Path) -> None:
    (tmp_path / RANKER).write_text("{}")
    with pytest.raises(ModelError, match="alfred_specialist"):
        load(f"local:{tmp_path}")
    with pytest.raises(ModelError, match="train_planner"):
        load(f"alfred_specialist:{tmp_path}")
    (tmp_path / RANKER).unlink()
    with pytest.raises(ModelError, match=re.escape(str(tmp_path / RANKER))):
        load(f"alfred_specialist:{tmp_path}")
    with pytest.raises(ModelError, match="no folder"):
        load(f"alfred_specialist:{tmp_path / 'other'}")
    with pytest.raises(ModelError, match="no folder"):
        load("alfred_specialist:~nobody-here/model")


def test_eyes_that_are_no_network_are_told(tmp_path: Path) -> None:
    shutil.copytree(Path(model.__file__).parent / "bundled", tmp_path, dirs_exist_ok=True)
    shutil.copytree(BUNDLED, tmp_path / "eyes")
    config = json.loads((BUNDLED / "config.json").read_text())
    (tmp_path / "eyes" / "config.json").write_text(json.dumps({**config, "widths": [1]}))
    with pytest.raises(ModelError, match="can't be read"):
        load(f"alfred_specialist:{tmp_path}")
