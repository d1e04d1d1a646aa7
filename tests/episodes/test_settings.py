"""Every KEY=VALUE finds its owner, or a sentence says why not."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, ConfigDict

from inhabit.agents.planners.rank import RankSettings
from inhabit.envs.alfred.world.settings import AlfredSettings
from inhabit.episodes.playing.settings import RunSettings, SettingError, divide


class Env(BaseModel):
    model_config = ConfigDict(extra="forbid")
    pixels: int = 96
    name: str = ""
    fast: bool = False


class Agent(BaseModel):
    model_config = ConfigDict(extra="forbid")
    temperature: float = 1.0
    name: str = "x"


OWNERS: dict[str, type[BaseModel]] = {"env": Env, "agent": Agent, "run": RunSettings}


def test_each_key_goes_to_whoever_declares_it() -> None:
    found = divide(["pixels=64", "temperature=0.5", "fast=true", "max_invalid=3"], OWNERS)
    assert found["env"] == Env(pixels=64, fast=True)
    assert found["agent"] == Agent(temperature=0.5)
    assert found["run"] == RunSettings(max_invalid=3)
    assert divide([], OWNERS)["env"] == Env()
    assert divide(["env.pixels=1", "env.pixels=2"], OWNERS)["env"] == Env(pixels=2)


def test_a_key_of_two_owners_has_to_say_whose() -> None:
    with pytest.raises(
        SettingError, match=r"'name' belongs to several groups: write " r"env\.name or agent\.name"
    ):
        divide(["name=a"], OWNERS)
    found = divide(["env.name=a", "agent.name=b"], OWNERS)
    assert found["env"] == Env(name="a")
    assert found["agent"] == Agent(name="b")


@pytest.mark.parametrize(
    ("assignment", "says"),
    [
        ("pixls=3", "no setting 'pixls'. Did you mean: pixels"),
        ("run.pixels=3", "no setting 'run.pixels'. Did you mean: pixels"),
        ("{0}=3", r"no setting '\{0\}'. Known names: deadline, decision_deadline, fast"),
        ("pixels", "needs KEY=VALUE, not 'pixels'"),
        ("=3", "needs KEY=VALUE, not '=3'"),
        ("pixels=many", "env.pixels: Input should be a valid integer"),
        ("deadline=1e9", "run.deadline: Input should be less than or equal to 86400"),
        ("max_seconds=inf", "run.max_seconds: Input should be a finite number"),
        ("max_invalid=0", "run.max_invalid: Input should be greater than or equal to 1"),
    ],
)
def test_what_is_wrong_is_named(assignment: str, says: str) -> None:
    with pytest.raises(SettingError, match=says):
        divide([assignment], OWNERS)


def test_the_command_that_lists_the_known_settings_is_named() -> None:
    with pytest.raises(SettingError, match="`inhabit envs NAME`"):
        divide(["pixls=3"], {"env": Env})
    with pytest.raises(SettingError, match="`inhabit synth --settings`"):
        divide(["pixls=3"], {"env": Env, "synth": Agent})


def test_the_home_of_a_user_is_filled_in_where_a_path_is_meant(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("HOME", "/home/me")
    owners = {"env": AlfredSettings, "agent": RankSettings}
    found = divide(["rooms=~/rooms", "prompt=~/mine.jinja"], owners)
    assert found["env"].rooms == "/home/me/rooms"  # type: ignore[attr-defined]
    assert found["agent"].prompt == Path("/home/me/mine.jinja")  # type: ignore[attr-defined]
    found = divide(["rooms=~nobody-here/rooms"], owners)
    assert found["env"].rooms == "~nobody-here/rooms"  # type: ignore[attr-defined]


def test_settings_that_do_not_go_together_are_told_as_such() -> None:
    with pytest.raises(
        SettingError,
        match=r"^Settings of agent do not go together: a bare prompt .* say pictures=0 and",
    ):
        divide(["bare=true", "pictures=60"], {"agent": RankSettings})


@given(st.text())
def test_any_text_is_a_value_as_it_stands(value: str) -> None:
    assert divide([f"env.name={value}"], OWNERS)["env"] == Env(name=value)


@given(st.text())
def test_any_text_is_an_assignment_or_a_sentence(text: str) -> None:
    try:
        divide([text], OWNERS)
    except SettingError as error:
        assert str(error)
