"""Who can reach a simulator, as the kernel has it while the simulator runs."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import socket
import stat
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from importlib.util import find_spec
from pathlib import Path

import psutil
import pytest
from waiting import wait_for

from inhabit.envs.alfred.thor.client import start
from inhabit.envs.core import SimulatorError
from inhabit.envs.host.env import WorkerEnv
from inhabit.envs.minedojo.luanti.world import PACKAGES, LuantiWorld, lacking
from inhabit.envs.minedojo.tasks.scene import MineDojoScene, as_world
from inhabit.envs.toy.tasks import sample
from inhabit.envs.virtualhome.server.flat import Flat
from inhabit.envs.virtualhome.server.listen import Server
from inhabit.envs.virtualhome.unity.client import VirtualHomeClient
from tests.security.kernel import Door, doors, family

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="asks Linux")
needs_luanti = pytest.mark.skipif(
    bool(lacking()), reason=f"needs Luanti: apt-get install {' '.join(PACKAGES)}"
)


class Watch:
    """Gathers the doors of this process and all that it starts, while a block runs."""

    def __enter__(self) -> Watch:
        self.seen: set[Door] = set()
        self._over = threading.Event()
        self._before = doors([psutil.Process().pid])
        self._thread = threading.Thread(target=self._look)
        self._thread.start()
        return self

    def __exit__(self, *exception: object) -> None:
        self._over.set()
        self._thread.join()
        self.seen -= self._before

    def _look(self) -> None:
        while not self._over.wait(0.02):
            for pid in family(psutil.Process().pid):
                self.seen |= doors([pid])


@pytest.fixture(scope="module")
def luanti() -> Iterator[tuple[LuantiWorld, set[Door]]]:
    scene = MineDojoScene(generate_world_type="flat", allow_mob_spawn=False)
    with Watch() as watch:
        world = LuantiWorld(as_world(scene, seed=0), 64, 64)
    with world:
        yield world, watch.seen


def separate(world: LuantiWorld) -> bool:
    """Whether the machine let it have a network of its own."""
    nets = [Path(f"/proc/{pid}/ns/net").readlink() for pid in world.pids]
    return Path("/proc/self/ns/net").readlink() not in nets


@needs_luanti
def test_luanti_has_no_door_in_our_network(luanti: tuple[LuantiWorld, set[Door]]) -> None:
    """Neither now nor while it started: no port that another program could have connected to."""
    world, seen = luanti
    now = doors(family(psutil.Process().pid))
    if separate(world):
        assert not seen and not {door for door in now if door.kind != "tcp"}
    assert not {door for door in seen | now if door.place.startswith("@")}
    assert not {door for door in seen if door.kind == "tcp"}


@needs_luanti
def test_luantis_own_server_is_on_loopback(luanti: tuple[LuantiWorld, set[Door]]) -> None:
    world, _ = luanti
    engine = world.pids[1]
    here = {door for door in doors([engine], within=str(engine)) if door.kind == "udp"}
    # The client's socket can't be told an address: that is what the network of its own is for.
    assert len(here) == 2 and any(door.is_loopback for door in here)


def _x_socket(world: LuantiWorld) -> str:
    xvfb = world.pids[0]
    (door,) = doors([xvfb], within=str(xvfb))
    assert door.kind == "unix" and door.place.startswith("/tmp/.X11-unix/")
    # As seen from where the server runs.
    return f"/proc/{xvfb}/root{door.place}"


def _greeted(place: str, cookie: bytes) -> bool:
    """Whether the X server lets one in who has this cookie."""
    name = b"MIT-MAGIC-COOKIE-1" if cookie else b""
    with socket.socket(socket.AF_UNIX) as line:
        line.settimeout(30)
        line.connect(place)
        head = struct.pack("<BxHHHHxx", ord("l"), 11, 0, len(name), len(cookie))
        line.sendall(head + name + bytes(-len(name) % 4) + cookie)
        return line.recv(1) == b"\x01"


@needs_luanti
def test_the_display_asks_for_a_cookie(luanti: tuple[LuantiWorld, set[Door]]) -> None:
    world, _ = luanti
    place = _x_socket(world)
    assert not _greeted(place, b"")
    assert not _greeted(place, b"0123456789abcdef")
    cookie = next(world._launch.home.glob("cookie")).read_bytes()[-16:]
    assert _greeted(place, cookie)


@needs_luanti
def test_the_displays_socket_lies_in_a_folder_of_its_own(
    luanti: tuple[LuantiWorld, set[Door]],
) -> None:
    world, _ = luanti
    if not separate(world):
        pytest.skip("this machine allows no namespaces")
    name = Path(_x_socket(world)).name
    assert (world._launch.home / "x11" / name).is_socket()
    assert not Path("/tmp/.X11-unix", name).exists()
    assert stat.S_IMODE(world._launch.home.stat().st_mode) == 0o700


@needs_luanti
def test_memory_that_luanti_shares_is_ours_alone(luanti: tuple[LuantiWorld, set[Door]]) -> None:
    world, _ = luanti
    segments = [line.split() for line in Path("/proc/sysvipc/shm").read_text().splitlines()[1:]]
    modes = [int(words[2], 8) & 0o077 for words in segments if int(words[4]) in world.pids]
    assert modes and not any(modes)


def test_the_household_over_pipes_has_no_socket_and_a_folder_of_its_own() -> None:
    with Watch() as watch:
        simulator = start("embedded", scene="FloorPlan1", width=64, height=64)
        try:
            place = Path(simulator.server.server_pipe_path)
            assert stat.S_ISFIFO(place.stat().st_mode)
            assert stat.S_IMODE(place.parent.stat().st_mode) == 0o700
        finally:
            simulator.stop()
    assert not watch.seen


def test_the_household_over_http_is_on_loopback() -> None:
    with Watch() as watch:
        start("embedded", scene="FloorPlan1", wire="wsgi", width=64, height=64).stop()
    assert watch.seen and all(d.kind == "tcp" and d.is_loopback for d in watch.seen)


def test_a_worker_has_no_door() -> None:
    with Watch() as watch, WorkerEnv("toy", "grid", {}) as env:
        env.reset(next(iter(sample(1, seed=0))), seed=0)
        env.observe()
    assert not watch.seen


@contextlib.contextmanager
def virtualhome() -> Iterator[int]:
    """VirtualHome's server, at a port."""
    server = Server(Flat(0, 0), 0)
    serving = threading.Thread(target=server.serve_forever)
    serving.start()
    try:
        yield server.server_port
    finally:
        server.shutdown()
        serving.join()
        server.server_close()


def _post(port: int, user: int | None) -> str:
    """The first line that a program of another user gets."""
    code = (
        "import socket, sys\n"
        "line = socket.create_connection(('127.0.0.1', int(sys.argv[1])))\n"
        'body = b\'{"action": "idle"}\'\n'
        "try:\n"
        "    head = b'POST / HTTP/1.0\\r\\nContent-Length: %d\\r\\n\\r\\n' % len(body)\n"
        "    line.sendall(head + body)\n"
        "    print(line.recv(100))\n"
        "except OSError as error:\n    print(error)\n"
    )
    # Another user may not be able to read this interpreter.
    found = shutil.which("python3", path="/usr/bin:/usr/local/bin") or sys.executable
    python = [found, "-I", "-S", "-c", code, str(port)]
    done = subprocess.run(python, capture_output=True, text=True, user=user, check=False, cwd="/")
    if not done.stdout:
        pytest.skip(f"another user can't run Python here: {done.stderr[-200:]}")
    return done.stdout


def test_virtualhomes_server_is_on_loopback_and_answers_us() -> None:
    before = doors([psutil.Process().pid])
    with virtualhome() as port:
        (door,) = doors([psutil.Process().pid]) - before
        assert door.kind == "tcp" and door.is_loopback
        answer = _post(port, None)
        assert "200" in answer and "Python" not in answer


def test_clients_that_hang_up_leave_no_traceback(capfd: pytest.CaptureFixture[str]) -> None:
    with virtualhome() as port:
        threads = threading.active_count()
        lines = [socket.create_connection(("127.0.0.1", port)) for _ in range(20)]
        for line in lines:
            line.sendall(b"POST / HTTP/1.1\r\nContent-Length: 10\r\n\r\n{")
        wait_for(lambda: threading.active_count() == threads + len(lines))
        for line in lines:
            line.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            line.close()
        assert "200" in _post(port, None)
        wait_for(lambda: threading.active_count() <= threads)
    assert "Traceback" not in capfd.readouterr().err


def test_virtualhomes_server_refuses_a_graph_that_is_nested_too_deeply() -> None:
    with virtualhome() as port:
        reply = VirtualHomeClient(port=port).ask("expand_scene", strings=("[]", "[" * 100_000))
        assert not reply.success and "deserializing" in reply.message


def test_a_server_of_virtualhome_that_nests_its_answer_too_deeply_is_refused() -> None:
    deep = json.dumps({"id": "1", "success": True, "message": "[" * 100_000}).encode()

    class Deep(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.send_response(200)
            self.send_header("Content-Length", str(len(deep)))
            self.end_headers()
            self.wfile.write(deep)

    with HTTPServer(("127.0.0.1", 0), Deep) as server:
        serving = threading.Thread(target=server.serve_forever)
        serving.start()
        try:
            with pytest.raises(SimulatorError, match="Invalid JSON"):
                VirtualHomeClient(port=server.server_port).graph()
        finally:
            server.shutdown()
            serving.join()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can be another user")
def test_virtualhomes_server_answers_no_other_user() -> None:
    with virtualhome() as port:
        assert "HTTP" not in _post(port, 65534)
        assert "200" in _post(port, None)


def test_a_server_of_virtualhome_that_answers_a_byte_at_a_time_is_given_up() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        over = threading.Event()

        def drip() -> None:
            line, _ = listening.accept()
            with line, contextlib.suppress(OSError):
                line.sendall(b"HTTP/1.1 200 OK\r\nX: ")
                while not over.wait(0.05):
                    line.sendall(b"x")

        serving = threading.Thread(target=drip)
        serving.start()
        try:
            begin = time.monotonic()
            client = VirtualHomeClient(port=listening.getsockname()[1])
            with pytest.raises(SimulatorError, match="did not answer"):
                client.ask("idle", timeout=1.0)
            assert time.monotonic() - begin < 30
        finally:
            over.set()
            serving.join()


@pytest.mark.slow  # Ray needs half a minute to start, and on a busy machine more than its own limit
@pytest.mark.skipif(find_spec("ray") is None, reason="needs Ray")
def test_ray_is_on_loopback_and_its_folder_is_ours() -> None:
    code = (
        "import asyncio, sys\n"
        "from inhabit.episodes.cluster.jobs import started\n"
        "async def main():\n"
        "    async with started():\n"
        "        import ray\n"
        "        print(ray._private.worker._global_node.get_session_dir_path(), flush=True)\n"
        "        sys.stdin.read()\n"
        "asyncio.run(main())\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as program:
        try:
            assert program.stdout is not None
            session = Path(program.stdout.readline().strip())
            seen = doors(family(program.pid))
            assert any(door.kind == "tcp" for door in seen)
            for door in seen:
                if door.kind != "unix":
                    assert door.is_loopback
                    continue
                assert stat.S_IMODE(Path(door.place).stat().st_mode) & 0o022 == 0
            # Ray makes its own folder open to everybody: one above it is closed.
            assert any(stat.S_IMODE(f.stat().st_mode) == 0o700 for f in session.parents)
            words = [" ".join(psutil.Process(pid).cmdline()) for pid in family(program.pid)]
            tokens = {
                psutil.Process(pid).environ().get("RAY_AUTH_TOKEN")
                for pid in family(program.pid)[1:]
            }
            assert not any(token and token in line for token in tokens for line in words)
        finally:
            program.communicate("", timeout=100)
