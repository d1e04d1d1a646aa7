"""Random requests, mostly senseless: there is always a valid answer, and never an exception."""

from __future__ import annotations

import json
import math
import random
import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import pytest
from ai2thor.controller import Controller

from inhabit.envs.simulators.household.actions import ACTIONS
from inhabit.envs.simulators.household.actions.table import REFUSED
from inhabit.envs.simulators.household.launcher import executable
from inhabit.envs.simulators.household.simulator import Simulator
from inhabit.envs.simulators.household.wire.packing import Json
from inhabit.envs.simulators.household.wire.session import ClientSession

Step = Mapping[str, Any]


KINDS: Sequence[Callable[[random.Random, Sequence[str]], Any]] = [
    lambda draw, ids: draw.choice(ids),
    lambda draw, ids: draw.uniform(-3, 3),
    lambda draw, ids: draw.randrange(-5, 400),
    lambda draw, ids: draw.random() < 0.5,
    lambda draw, ids: None,
    lambda draw, ids: draw.choice(["Mug", "", "{0}", "a" * 5000]),
    lambda draw, ids: draw.choice([float("nan"), float("inf"), 1e30, 1e-30, -1]),
    lambda draw, ids: {"x": draw.uniform(-3, 3), "y": 0.9, "z": draw.uniform(-3, 3)},
    lambda draw, ids: [value(draw, ids) for _ in range(draw.randrange(3))],
    lambda draw, ids: {"objectName": "Mug", "position": value(draw, ids), "rotation": 3},
]


def value(draw: random.Random, ids: Sequence[str]) -> Any:
    return draw.choice(KINDS)(draw, ids)


def requests(ids: Callable[[], Sequence[str]], number: int, seed: int) -> Iterator[dict[str, Any]]:
    """Actions with arguments of their own names, and mostly of senseless values.

    Args:
        ids: the objects that there are now.
        number: of actions.
        seed: of the choice.
    """
    draw = random.Random(f"fuzz {seed}")
    takes = {name: sorted(action.names) for name, action in ACTIONS.items()}
    takes |= {name: ["objectId", "position"] for name in REFUSED}
    takes |= {"Reset": ["sceneName"], "Initialize": ["gridSize", "fieldOfView", "width"]}
    every = sorted({name for names in takes.values() for name in names})
    for _ in range(number):
        known = ids()
        name = draw.choice(sorted(takes))
        request: dict[str, Any] = {"action": name}
        for argument in takes[name]:
            if draw.random() < 0.75:
                request[argument] = value(draw, known)
            if argument.endswith("bjectId") and draw.random() < 0.6:
                request[argument] = draw.choice(known)
            if argument == "forceAction":
                request[argument] = draw.random() < 0.8
        if draw.random() < 0.1:
            request[draw.choice(every)] = value(draw, known)
        yield request


@pytest.mark.parametrize(
    ("number", "seed"),
    [(100, 0), *(pytest.param(2000, seed, marks=pytest.mark.slow) for seed in range(1, 6))],
)
def test_whatever_is_asked_there_is_a_valid_answer(number: int, seed: int) -> None:
    simulator = Simulator("FloorPlan1", width=32, height=32)
    session = ClientSession(simulator, Json())
    session.first()
    done = 0
    for i, request in enumerate(requests(lambda: list(simulator.things), number, seed)):
        message = session.answer({**request, "sequenceId": i})
        (metadata,) = json.loads(message.metadata)["agents"]
        assert metadata["lastActionSuccess"] == (metadata["errorMessage"] == ""), request
        assert all(math.isfinite(v) for v in metadata["agent"]["position"].values()), request
        assert metadata["objects"] is not None
        done += metadata["lastActionSuccess"]
    assert done > 0.1 * number


@pytest.mark.slow
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("seed", range(10, 15))
def test_the_client_gets_a_valid_event_whatever_is_asked(seed: int) -> None:
    controller = Controller(
        local_executable_path=shlex.quote(str(executable())),
        x_display=":0",
        server_timeout=None,
        scene=f"FloorPlan{(1, 201, 301, 401, 20)[seed % 5]}",
        width=64,
        height=48,
    )

    def known() -> list[str]:
        return [one["objectId"] for one in controller.last_event.metadata["objects"]] or ["none"]

    process = controller.server.unity_proc
    done = 0
    for request in requests(known, 2000, seed):
        # The client itself raises for requests that THOR can't dispatch; the event is there then.
        try:
            controller.step(request)
        except ValueError as error:
            assert controller.last_event.metadata["errorCode"], (request, error)
        metadata = controller.last_event.metadata
        assert metadata["lastAction"] == request["action"], request
        assert metadata["lastActionSuccess"] == (metadata["errorMessage"] == ""), request
        assert all(math.isfinite(v) for v in metadata["agent"]["position"].values()), request
        assert controller.last_event.frame.shape[2] == 3
        assert process.poll() is None, request
        done += metadata["lastActionSuccess"]
    controller.stop()
    assert done > 200
