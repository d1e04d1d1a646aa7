"""What pictures are worth: an agent that needs them, played with and without."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from toy_runs import toy, toy_tasks

import inhabit
from inhabit.agents.core import View
from inhabit.agents.models.core import Image
from inhabit.cli import main
from inhabit.envs.core import TaskError
from inhabit.episodes.episode import wander
from inhabit.episodes.playing.tasks import next_room
from inhabit.episodes.recording.folder import folder_of
from inhabit.episodes.recording.schema import Sight


async def sees(view: View) -> str | None:
    """Goes by the expert's plan while it sees anything, and else stays where it is."""
    rgb = view.observation.rgb
    if rgb is None or not rgb.any():
        return "look around"
    assert view.grants.plan is not None
    return (await view.grants.plan())[0].text


def play(out: Path, sight: Sight) -> None:
    settings = {"in_process": True}
    inhabit.run(
        "toy", sees, folder_of(out, sight), n=5, sight=sight, grants=["expert"], settings=settings
    )


def test_what_sight_is_worth_is_told_by_every_command(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run, same = tmp_path / "run", tmp_path / "same"
    for sight in Sight:
        play(run, sight)
    play(same, Sight.SHOWN)
    found = inhabit.read_run(run).scores.sight
    assert found is not None and list(found) == [Sight.BLANK, Sight.NONE, Sight.OTHER]
    for sight in (Sight.BLANK, Sight.NONE):
        assert found[sight]["success_rate"].value == 1 and found[sight]["regret"].value < -10
        assert found[sight]["plw_success_rate"].value == 1
    assert found[Sight.OTHER]["success_rate"].value == 0, "Any picture will do for this agent."
    assert inhabit.read_run(same).scores.sight == {}
    assert inhabit.read_run(folder_of(run, Sight.NONE)).scores.sight is None
    with pytest.raises(SystemExit):
        main(["compare", str(run), str(same)])
    told = " ".join(capsys.readouterr().out.split())
    assert "first: sight, against black images" in told and "second: sight not measured" in told


def test_all_sights_are_played_by_one_command(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["run", "toy", "--agent", "random", "--n", "4", "--sight", "all", "--json", "--set"]
    with pytest.raises(SystemExit) as left:
        main([*words, "in_process=true", "--out", str(tmp_path / "run")])
    assert left.value.code == 0
    sight = json.loads(capsys.readouterr().out.splitlines()[-1])["sight"]
    assert set(sight) == {"blank", "none", "other"}
    # Lots see nothing: their pictures are worth nothing.
    assert {one["value"] for figures in sight.values() for one in figures.values()} == {0}


def test_pictures_of_another_room_are_those_of_the_next_one() -> None:
    tasks = toy_tasks(6)
    for task in tasks:
        other = next_room(tasks, task)
        assert other.scene["room"] != task.scene["room"]
        seen, again = wander(toy(), other, 3), wander(toy(), other, 3)
        assert [Image(one.rgb).digest for one in seen] == [Image(one.rgb).digest for one in again]
    with pytest.raises(TaskError, match="two rooms at least"):
        next_room(tasks[:1], tasks[0])
