"""The server of `serve`, with an application of a few lines: what silent and greedy clients get."""

from __future__ import annotations

import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress

import pytest
from waiting import PATIENCE, wait_for

pytest.importorskip("uvicorn", reason="needs the extra `openenv`")

PROGRAM = """
import inhabit.envs.host.server_gate as server_gate
server_gate.PATIENCE, server_gate.CONNECTIONS = 2.0, 8
from inhabit.envs.host.server_gate import Gate, gated
from inhabit.frameworks.listening import listening, run_server

async def app(scope, receive, send):
    if scope["type"] == "lifespan":
        return
    if scope["path"].endswith("/fail"):
        raise ValueError("a secret")
    await receive()
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": b"hello"})

with listening("127.0.0.1", 0) as bound:
    print(bound.getsockname()[1], flush=True)
    run_server(gated(app, Gate("127.0.0.1", "token")), bound, sessions=2)
"""
ASKED = b"GET /token/ HTTP/1.1\r\nHost: localhost\r\n\r\n"
Address = tuple[str, int]


@pytest.fixture
def address() -> Iterator[Address]:
    with serving() as (process, address):
        yield address
        assert process.poll() is None


@contextmanager
def serving() -> Iterator[tuple[subprocess.Popen[str], Address]]:
    process = subprocess.Popen(
        [sys.executable, "-c", PROGRAM],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    assert process.stdout is not None
    with process.stdout as said:
        yield process, ("127.0.0.1", int(said.readline()))
        process.terminate()
        process.wait(PATIENCE)


def whole(address: Address, request: bytes) -> bytes:
    with socket.create_connection(address, PATIENCE) as connection:
        connection.sendall(request)
        return rest(connection)


def is_answered(address: Address) -> bool:
    with suppress(ConnectionResetError):
        return b"hello" in whole(address, ASKED)
    return False


def rest(connection: socket.socket) -> bytes:
    """What comes until the server closes the connection."""
    found = b""
    while part := connection.recv(65536):
        found += part
    return found


def test_a_request_is_answered_and_its_connection_closed(address: Address) -> None:
    assert b"hello" in whole(address, ASKED + b"GET /token/ HTTP/1.1\r\nHo")
    said = whole(address, ASKED.replace(b"localhost", b"elsewhere.example"))
    assert b" 403 " in said.splitlines()[0]


def test_half_requests_end_and_the_server_goes_on(address: Address) -> None:
    with ExitStack() as stack:
        halves = [b"", b"GET /token/ HTTP/1.1\r\nHost: lo", b"PRI * HTTP/2.0\r\n"]
        silent = [stack.enter_context(socket.create_connection(address, PATIENCE)) for _ in halves]
        for connection, half in zip(silent, halves, strict=True):
            connection.sendall(half)
        assert b"hello" in whole(address, ASKED)
        for connection in silent:
            with suppress(ConnectionResetError):
                assert b"hello" not in rest(connection)
    late = b"POST /token/ HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\n{"
    assert b" 408 " in whole(address, late).splitlines()[0]


def test_connections_are_bounded(address: Address) -> None:
    with ExitStack() as stack:
        for _ in range(40):
            stack.enter_context(socket.create_connection(address, PATIENCE))
        assert not is_answered(address)
    wait_for(lambda: is_answered(address))


def test_faults_and_long_headers_tell_nothing(address: Address) -> None:
    failed = whole(address, ASKED.replace(b"/token/", b"/token/fail"))
    assert b" 500 " in failed.splitlines()[0]
    assert b"secret" not in failed and b"Traceback" not in failed
    long = whole(address, ASKED[:-2] + b"X: " + b"x" * 20_000)
    assert b" 400 " in long.splitlines()[0]


def test_a_signal_ends_it_while_a_request_is_open() -> None:
    with serving() as (process, address), socket.create_connection(address, PATIENCE) as connection:
        connection.sendall(ASKED[:20])
        process.terminate()
        process.wait(PATIENCE)
