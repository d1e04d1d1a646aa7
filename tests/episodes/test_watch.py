"""A run is watched while it goes on: changes are shown, nothing is written or given away."""

from __future__ import annotations

import http.client
import json
import socket
import tempfile
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

import pytest
from browser import CHROMIUM, Browser
from made_run import HOSTILE, Made, write_run
from sampling import every
from toy_runs import play_toy, toy_tasks
from waiting import PATIENCE, wait_for

from inhabit.envs.host import server_gate
from inhabit.episodes.recording.reader import Run
from inhabit.episodes.reports.page.watch import PageServer


@contextmanager
def served(run: Run) -> Iterator[PageServer]:
    with PageServer(run) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.02,))
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()


def ask(
    server: PageServer, path: str, method: str = "GET", host: str | None = None
) -> tuple[int, bytes]:
    connection = http.client.HTTPConnection("127.0.0.1", server.server_port, timeout=PATIENCE)
    path = f"/{server.gate.token}{path}"
    connection.request(method, path, headers={} if host is None else {"Host": host})
    answer = connection.getresponse()
    return answer.status, answer.read()


@pytest.fixture(scope="module")
def half(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """A run whose second episode goes on, and whose third was not begun."""
    run = play_toy(tmp_path_factory.mktemp("watched") / "run", tasks=toy_tasks(3))
    file = run.episode(1).file
    file.write_bytes(b"".join(file.read_bytes().splitlines(keepends=True)[:8]))
    run.episode(2).file.unlink()
    return run


def test_pages_and_pictures_are_served_and_nothing_else(half: Run) -> None:
    before = sorted(half.folder.rglob("*"))
    (half.folder.parent / "secret.jpg").write_bytes(b"secret")
    with served(half) as server:
        status, page = ask(server, "/")
        assert status == 200
        assert b"In progress" in page and b"1: " in page
        assert ask(server, "/episodes/00001/index.html")[0] == 200
        picture = ask(server, "/episodes/00001/frames/0000.jpg")
        assert picture == (200, (half.episode(1).folder / "frames/0000.jpg").read_bytes())
        for path in (
            "/run.json",
            "/episodes/00001/episode.jsonl",
            "/episodes/00002/index.html",
            "/episodes/00009/index.html",
            "/episodes/00001/frames/../../../../secret.jpg",
            "/episodes/00001/frames/%2e%2e/0000.jpg",
            "/../secret.jpg",
            "//etc/passwd",
        ):
            assert ask(server, path)[0] == 404, path
    assert sorted(half.folder.rglob("*")) == before, "Nothing is written."


def test_links_are_not_followed(half: Run, tmp_path: Path) -> None:
    secret = tmp_path / "secret.jpg"
    secret.write_bytes(b"secret")
    link = half.episode(1).folder / "frames" / "9999.jpg"
    link.symlink_to(secret)
    try:
        with served(half) as server:
            assert ask(server, "/episodes/00001/frames/9999.jpg")[0] == 404
    finally:
        link.unlink()


@pytest.mark.parametrize("host", ["elsewhere.example", "127.0.0.1.elsewhere.example", ""])
def test_names_that_lead_here_read_nothing(half: Run, host: str) -> None:
    with served(half) as server:
        assert ask(server, "/", host=host)[0] == 403
        assert ask(server, "/events", host=host)[0] == 403


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "OPTIONS"])
def test_nothing_can_be_changed(half: Run, method: str) -> None:
    with served(half) as server:
        assert ask(server, "/", method)[0] == 501


def test_only_this_machine_can_connect_with_the_address_that_was_printed(half: Run) -> None:
    with served(half) as server:
        assert server.server_address[0] == "127.0.0.1"
        home = f"http://127.0.0.1:{server.server_port}"
        assert server.address == f"{home}/{server.gate.token}/"
        assert urllib.request.urlopen(server.address).status == 200
        for path in ("/", "/events", "/episodes/00001/index.html", f"/{server.gate.token}x/"):
            with pytest.raises(urllib.error.HTTPError, match="401") as refused:
                urllib.request.urlopen(home + path)
            assert b"whole address" in refused.value.read()


@pytest.mark.parametrize(
    "half_request", every(3, [b"GET / HTTP/1.1\r\nHost: lo", b"", b"G" * 20_000])
)
def test_a_half_request_keeps_no_thread(
    half: Run, half_request: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server_gate, "PATIENCE", 1.0)
    before = threading.active_count()
    with served(half) as server, ExitStack() as stack:
        silent = [
            stack.enter_context(socket.create_connection(server.server_address[:2], PATIENCE))
            for _ in range(200)
        ]
        for connection in silent:
            with suppress(ConnectionError):
                connection.sendall(half_request)
        # As many as may be open at once, and those that listen.
        assert threading.active_count() <= before + server_gate.CONNECTIONS + 1
        for connection in silent:
            with suppress(ConnectionError):
                assert connection.recv(1) == b""
        wait_for(lambda: threading.active_count() <= before + 1)
        assert ask(server, "/")[0] == 200


def test_a_broken_record_is_a_sentence(tmp_path: Path) -> None:
    run = Run.open(write_run(tmp_path / "run", Made(episodes=1)))
    run.episode(0).file.write_text("{}\n{}\n")
    with served(run) as server:
        status, said = ask(server, "/episodes/00000/index.html")
    assert status == 500
    assert b"line 1" in said


def test_a_broken_record_ends_the_feed_without_a_traceback(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = play_toy(tmp_path / "run", tasks=toy_tasks(1))
    file = run.episode(0).file
    file.write_bytes(file.read_bytes() + b'{"kind":"end"}\n')
    with served(run) as server:
        assert ask(server, "/events")[0] == 200
    assert "Traceback" not in capsys.readouterr().err


@pytest.mark.skipif(CHROMIUM is None, reason="needs Chromium: apt-get install chromium")
def test_a_browser_follows_what_happens(tmp_path: Path) -> None:
    run = Run.open(write_run(tmp_path / "run", Made(episodes=2, goal=HOSTILE, action=HOSTILE)))
    file = run.episode(1).file
    lines = file.read_bytes().splitlines(keepends=True)
    file.write_bytes(b"".join(lines[:5]))
    with (
        tempfile.TemporaryDirectory() as profile,
        served(run) as server,
        Browser(Path(profile)) as browser,
    ):
        browser.open(server.address)
        assert browser.run("document.querySelectorAll('.now article').length") == 1
        browser.look(400, 860)
        assert browser.run("document.documentElement.scrollWidth") <= 400
        browser.run("document.querySelector('.filter').find.value = 'made'")
        count = "document.querySelectorAll('.now article').length"
        file.write_bytes(b"".join(lines))
        wait_for(lambda: browser.run(count) == 0)
        assert browser.run("document.querySelector('.filter').find.value") == "made"
        assert browser.run("document.querySelector('output').textContent") == "2 of 2"
        file.write_bytes(b"".join(lines[:5]))
        browser.open(server.address + "episodes/00001/index.html")
        steps = "document.querySelectorAll('.step').length"
        assert browser.run(steps) == 2
        shown = browser.run("document.querySelector('.step:not([hidden])').innerText")
        assert "No decision on record yet." in shown and "interrupted" not in shown
        file.write_bytes(b"".join(lines[:8]))
        wait_for(lambda: browser.run(steps) == 3)
        at = "document.querySelector('.step:not([hidden])').id"
        assert browser.run(at) == "step-2", "The page opens at the newest step and stays with it."
        browser.press("Home")
        file.write_bytes(b"".join(lines[:11]))
        wait_for(lambda: browser.run(steps) == 4)
        assert browser.run(at) == "step-0"
        assert browser.run("document.title") != "owned"


def test_the_feed_names_what_has_changed(half: Run) -> None:
    file = half.episode(1).file
    whole = file.read_bytes()
    with served(half) as server:
        connection = http.client.HTTPConnection("127.0.0.1", server.server_port, timeout=PATIENCE)
        connection.request("GET", f"/{server.gate.token}/events")
        feed = connection.getresponse()
        assert feed.readline() == b"retry: 1000\n"
        time.sleep(0.1)
        with file.open("ab") as stream:
            stream.write(whole.splitlines(keepends=True)[-1])
        lines = [feed.readline() for _ in range(3)]
    assert lines[1:] == [b"event: change\n", b"data: [1]\n"]
    assert json.loads(lines[2].removeprefix(b"data: ")) == [1]
    file.write_bytes(whole)
