"""What a stranger's environment or agent does wrong ends one episode with its cause."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from installed import install
from sampling import every
from strangers import AGENT, ENV

from inhabit.cli import main
from inhabit.episodes.recording.reader import Run
from inhabit.episodes.recording.schema import Ending, EndLine

OF_ENV = {
    "empty": "Observation.rgb is uint8 (0, 0, 3); expected uint8 (H, W, 3)",
    "nan": "Observation.rgb is float64 (4, 4, 3)",
    "float": "Observation.rgb is float32",
    "bool": "Observation.rgb is bool",
    "int64": "Observation.rgb is int64",
    "one_channel": "Observation.rgb is uint8 (4, 4, 1)",
    "grey": "Observation.rgb is uint8 (4, 4);",
    "rgba": "Observation.rgb is uint8 (4, 4, 4)",
    "list": "expected a NumPy array",
    "grown": "Observation.rgb is (8, 8, 3) and was (4, 4, 3) before; expected one size",
    "no_observation": "observe() returned None; expected an Observation",
    "no_text": "Observation.text is None; expected a text",
    "no_clips": "'observe' failed with TypeError: 'NoneType' object is not iterable",
    "raises": "'observe' failed with ZeroDivisionError",
    "no_outcome": "act() returned None; expected an Outcome",
    "no_feedback": "Outcome.feedback is None; expected a sentence",
    "reason_is_text": "Outcome.reason is 'blocked'; expected Reason.BLOCKED",
    "reason_is_array": "'act' failed with ValueError: The truth value of an array",
    "met_is_nan": "Outcome.met and total is (nan, 1)",
    "met_is_negative": "Outcome.met and total is (-1, 1)",
    "met_is_more": "Outcome.met and total is (2, 1)",
    "no_total": "Outcome.met and total is (0, 0)",
    "cost_is_negative": "Outcome.cost is -1",
    "cost_is_endless": "Outcome.cost is 1000000000000000000000000000000; expected",
    "over_is_text": "Outcome.over is 'no'",
    "progress_is_nan": "progress() returned (nan, 1)",
    "progress_is_none": "progress() returned None",
    "no_actions": "actions() returned None; expected a sequence of Action",
    "actions_are_texts": "actions()[0] is 'go'; expected an Action",
    "no_scene_here": "'reset' failed with KeyError",
}
OF_CLASS = {
    "no_scene": "NoScene.Scene is None; expected the pydantic model",
    "plan_alone": "PlanAlone has plan() and no best_actions()",
}
OF_AGENT = {
    "returns_none": "The agent Stranger returned None from decide(); expected a Decision",
    "returns_text": "returned a str ('go to the hall') from decide()",
    "action_is_text": "returned Decision.action as a str",
    "raw_is_none": "returned Decision.raw as None; expected a text",
    "stop_is_text": "returned Decision.stop as a str",
    "ranked_is_list": "returned Decision.ranked as a list",
    "ranked_is_nan": "returned Ranked.logprob as a float (nan)",
    "bad_image": "returned the key of Decision.images as a str ('../x')",
    "raises": "raised ZeroDivisionError: division by zero (stranger_agent.py, line",
    "parses_none": "The agent gave View.parse a NoneType, not a text",
}


@pytest.fixture(autouse=True)
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The two packages, for this process and for workers; a folder to stand in."""
    folder = tmp_path / "site"
    folder.mkdir()
    install(
        folder, "stranger_env", ENV, {"inhabit.envs": {"stranger": "stranger_env:REGISTRATION"}}
    )
    install(
        folder,
        "stranger_agent",
        AGENT,
        {"inhabit.agents": {"stranger": "stranger_agent:REGISTRATION"}},
    )
    monkeypatch.syspath_prepend(str(folder))
    monkeypatch.setenv("PYTHONPATH", str(folder), prepend=os.pathsep)
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    yield


def play(*words: str, code: int = 0) -> None:
    with pytest.raises(SystemExit) as left:
        main(["run", *words, "--out", "run"])
    assert left.value.code == code


def ends(folder: str = "run") -> list[EndLine]:
    found = [episode.end() for episode in Run.open(Path(folder)).episodes()]
    assert None not in found, "Every episode is counted."
    return found  # type: ignore[return-value]


def check_env(fault: str, told: str, capsys: pytest.CaptureFixture[str], *more: str) -> None:
    agent = "random" if fault == "no_scene" else "expert"
    # With seen candidates, `actions` is asked too.
    words = ("stranger", "--agent", agent, "--n", "2", "--set", f"fault={fault}", *more)
    words += ("--candidates", "seen")
    code = 1 if fault in OF_CLASS else 0
    play(*words, code=code)
    bad, good = ends()
    assert bad.ending is Ending.SIMULATOR_FAULT
    assert bad.error is not None and told in bad.error
    assert good.ending is (Ending.SIMULATOR_FAULT if fault in OF_CLASS else Ending.SUCCESS)
    play(*words, code=code)
    assert ends() == [bad, good], "The same command finds that everything is done."
    assert "Traceback" not in capsys.readouterr().err


@pytest.mark.parametrize("fault", [*every(2, OF_ENV), *OF_CLASS])
def test_an_environments_mistake_ends_the_episode(
    fault: str, capsys: pytest.CaptureFixture[str]
) -> None:
    check_env(fault, (OF_ENV | OF_CLASS)[fault], capsys, "--set", "in_process=true")


@pytest.mark.parametrize(
    "fault",
    [
        pytest.param(fault, marks=() if fault in ("nan", "no_scene") else pytest.mark.slow)
        for fault in ("nan", "no_outcome", "reason_is_text", "no_actions", *OF_CLASS)
    ],
)
def test_the_same_in_a_worker(fault: str, capsys: pytest.CaptureFixture[str]) -> None:
    check_env(fault, (OF_ENV | OF_CLASS)[fault], capsys)


@pytest.mark.parametrize("fault", every(2, OF_AGENT))
def test_an_agents_mistake_ends_the_episode(fault: str, capsys: pytest.CaptureFixture[str]) -> None:
    words = ("toy", "--agent", "stranger", "--n", "3", "--set", f"fault={fault}")
    play(*words, "--set", "in_process=true", code=1 if fault == "parses_none" else 0)
    found = ends()
    faults = [end for end in found if end.ending is Ending.MODEL_FAULT]
    assert faults and all(end.error and OF_AGENT[fault] in end.error for end in faults)
    assert fault == "parses_none" or len(faults) < 3, "Others are played to their end."
    assert "Traceback" not in capsys.readouterr().err


def test_an_agent_that_is_none_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    play("toy", "--agent", "stranger", "--n", "1", "--set", "fault=no_agent", code=2)
    assert "its make() returned a int, not an Agent" in " ".join(capsys.readouterr().err.split())


@pytest.mark.parametrize("who", ["env", "agent"])
def test_a_plug_in_that_changes_folder_splits_no_run(who: str) -> None:
    env, agent = ("stranger", "random") if who == "env" else ("toy", "stranger")
    here = Path.cwd()
    words = (env, "--agent", agent, "--n", "2", "--set", "fault=wanders")
    play(*words, "--set", "in_process=true")
    assert Path.cwd() == here
    assert len(ends()) == 2
    assert sorted(path.name for path in here.iterdir()) == ["run"]
