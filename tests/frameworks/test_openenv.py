from __future__ import annotations

import base64
import io
import json
import os
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image
from waiting import PATIENCE, wait_for

from inhabit.envs.errors import UserError
from inhabit.frameworks.factory import rollouts

pytest.importorskip("openenv", reason="needs the extra `openenv`")


@contextmanager
def _server(*options: str, **variables: str) -> Iterator[dict[str, Any]]:
    command = [sys.executable, "-c", "from inhabit.cli import main; main()", "serve", *options]
    process = subprocess.Popen(
        [*command, "--port", "0", "--json"],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        env={**os.environ, **variables},
    )
    try:
        assert process.stdout is not None
        yield json.loads(process.stdout.readline())
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(20)
        process.stdout.close()


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    with _server("toy", "--n", "3", "--seed", "4", "--sessions", "2") as said:
        assert said["tasks"] == {"sampled": 3}
        yield said["address"]


def _client(address: str, **options: Any) -> Any:
    from inhabit.frameworks.openenv import InhabitClient

    return InhabitClient(base_url=address, **options).sync()


def test_openenvs_own_validation_passes(address: str) -> None:
    openenv = Path(sys.executable).with_name("openenv")
    done = subprocess.run([openenv, "validate", address], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout
    assert "Verdict: PASS" in done.stdout


def test_its_client_plays_the_same_episode(address: str) -> None:
    from inhabit.frameworks.openenv import TextAction

    with _client(address) as client, rollouts("toy", 3, seed=4).open() as here:
        turn = here.reset(2)
        result = client.reset(split="sampled", index=2, episode_id="mine")
        for text in [*here.session.plan()]:
            seen = result.observation
            assert (seen.text, seen.goal) == (turn.text, here.task.goal)
            assert seen.candidates == list(turn.candidates)
            assert np.array_equal(_picture(seen.image), turn.picture)
            turn = here.act(text)
            result = client.step(TextAction(text=text))
            assert (result.reward, result.done) == (turn.reward, turn.done)
        state = client.state()
        assert state.success and state.episode_id == "mine" and state.value == here.value
        assert (state.task_id, state.step_count) == (here.task.id, turn.steps)


def test_what_goes_wrong_is_said_and_the_session_goes_on(address: str) -> None:
    from inhabit.frameworks.openenv import TextAction

    with _client(address) as client:
        with pytest.raises(RuntimeError, match="call reset first"):
            client.step(TextAction(text="go to the hall"))
        with pytest.raises(RuntimeError, match=r"no split 'test'.*sampled"):
            client.reset(split="test")
        with pytest.raises(RuntimeError, match="There is no task 7"):
            client.reset(index=7)
        with pytest.raises(RuntimeError, match="VALIDATION_ERROR"):
            client.reset(seed="abc")
        client.reset(index=0)
        result = client.step(TextAction(text="fly to the moon"))
        assert result.observation.reason == "unknown_action" and not result.done
        result = client.step(TextAction(text="stop"))
        assert result.done and result.observation.ending == "stopped"
        with pytest.raises(RuntimeError, match="call reset"):
            client.step(TextAction(text="go to the hall"))


def test_one_session_too_many_is_refused_and_the_others_go_on(address: str) -> None:
    from inhabit.frameworks.openenv import TextAction

    with _client(address) as one, _client(address) as two:
        one.reset(index=0), two.reset(index=1)
        with pytest.raises(Exception, match="CAPACITY_REACHED"), _client(address) as three:
            three.reset(index=0)
        assert not one.step(TextAction(text="go to the hall")).done
    with _client(address) as again:
        assert again.reset(index=0).observation.goal


def test_splits_and_tasks_are_listed(address: str) -> None:
    def get(path: str) -> Any:
        with urllib.request.urlopen(f"{address}/{path}") as answer:
            return json.load(answer)

    tasks = rollouts("toy", 3, seed=4).tasks
    assert [one["name"] for one in get("toy/splits")] == ["sampled"]
    request = urllib.request.Request(
        f"{address}/toy/tasks",
        json.dumps({"split": "sampled"}).encode(),
        {"Content-Type": "application/json"},
    )
    with urllib.request.urlopen(request) as answer:
        listed = json.load(answer)
    rows = listed["tasks"] if isinstance(listed, dict) else listed
    assert [row["goal"] for row in rows] == [task.goal for task in tasks]
    request.data = json.dumps({"split": "test"}).encode()
    with pytest.raises(urllib.error.HTTPError, match="400") as refused:
        urllib.request.urlopen(request)
    assert "There is no split 'test'" in refused.value.read().decode()


def test_a_closed_session_starts_no_simulator() -> None:
    from inhabit.frameworks.openenv import InhabitEnvironment, TextAction

    session = InhabitEnvironment({"sampled": rollouts("toy", 1)})
    session.reset(index=0)
    session.close()
    for call in (session.reset, lambda: session.step(TextAction(text="stop"))):
        with pytest.raises(UserError, match="connect again"):
            call()


def test_a_token_and_foreign_pages(tmp_path: Path) -> None:
    token = tmp_path / "token"
    token.write_text("open sesame\n")
    with _server("toy", "--n", "1", "--token-file", str(token)) as said:
        address = said["address"]
        for headers, status in (
            ({}, 401),
            ({"Authorization": "Bearer open"}, 401),
            ({"Authorization": "Bearer open sesame", "Origin": "https://evil.example"}, 403),
            ({"Authorization": "Bearer open sesame", "Origin": "http://["}, 403),
            ({"Authorization": "Bearer open sesame", "Origin": "http://localhost:3000"}, 200),
        ):
            request = urllib.request.Request(f"{address}/health", headers=headers)
            try:
                got = urllib.request.urlopen(request).status
            except urllib.error.HTTPError as error:
                got = error.code
            assert got == status, headers
        with pytest.raises(Exception, match="401"), _client(address) as client:
            client.reset()
        key = {"Authorization": "Bearer open sesame"}
        with _client(address, headers=key) as client:
            assert client.reset().observation.goal


def test_without_the_printed_address_nothing_is_read() -> None:
    from inhabit.frameworks.openenv import TextAction

    with _server("toy", "--n", "1", "--host", "0.0.0.0") as said:
        address = said["address"]
        bare = address.rpartition("/")[0]
        assert len(address) - len(bare) > 20
        for path in ("/health", "/docs", "/openapi.json", "/state", "/toy/splits"):
            assert _status(address + path) == 200
            assert _status(bare + path) == 401
        assert _status(f"{address}/health", Host="elsewhere.example") == 403
        with pytest.raises(Exception, match="401"), _client(bare) as client:
            client.reset()
        with _client(address) as client:
            client.reset()
            assert not client.step(TextAction(text="go to the hall")).done


def test_sizes_and_numbers_are_bounded(address: str) -> None:
    for body, status in (
        (b'{"seed": 1e400}', 400),
        (b'{"seed": NaN}', 400),
        (b'{"episode_id": "\\ud800"}', 400),
        (b'{"index": "abc"}', 422),
        (b'{"index": 99}', 400),
        (bytes(1024 * 1024), 413),
    ):
        request = urllib.request.Request(
            f"{address}/reset", body, {"Content-Type": "application/json"}
        )
        with pytest.raises(urllib.error.HTTPError) as refused:
            urllib.request.urlopen(request)
        said = refused.value.read().decode()
        assert refused.value.code == status and said and "Traceback" not in said
    assert _status(f"{address}/reset", b'{"self": 1, "func": 2, "seed": 1}') == 200
    with pytest.raises(Exception, match="too large"), _client(address) as client:
        client.reset(seed=10**30)
    with _client(address) as client:
        assert client.reset(seed=1).observation.goal


def test_no_more_simulators_than_sessions_whoever_asks(address: str) -> None:
    with _client(address) as one, _client(address) as two, ThreadPoolExecutor(12) as pool:
        one.reset(index=0), two.reset(index=1)
        asked = [pool.submit(_status, f"{address}/reset", b"{}") for _ in range(12)]
        assert [one.result() for one in asked] == [503] * 12
    wait_for(lambda: _status(f"{address}/reset", b"{}") == 200)


def _status(address: str, body: bytes | None = None, **headers: str) -> int:
    try:
        request = urllib.request.Request(address, body, {"Content-Type": "application/json"})
        request.headers.update(headers)
        return urllib.request.urlopen(request).status
    except urllib.error.HTTPError as error:
        return error.code


def test_a_vanished_clients_session_is_freed() -> None:
    from inhabit.frameworks.openenv import TextAction

    with _server("toy", "--n", "1", "--sessions", "1", "--idle", "1") as said:
        silent = _client(said["address"])
        silent.__enter__()
        silent.reset()
        deadline = time.monotonic() + PATIENCE
        while True:
            try:
                with _client(said["address"]) as other:
                    other.reset()
                    assert not other.step(TextAction(text="go to the hall")).done
                break
            except RuntimeError as error:
                assert "CAPACITY_REACHED" in str(error) and time.monotonic() < deadline
                time.sleep(1)


def _picture(url: str | None) -> Any:
    assert url is not None
    head, _, data = url.partition(",")
    assert head == "data:image/png;base64"
    return np.asarray(Image.open(io.BytesIO(base64.b64decode(data))))
