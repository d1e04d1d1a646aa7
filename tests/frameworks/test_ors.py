from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from pixels import WORLDS, factory_of, of_png, shown
from serving import served

from inhabit.frameworks.factory import rollouts

openreward = pytest.importorskip("openreward", reason="needs the extra `ors`")


@pytest.mark.parametrize(("env", "n"), WORLDS)
def test_a_client_gets_the_pixels_of_every_step(env: str, n: int) -> None:
    factory = factory_of(env, n)
    with _client(factory) as client:
        tasks = client.list_tasks("train")
        for task, told, episode in zip(tasks, factory.tasks, shown(env, n), strict=True):
            with client.session(task=task) as session:
                prompt = session.get_prompt()
                assert told.goal in _text(prompt)
                arrived, rewards = [_pixels(prompt)], []
                for text in episode.texts:
                    output = session.call_tool("act", {"action": text})
                    arrived.append(_pixels(output.blocks))
                    rewards.append(output.reward)
            assert arrived == episode.pixels
            assert sum(rewards) == pytest.approx(episode.value)
            assert output.finished and output.metadata["success"]
            assert "The goal is reached" in _text(output.blocks)


def test_a_client_is_told_of_what_it_may_not_do() -> None:
    with _client(rollouts("toy", 2)) as client:
        assert client.list_splits() == ["train"]
        (tool,) = client.list_tools()
        assert tool.name == "act" and list(tool.input_schema["properties"]) == ["action"]
        with client.session(split="train", index=1) as session:
            assert rollouts("toy", 2).tasks[1].goal in _text(session.get_prompt())
            failed = session.call_tool("act", {"action": "dance with the moon"})
            assert failed.metadata["reason"] and not failed.finished
            with pytest.raises(Exception, match="action"):
                session.call_tool("act", {})
            assert session.call_tool("act", {"action": "stop"}).metadata["ending"] == "stopped"
            with pytest.raises(Exception, match="finished"):
                session.call_tool("act", {"action": "go to the hall"})


@contextmanager
def _client(factory: Any) -> Iterator[Any]:
    from openreward.api.environments.client import EnvironmentsAPI

    from inhabit.frameworks.ors import server

    with served(server(factory).app) as port:
        api = EnvironmentsAPI(f"http://127.0.0.1:{port}", api_key="")
        try:
            yield api.get(factory.registration.name)
        finally:
            api.close()


def _text(blocks: Any) -> str:
    return "".join(one.text for one in blocks if one.type == "text")


def _pixels(blocks: Any) -> str:
    (picture,) = [one for one in blocks if one.type == "image"]
    assert picture.mimeType == "image/png"
    return of_png(picture.data)
