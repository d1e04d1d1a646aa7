from __future__ import annotations

import json
from pathlib import Path

import pytest

from inhabit.agents.core import ModelError
from inhabit.agents.models.local.folder import read
from inhabit.agents.models.local.recommended import FILE, copy_recommended
from inhabit.episodes.playing.plan import plan


def folder(tmp_path: Path, **said: object) -> Path:
    (tmp_path / FILE).write_text(json.dumps({"version": 1, **said}))
    (tmp_path / "prompt.jinja").write_text("{% block system %}Act.{% endblock %}")
    return tmp_path


def settings(
    model: Path, env: str = "alfred", agent: str = "rank", *said: str
) -> dict[str, object]:
    planned = plan(env, agent, model=f"local:{model}", assignments=said)
    return {
        f"{owner}.{name}": value
        for owner, read in planned.settings.items()
        for name, value in read.model_dump().items()
    }


def test_a_run_takes_what_the_model_recommends(tmp_path: Path) -> None:
    model = folder(
        tmp_path,
        agent={"history": 60, "prompt": "prompt.jinja"},
        env={"clips": True},
        model={"dtype": "float32"},
    )
    found = settings(model)
    assert found["agent.history"] == 60
    assert found["agent.prompt"] == model / "prompt.jinja"
    assert found["env.clips"] is True
    assert found["model.dtype"] == "float32"


def test_a_user_overrides_it(tmp_path: Path) -> None:
    model = folder(tmp_path, agent={"history": 60}, env={"clips": True})
    found = settings(model, "alfred", "rank", "history=3", "clips=false")
    assert found["agent.history"] == 3
    assert found["env.clips"] is False


def test_settings_that_an_environment_lacks_are_left_out(tmp_path: Path) -> None:
    model = folder(tmp_path, agent={"nonsense": 1}, env={"clips": True})
    found = settings(model, "toy")
    assert "env.clips" not in found
    assert "agent.nonsense" not in found


def test_what_is_meant_for_another_kind_of_agent_is_left_out_with_a_warning(tmp_path: Path) -> None:
    told = {"history": "whole", "pictures": 7}
    model = folder(tmp_path, agent=told, env={"clips": True})
    assert settings(model)["agent.pictures"] == 7
    with pytest.warns(UserWarning, match=r"another kind of agent \(history\)"):
        found = settings(model, "alfred", "chat")
    assert (found["agent.history"], found["agent.pictures"]) == (8, 0)
    assert found["env.clips"] is True


@pytest.mark.parametrize("prompt", ["../prompt.jinja", "/etc/passwd"])
def test_a_prompt_outside_of_the_folder_is_refused(prompt: str, tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="same folder"):
        settings(folder(tmp_path, agent={"prompt": prompt}))


def test_an_unreadable_file_is_named(tmp_path: Path) -> None:
    (tmp_path / FILE).write_text('{"version": 2}')
    with pytest.raises(ModelError, match=FILE):
        settings(tmp_path)


def test_a_models_folder_may_lie_in_the_root_as_containers_have_it() -> None:
    assert read(Path("/etc/passwd"))


def test_it_is_copied_with_its_prompt(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    model = folder(tmp_path / "a", agent={"prompt": "prompt.jinja"})
    copy_recommended(model, tmp_path / "b")
    assert (tmp_path / "b" / FILE).read_bytes() == (model / FILE).read_bytes()
    assert (tmp_path / "b" / "prompt.jinja").is_file()
