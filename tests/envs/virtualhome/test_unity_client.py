from __future__ import annotations

import base64
import io
import json
import socket
import stat
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image
from present import needs_virtualhome
from served import served
from waiting import PATIENCE

from inhabit.envs.core import Env, Reason, SimulatorError, Task, UnavailableError
from inhabit.envs.virtualhome.env import make
from inhabit.envs.virtualhome.graph.verbs import parse_line
from inhabit.envs.virtualhome.tasks.sampling import sample
from inhabit.envs.virtualhome.unity.client import VirtualHomeClient
from inhabit.envs.virtualhome.unity.protocol import (
    CameraPlace,
    CharacterPlace,
    Point,
    read_script_failure,
    script_messages,
)
from inhabit.envs.virtualhome.world.settings import VirtualHomeSettings


@contextmanager
def peer(answer: Callable[[socket.socket], None]) -> Iterator[int]:
    """Something that listens and does with every connection what a broken simulator might."""
    listening = socket.create_server(("127.0.0.1", 0))

    def serve() -> None:
        while True:
            try:
                line, _ = listening.accept()
            except OSError:
                return
            with line:
                answer(line)

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    try:
        yield listening.getsockname()[1]
    finally:
        listening.shutdown(socket.SHUT_RDWR)
        listening.close()
        thread.join(5)


def http(body: bytes, status: str = "200 OK") -> Callable[[socket.socket], None]:
    def answer(line: socket.socket) -> None:
        line.recv(65536)
        head = f"HTTP/1.1 {status}\r\nContent-Length: {len(body)}\r\nConnection: close\r\n\r\n"
        line.sendall(head.encode() + body)

    return answer


def hangs(line: socket.socket) -> None:
    line.settimeout(PATIENCE)
    while line.recv(65536):
        pass


@needs_virtualhome
def test_a_server_is_used_by_one_at_a_time() -> None:
    with served() as server:
        there = VirtualHomeSettings(view="none", port=server.server_port, timeout=PATIENCE)
        with make("unity", there), pytest.raises(SimulatorError, match="Another worker uses"):
            make("unity", there)
        make("unity", there).close()


def test_nobody_listens():
    with socket.create_server(("127.0.0.1", 0)) as unused:
        port = unused.getsockname()[1]
    client = VirtualHomeClient(port=port, timeout=PATIENCE)
    assert not client.alive()
    with pytest.raises(SimulatorError, match=f"Nothing listens at 127.0.0.1:{port}"):
        client.graph()


def test_a_server_that_hangs_is_given_up_in_time():
    with peer(hangs) as port:
        client = VirtualHomeClient(port=port, timeout=0.3)
        with pytest.raises(SimulatorError, match=r"'camera_count' within 0\.3 s"):
            client.camera_count()


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (lambda line: line.recv(65536), "closed the connection during 'idle'"),
        (http(b"<html>"), "outside VirtualHome's protocol: '<html>'"),
        (http(b'{"message": "{not} a \\"reply\\""}'), "outside VirtualHome's protocol"),
        (http(b"out of order", "500 Internal Server Error"), "HTTP 500: out of order"),
        (http(b"\xff\xfe"), "outside VirtualHome's protocol"),
    ],
    ids=["dies", "html", "no success", "500", "bytes"],
)
def test_what_is_no_answer_is_told(answer, words):
    with peer(answer) as port, pytest.raises(SimulatorError) as told:
        VirtualHomeClient(port=port, timeout=PATIENCE).ask("idle")
    assert words in str(told.value)


def said(**fields: object) -> Callable[[socket.socket], None]:
    return http(json.dumps({"success": True, **fields}).encode())


def image(size: tuple[int, int], kind: str) -> str:
    out = io.BytesIO()
    Image.new("L", size).save(out, kind)
    return base64.b64encode(out.getvalue()).decode()


@pytest.mark.parametrize(
    ("answer", "ask", "words"),
    [
        (said(message='{"nodes": null, "edges": []}'), "graph", "nodes: Input should be a valid"),
        (said(message='{"nodes": [1], "edges": []}'), "graph", "nodes.0: Input should be"),
        (said(message="[" * 100_000), "graph", "Invalid JSON: recursion limit"),
        (said(message='{"1": [0.5]}'), "instance_colors", "1: List should have at least 3"),
        (said(message='{"1": [1e999, 0, 0]}'), "instance_colors", "1.0: Input should be a finite"),
        (said(message="[{}]"), "character_cameras", "0: Input should be a valid string"),
        (http(b'{"success": true, "value": 1e999}'), "camera_count", "outside VirtualHome's"),
        (said(message_list=["?"]), "camera_images", "sent an invalid image"),
        (said(message_list=[image((4, 5), "PNG")]), "camera_images", "it has 4 x 5 pixels"),
        (said(message_list=[image((20_000, 1_000), "PNG")]), "camera_images", "20000 x 1000"),
        # Pillow starts Ghostscript for it.
        (said(message_list=[image((4, 4), "EPS")]), "camera_images", "it is none of PNG"),
    ],
)
def test_a_server_that_lies_is_told(answer, ask, words):
    arguments = {"cameras": [0], "width": 4, "height": 4} if ask == "camera_images" else {}
    with peer(answer) as port, pytest.raises(SimulatorError, match=words):
        getattr(VirtualHomeClient(port=port, timeout=PATIENCE), ask)(**arguments)


def test_replies_may_leave_out_what_unity_leaves_out():
    body = b'{"id": "1", "success": true, "message": null, "value": 0, "message_list": null}'
    with peer(http(body)) as port:
        client = VirtualHomeClient(port=port, timeout=PATIENCE)
        assert client.ask("idle").message == ""
        with pytest.raises(SimulatorError, match="0 images of 1 cameras"):
            client.camera_images([0], width=4, height=4)


def test_what_is_no_picture_is_told():
    body = json.dumps({"success": True, "message_list": ["aGVsbG8="]}).encode()
    with peer(http(body)) as port, pytest.raises(SimulatorError, match="invalid image"):
        VirtualHomeClient(port=port, timeout=PATIENCE).camera_images([0], width=4, height=4)


UNITY = "PROCESS WALK: Can not select object: milk. REASON: No interaction positions\n"
IMPOSSIBLE = "EXECUTION_GENERAL: Script is impossible to execute\n\n"


@pytest.mark.parametrize(
    ("message", "reason", "says"),
    [
        ('{"0": {"message": "<character> (1) is not close to <milk> (3)"}}', Reason.OUT_OF_REACH,
         "<character> (1) is not close to <milk> (3)"),
        (json.dumps({"0": {"message": f"ScriptExcutor 0: {UNITY}{IMPOSSIBLE}"}}), Reason.BLOCKED,
         "Can not select object: milk. REASON: No interaction positions"),
        (f"ScriptExcutor 0: {UNITY}{IMPOSSIBLE}", Reason.BLOCKED, "Can not select object: milk."),
        (f"ScriptExcutor 0: {IMPOSSIBLE}", Reason.WRONG_STATE, "impossible to execute"),
        ("Error parsing script: line {0}", Reason.UNKNOWN_ACTION, "Error parsing script: line {0}"),
        ("", Reason.WRONG_STATE, "does not say why"),
        ('"%s {x}"', Reason.UNKNOWN_ACTION, "{x}"),
    ],
)  # fmt: skip
def test_both_forms_of_failures_are_understood(message, reason, says):
    failure = read_script_failure(message)
    assert failure.reason is reason
    assert says in failure.message


def test_every_character_has_its_message():
    plain = "ScriptExcutor 0: PROCESS OPEN: no\nScriptExcutor 1: PROCESS GRAB: neither\n"
    assert script_messages(plain) == {0: "PROCESS OPEN: no", 1: "PROCESS GRAB: neither"}
    assert script_messages('{"0": {"message": "Success"}, "1": "no"}') == {0: "Success", 1: "no"}
    assert script_messages("[" * 100_000) == {0: "[" * 100_000}


@given(st.text())
def test_any_text_reads_as_some_failure(text):
    failure = read_script_failure(text)
    assert failure.message
    assert isinstance(failure.reason, Reason)


@needs_virtualhome
class TestOurServer:
    def test_health_names_the_server_and_what_it_has(self):
        with served() as server:
            health = VirtualHomeClient(port=server.server_port).health()
        assert health.server.startswith("inhabit ")
        assert health.nodes > 100
        assert health.cameras == 20
        assert health.missing == ()

    def test_a_walk_through_the_protocol(self):
        with served() as server:
            client = VirtualHomeClient(port=server.server_port)
            client.reset(1)
            static = client.camera_count()
            client.add_character("kitchen")
            with pytest.raises(SimulatorError, match="one character at a time"):
                client.add_character("kitchen")
            graph = client.graph()
            tables = [n for n in graph["nodes"] if n["class_name"] == "kitchentable"]
            table = tables[0]["id"]
            walk = parse_line(f"[walk] <kitchentable> ({table})")
            assert client.run([parse_line(f"[sit] <kitchentable> ({table})")]) is not None
            assert client.ask("check_script", strings=[str(walk)]).success
            assert client.run([walk]) is None
            names = client.character_cameras()
            view = static + [*names].index("FIRST_PERSON")
            assert str(table) in json.loads(client.ask("observation", ints=(view,)).message)
            (image,) = client.camera_images([view], width=40, height=30)
            assert image.shape == (30, 40, 3)
            (depth,) = client.camera_images([view], width=40, height=30, mode="depth")
            assert depth.shape == (30, 40)
            assert 100 < depth.min() < depth.max()
            assert set(client.instance_colors()) == {n["id"] for n in client.graph()["nodes"]}
            count, place = client.camera_count(), CameraPlace(position=Point(x=2, y=1.5, z=8))
            assert client.ask("add_camera", strings=(place,)).message.endswith(f"Id:{count}")
            assert client.camera_count() == count + 1
            client.set_time(21.5)
            here, nowhere = (CharacterPlace(character_position=Point(x=x, z=2)) for x in (8, 800))
            assert client.ask("move_character", strings=(here,)).success
            assert "in no room" in client.ask("move_character", strings=(nowhere,)).message


def done_in(env: Env, task: Task) -> tuple[object, ...]:
    """What the expert's plan brings about."""
    env.reset(task, seed=0)
    outcomes = []
    for action in env.plan():  # type: ignore[attr-defined]
        outcomes.append(env.act(action))
    state = env.state()  # type: ignore[attr-defined]
    return outcomes, {k: state[k] for k in ("states", "edges", "done")}, env.progress()


@needs_virtualhome
class TestRemoteBackend:
    def test_the_same_tasks_give_the_same_outcomes_as_embedded(self):
        settings = VirtualHomeSettings(view="none")
        with served() as server, make("embedded", settings) as here:
            there = settings.model_copy(update={"port": server.server_port})
            with make("unity", there) as remote:
                for task in sample(2, seed=3):
                    assert done_in(remote, task) == done_in(here, task)

    @pytest.mark.slow
    def test_a_failure_has_the_same_reason(self):
        task = next(iter(sample(1, seed=1)))
        settings = VirtualHomeSettings(view="none")
        with served() as server:
            port = server.server_port
            there = make("unity", settings.model_copy(update={"port": port}))
            here = make("embedded", settings)
            for env in (here, there):
                env.reset(task, seed=0)
            for text in ("open the window_1", "sit on the sofa_1", "stand up", "grab the rug_1"):
                action = here.parse(text)
                assert action is not None
                assert there.act(action) == here.act(action)

    @pytest.mark.slow
    def test_pictures_come_from_there(self):
        settings = VirtualHomeSettings(width=64, height=48)
        task = next(iter(sample(1, seed=1)))
        with served() as server:
            there = settings.model_copy(update={"port": server.server_port})
            with make("unity", there) as remote, make("embedded", settings) as here:
                remote.reset(task, seed=0)
                here.reset(task, seed=0)
                assert (remote.observe().rgb == here.observe().rgb).all()

    def test_a_dead_server_is_told(self):
        task = next(iter(sample(1, seed=1)))
        with served() as server:
            port = server.server_port
            remote = make("unity", VirtualHomeSettings(view="none", port=port, timeout=PATIENCE))
            remote.reset(task, seed=0)
        action = remote.parse("stand up")
        assert action is not None
        with pytest.raises(SimulatorError, match="Nothing listens"):
            remote.act(action)
        remote.close()


def program(folder: Path, body: str) -> str:
    """A program in the place of Unity's build."""
    path = folder / "linux_exec.v2.3.0.x86_64"
    path.write_text(f"#!{sys.executable}\n{body}")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return str(path)


OURS = """
import sys
from inhabit.envs.virtualhome.server.__main__ import main
port = next(a.split("=")[1] for a in sys.argv if a.startswith("-http-port="))
sys.argv = ["server", "--port", port]
sys.exit(main())
"""


IDLE_ALONE = """
import http.server, json, sys
class Answering(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.send_response(200 if asked["action"] == "idle" else 500)
        self.end_headers()
        self.wfile.write(json.dumps({"success": True}).encode())
port = next(a.split("=")[1] for a in sys.argv if a.startswith("-http-port="))
http.server.HTTPServer(("127.0.0.1", int(port)), Answering).serve_forever()
"""


@needs_virtualhome
class TestStartingIt:
    def test_it_is_started_asked_and_stopped(self, tmp_path):
        settings = VirtualHomeSettings(
            view="none", executable=program(tmp_path, OURS), timeout=PATIENCE
        )
        before = set(psutil.Process().children(recursive=True))
        with make("unity", settings) as env:
            env.reset(next(iter(sample(1, seed=1))), seed=0)
            assert env.actions()
            started = set(psutil.Process().children(recursive=True)) - before
            assert any(str(tmp_path) in " ".join(one.cmdline()) for one in started)
        assert not any(one.is_running() for one in started)

    def test_last_words_of_one_that_ends_at_once(self, tmp_path):
        broken = program(tmp_path, "import sys; sys.exit('no {display}')")
        settings = VirtualHomeSettings(executable=broken, timeout=PATIENCE)
        with pytest.raises(SimulatorError, match=r"(?s)code 1.*no \{display\}"):
            make("unity", settings)

    @pytest.mark.slow
    def test_one_that_never_answers(self, tmp_path):
        idle = program(tmp_path, "import time; print('loading', flush=True); time.sleep(1000)")
        settings = VirtualHomeSettings(executable=idle, timeout=10)
        with pytest.raises(SimulatorError, match=r"(?s)within 10 s.*loading"):
            make("unity", settings)

    def test_one_that_fails_its_health_check_is_not_left_running(self, tmp_path):
        sick = program(tmp_path, IDLE_ALONE)
        before = set(psutil.Process().children())
        settings = VirtualHomeSettings(view="none", executable=sick, timeout=PATIENCE)
        with pytest.raises(SimulatorError, match="HTTP 500"):
            make("unity", settings)
        assert set(psutil.Process().children()) <= before

    @pytest.mark.slow
    def test_two_at_once_have_a_port_each_whatever_port_is_taken(self, tmp_path):
        with socket.create_server(("127.0.0.1", 0)) as taken:
            settings = VirtualHomeSettings(
                view="none", port=taken.getsockname()[1], executable=program(tmp_path, OURS)
            )
            with make("unity", settings) as one, make("unity", settings) as other:
                first, second = sample(2, seed=1)
                one.reset(first, seed=0)
                other.reset(second, seed=0)
                assert one.progress()[1] and other.progress()[1]
                assert one.state() != other.state()

    def test_what_is_no_program(self, tmp_path):
        settings = VirtualHomeSettings(executable=str(tmp_path / "nowhere"))
        with pytest.raises(UnavailableError, match="not an executable file"):
            make("unity", settings)
