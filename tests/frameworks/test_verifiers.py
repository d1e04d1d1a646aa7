from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
from pixels import SEED, WORLDS, of_parts, shown

from inhabit.frameworks.factory import rollouts

vf = pytest.importorskip("verifiers.v1", reason="needs the extra `verifiers`")


@pytest.mark.parametrize(("env", "n"), WORLDS)
def test_the_model_gets_the_pixels_of_every_step(env: str, n: int) -> None:
    texts = [text for episode in shown(env, n) for text in episode.texts]
    with _model(texts) as (address, requests):
        episodes = _play(address, env=env, n=n, seed=SEED)
    asked = iter(requests)
    for episode, done in zip(shown(env, n), episodes, strict=True):
        assert not done.errors, done.errors
        (trace,) = done.traces
        # The last picture is not sent: nothing follows it.
        arrived = [of_parts(next(asked)["messages"][-1]["content"]) for _ in episode.texts]
        assert arrived == episode.pixels[:-1]
        held = [one for one in trace.branches[-1].messages if one.role == "user"]
        assert [of_parts([p.model_dump() for p in one.content]) for one in held] == arrived
        assert trace.rewards["reward"].score == pytest.approx(episode.value)
        assert trace.metrics == {
            "success": 1.0,
            "conditions": 1.0,
            "steps": float(len(episode.texts)),
        }
    assert next(asked, None) is None


def test_a_model_without_eyes_gets_text_and_may_stop() -> None:
    with _model(["stop"]) as (address, requests):
        (done,) = _play(address, env="toy", n=1, pictures=False)
    system, user = requests[0]["messages"]
    assert "<answer>" in system["content"] and isinstance(user["content"], str)
    assert rollouts("toy", 1).tasks[0].goal in user["content"]
    (trace,) = done.traces
    assert trace.metrics["success"] == 0 and trace.info["inhabit"]["ending"] == "stopped"


def test_a_limit_of_verifiers_ends_the_episode_as_it_stands() -> None:
    with _model(["go to the moon"] * 3) as (address, requests):
        (done,) = _play(address, {"max_turns": 2}, env="toy", n=1)
    (trace,) = done.traces
    assert len(requests) == 2 and not done.errors
    assert trace.metrics["steps"] == 2 and trace.info["inhabit"]["ending"] is None


def _play(address: str, player: Any = None, **taskset: Any) -> list[Any]:
    harness = {"harness": {"id": "plain-harness"}, **(player or {})}
    told = {"taskset": {"id": "inhabit-verifiers", **taskset}, "player": harness}
    env = vf.load_environment(vf.resolve_env_config(told))
    client = vf.EvalClientConfig(base_url=address, api_key_var="NO_KEY")
    asked = vf.ModelContext(model="scripted", client=client, sampling=vf.SamplingConfig())

    async def play() -> list[Any]:
        async with env.serving():
            return [await env.run_episode(task, asked) for task in env.taskset]

    return asyncio.run(play())


@contextmanager
def _model(replies: Sequence[str]) -> Iterator[tuple[str, list[Any]]]:
    """An endpoint that says these, in order; and the requests that it got."""
    left, requests = iter(replies), []

    class Endpoint(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            requests.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
            said = {"role": "assistant", "content": f"<answer>{next(left)}</answer>"}
            body = {
                "id": "1",
                "object": "chat.completion",
                "created": 0,
                "model": "scripted",
                "choices": [{"index": 0, "finish_reason": "stop", "message": said}],
                "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2},
            }
            sent = json.dumps(body).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(sent)))
            self.end_headers()
            self.wfile.write(sent)

        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Endpoint)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1", requests
    finally:
        server.shutdown()
        server.server_close()
