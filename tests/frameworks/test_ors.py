from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from pixels import WORLDS, episode, of_png

from inhabit.frameworks.factory import rollouts

openreward = pytest.importorskip("openreward", reason="needs the extra `ors`")


@pytest.mark.parametrize(("env", "n"), WORLDS)
def test_a_client_gets_the_pixels_of_every_step(env: str, n: int) -> None:
    factory = rollouts(env, n, seed=4)
    with _served(factory) as client:
        for number, task in enumerate(client.list_tasks("train")):
            shown = episode(rollouts(env, n, seed=4), number)
            with client.session(task=task) as session:
                prompt = session.get_prompt()
                assert factory.tasks[number].goal in _text(prompt)
                arrived, rewards = [_pixels(prompt)], []
                for text in shown.texts:
                    output = session.call_tool("act", {"action": text})
                    arrived.append(_pixels(output.blocks))
                    rewards.append(output.reward)
            assert arrived == shown.pixels
            assert sum(rewards) == pytest.approx(shown.value)
            assert output.finished and output.metadata["success"]
            assert "The goal is reached" in _text(output.blocks)


def test_a_client_is_told_of_what_it_may_not_do() -> None:
    with _served(rollouts("toy", 2)) as client:
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
def _served(factory: Any) -> Iterator[Any]:
    import uvicorn
    from openreward.api.environments.client import EnvironmentsAPI

    from inhabit.frameworks.ors import server

    app = server(factory).app
    running = uvicorn.Server(uvicorn.Config(app, "127.0.0.1", 0, log_level="warning"))
    thread = threading.Thread(target=running.run)
    thread.start()
    try:
        while not running.started:
            time.sleep(0.01)
        (port,) = (one.getsockname()[1] for s in running.servers for one in s.sockets)
        api = EnvironmentsAPI(f"http://127.0.0.1:{port}", api_key="")
        try:
            yield api.get(factory.registration.name)
        finally:
            api.close()
    finally:
        running.should_exit = True
        thread.join()


def _text(blocks: Any) -> str:
    return "".join(one.text for one in blocks if one.type == "text")


def _pixels(blocks: Any) -> str:
    (picture,) = [one for one in blocks if one.type == "image"]
    assert picture.mimeType == "image/png"
    return of_png(picture.data)
