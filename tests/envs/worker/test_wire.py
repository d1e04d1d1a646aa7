from __future__ import annotations

import os
import socket
import struct
import subprocess
import sys
import threading
import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from waiting import PATIENCE

from inhabit.envs.core import Action, Clip, Observation, Outcome, Reason
from inhabit.envs.host.wire import (
    ClosedError,
    SharedMemory,
    Wire,
    from_action,
    from_observation,
    from_outcome,
    nameless_file,
    pack,
    to_action,
    to_observation,
    to_outcome,
)

PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=20,
)


@settings(max_examples=settings.default.max_examples // 2)
@given(messages=st.lists(PLAIN, max_size=5), cut=st.integers(1, 9))
def test_messages_arrive_whole_however_they_are_cut(messages: list[object], cut: int) -> None:
    here, there = socket.socketpair()
    packed = b"".join(map(pack, messages))

    def trickle() -> None:
        for start in range(0, len(packed), cut):
            here.sendall(packed[start : start + cut])
        here.close()

    sending = threading.Thread(target=trickle)
    sending.start()
    wire = Wire(there)
    assert [wire.receive(seconds=10) for _ in messages] == messages
    with pytest.raises(ClosedError):
        wire.receive(seconds=10)
    sending.join()
    wire.close()


def test_a_message_that_is_none_of_ours() -> None:
    here, there = socket.socketpair()
    with here, there:
        here.sendall(struct.pack("!I", 5) + b"{not}")
        with pytest.raises(ValueError):
            Wire(there).receive(seconds=1)
        here.sendall(b"\xff\xff\xff\xff")
        with pytest.raises(ValueError, match="4294967295 bytes"):
            Wire(there).receive(seconds=1)


def test_half_a_message_is_late() -> None:
    here, there = socket.socketpair()
    with here, there:
        here.sendall(pack("a whole message")[:9])
        start = time.monotonic()
        with pytest.raises(TimeoutError):
            Wire(there).receive(seconds=0.1)
        assert time.monotonic() - start < PATIENCE


def test_what_is_not_plain_is_not_sent() -> None:
    with pytest.raises(TypeError):
        pack({"array": np.zeros(3)})


@settings(max_examples=settings.default.max_examples // 2)
@given(
    st.lists(
        arrays.arrays(
            st.sampled_from([np.uint8, np.int32, np.float32]),
            arrays.array_shapes(min_dims=0, max_dims=4, min_side=0, max_side=40),
        ),
        max_size=6,
    )
)
def test_arrays_lie_apart(written: list[np.ndarray]) -> None:
    shared = nameless_file()
    writer, reader = SharedMemory(shared), SharedMemory(os.dup(shared))
    for _ in range(2):
        writer.clear()
        places = [writer.write(array) for array in written]
        for place, array in zip(places, written, strict=True):
            read = reader.read(place)
            assert read.dtype == array.dtype and read.shape == array.shape
            assert read.tobytes() == array.tobytes()
    writer.close()
    writer.close()
    reader.close()


@pytest.mark.parametrize("place", [[0, "|u1", [1 << 40]], [1 << 62, "|u1", [1]], [0, "|O", [1]]])
def test_an_array_that_is_not_there(place: list[object]) -> None:
    shared = SharedMemory(nameless_file())
    shared.write(np.zeros(10, np.uint8))
    with pytest.raises(ValueError):
        shared.read(place)
    shared.close()


def test_a_writer_that_shrinks_its_memory_does_not_end_the_reader() -> None:
    """Whoever maps a file that the other side shrinks gets SIGBUS: this is its own process."""
    code = (
        "import os, numpy as np\n"
        "from inhabit.envs.host.wire import SharedMemory, nameless_file\n"
        "shared = nameless_file()\n"
        "writer, reader = SharedMemory(shared), SharedMemory(os.dup(shared))\n"
        "place = writer.write(np.ones(1 << 20, np.uint8))\n"
        "assert reader.read(place).all()\n"
        "try:\n    os.ftruncate(shared, 0)\n"
        "except PermissionError as error:\n    print(error)\n"
        "assert reader.read(place).all()\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0 and "not permitted" in done.stdout


def test_a_writer_that_claims_an_endless_file_is_refused() -> None:
    shared = nameless_file()
    reader = SharedMemory(shared)
    os.ftruncate(shared, 1 << 50)
    with pytest.raises(ValueError, match="at most"):
        reader.read([0, "|u1", [1 << 50]])
    reader.close()


@given(text=st.text(), verb=st.text(), arguments=st.lists(st.text()))
def test_actions_there_and_back(text: str, verb: str, arguments: list[str]) -> None:
    action = Action(text, verb, tuple(arguments))
    back = to_action(from_action(action))
    assert (back.text, back.verb, back.arguments) == (text, verb, tuple(arguments))


@given(
    reason=st.none() | st.sampled_from(Reason),
    feedback=st.text(),
    met=st.integers(0, 9),
    over=st.booleans(),
)
def test_outcomes_there_and_back(
    reason: Reason | None, feedback: str, met: int, over: bool
) -> None:
    outcome = Outcome(reason, feedback, met, 9, over, cost=met * 2)
    assert to_outcome(from_outcome(outcome)) == outcome


def test_observations_without_pictures_there_and_back() -> None:
    shared = SharedMemory(nameless_file())
    seen = Observation("nothing to see", clips=(Clip(np.zeros((0, 2, 2, 3), np.uint8)),))
    back = to_observation(from_observation(seen, shared), shared)
    assert back.text == seen.text and back.rgb is back.depth is back.instances is None
    assert back.clips[0].frames.shape == (0, 2, 2, 3) and back.names == ()
    shared.close()
