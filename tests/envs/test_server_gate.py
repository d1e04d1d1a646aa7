"""Whom the gate of our servers lets in, and what it takes from them."""

from __future__ import annotations

import asyncio
import tracemalloc
from collections.abc import Iterator
from typing import Any

import pytest

from inhabit.envs.host import server_gate
from inhabit.envs.host.server_gate import LARGEST_BODY, Gate, RefusedError, check_json, gated

HERE = ("Host", "127.0.0.1:8000")


@pytest.mark.parametrize(
    "host",
    [
        "elsewhere.example",
        "127.0.0.1.elsewhere.example:8000",
        "localhost.elsewhere.example",
        "localhost:8000, elsewhere.example",
        "192.168.0.4:8000",
        "[::1",
        "",
    ],
)
def test_names_of_others_are_refused(host: str) -> None:
    gate = Gate("127.0.0.1")
    with pytest.raises(RefusedError, match="not called") as refused:
        gate.enter(f"/{gate.token}/reset", [("Host", host)])
    assert refused.value.status == 403
    for hosts in ([], [HERE, HERE], [HERE, ("host", host)]):
        with pytest.raises(RefusedError, match="not called"):
            gate.enter(f"/{gate.token}/reset", hosts)


@pytest.mark.parametrize("host", ["127.0.0.1", "LOCALHOST:9000", "[::1]:8000", "server:8000"])
def test_names_of_ones_own_are_known(host: str) -> None:
    gate = Gate("127.0.0.1", origins=("http://server:8000",))
    assert gate.enter(f"/{gate.token}/reset", [("Host", host)]) == f"/{gate.token}"


def test_a_server_for_other_machines_has_their_names_for_it() -> None:
    gate = Gate("0.0.0.0")
    assert gate.enter(f"/{gate.token}", [("Host", "192.168.0.4:8000")])
    with pytest.raises(RefusedError, match="not called"):
        gate.enter(f"/{gate.token}", [("Host", "elsewhere.example")])


@pytest.mark.parametrize("origin", ["https://elsewhere.example", "null", "http://[", "file://"])
def test_pages_of_others_are_refused(origin: str) -> None:
    gate = Gate("127.0.0.1", origins=("https://friend.example",))
    path = f"/{gate.token}/ws"
    with pytest.raises(RefusedError, match="web pages") as refused:
        gate.enter(path, [HERE, ("Origin", "http://localhost:3000"), ("origin", origin)])
    assert refused.value.status == 403
    assert gate.enter(path, [HERE, ("Origin", "https://friend.example")])


def test_a_token_is_needed_in_the_path_or_in_a_header() -> None:
    gate = Gate("127.0.0.1")
    assert len(gate.token) >= 20 and gate.token != Gate("127.0.0.1").token
    assert gate.token not in repr(gate)
    assert gate.enter(f"/{gate.token}/reset", [HERE]) == f"/{gate.token}"
    assert gate.enter("/reset", [HERE, ("Authorization", f"Bearer {gate.token}")]) == ""
    wrong = [
        "/",
        "/reset",
        f"/{gate.token}x/reset",
        f"/{gate.token[:-1]}/reset",
        f"//{gate.token}/",
    ]
    for path in wrong:
        for bearer in ("Bearer ", "Bearer", f"Bearer {gate.token}x", f"Basic {gate.token}"):
            with pytest.raises(RefusedError, match="whole address") as refused:
                gate.enter(path, [HERE, ("Authorization", bearer)])
            assert refused.value.status == 401


@pytest.mark.parametrize(
    "content",
    [
        '{"seed": 1e400}',
        '{"seed": -1e400}',
        '{"seed": NaN}',
        '{"seed": Infinity}',
        '{"seed": 99999999999999999999}',
        '{"seed": ' + "9" * 5000 + "}",
        '{"text": "\\ud800"}',
        '{"a":' * 300 + "1" + "}" * 300,
        "[" * 100_000,
        "[]",
        "1",
        "",
        '{"a": 1} x',
        b'{"a": "\xff"}',
    ],
)
def test_what_is_no_small_json_object_is_refused(content: str | bytes) -> None:
    with pytest.raises(RefusedError, match="JSON object") as refused:
        check_json(content)
    assert refused.value.status == 400 and len(str(refused.value).encode()) <= 120


def test_usual_json_is_let_through() -> None:
    check_json('{"seed": 9223372036854775807, "x": [1.5e3, -0.2e-3], "text": "\\ud83d\\ude00"}')


def ask(gate: Gate, parts: Iterator[bytes], path: str | None = None) -> tuple[int, bytes, bytes]:
    """Status, body, and what the application behind the gate has read."""
    sent: list[dict[str, Any]] = []
    read = b""

    async def app(scope: Any, receive: Any, send: Any) -> None:
        nonlocal read
        message = await receive()
        read, more = message["body"], message["more_body"]
        assert not more
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": scope["root_path"].encode()})

    async def receive() -> Any:
        part = next(parts, None)
        if part is None:
            await asyncio.Event().wait()
        return {"type": "http.request", "body": part, "more_body": part != b""}

    async def send(message: Any) -> None:
        sent.append(message)

    scope = {
        "type": "http",
        "path": path or f"/{gate.token}/reset",
        "headers": [(b"host", b"localhost")],
    }
    asyncio.run(asyncio.wait_for(gated(app, gate)(scope, receive, send), 60))
    assert (b"connection", b"close") in sent[0]["headers"]
    return sent[0]["status"], sent[1]["body"], read


def test_a_body_arrives_in_one_piece() -> None:
    gate = Gate("127.0.0.1")
    said = ask(gate, iter([b'{"seed"', b": 1}", b""]))
    assert said == (200, f"/{gate.token}".encode(), b'{"seed": 1}')
    assert ask(gate, iter([b""]))[2] == b""


def test_a_body_of_200_megabytes_is_not_kept() -> None:
    tracemalloc.start()
    try:
        parts = iter([*[bytes(65536)] * (200 * 16), b""])
        status, said, read = ask(Gate("127.0.0.1"), parts)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert (status, read) == (413, b"") and str(LARGEST_BODY) in said.decode()
    assert peak < 4 * 1024 * 1024


def test_a_body_that_never_ends_and_no_token(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server_gate, "PATIENCE", 0.2)
    gate = Gate("127.0.0.1")
    assert ask(gate, iter([b'{"seed"']))[::2] == (408, b"")
    assert ask(gate, iter([]), "/reset")[::2] == (401, b""), "Nothing is read without a token."


def test_numbers_beyond_all_bounds_are_the_clients_fault() -> None:
    status, said, read = ask(Gate("127.0.0.1"), iter([b'{"seed": 1e400}', b""]))
    assert (status, read) == (400, b"") and b"1e400" in said and b"Traceback" not in said
