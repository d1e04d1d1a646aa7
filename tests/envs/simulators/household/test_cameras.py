"""Third-party cameras and the view from above, through AI2-THOR's own client."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from sampling import every

from inhabit.envs.alfred.thor.client import Client, start
from inhabit.envs.simulators.household.simulator import Simulator


@pytest.fixture(scope="module", params=every(2, ["fifo", "wsgi"]))
def controller(request: pytest.FixtureRequest) -> Iterator[Client]:
    client = start(
        "embedded",
        scene="FloorPlan10",
        wire=request.param,
        width=200,
        height=150,
        renderDepthImage=True,
        renderInstanceSegmentation=True,
    )
    yield client
    client.stop()


def ids_in(event: Any, camera: int) -> set[str]:
    return {id for id, mask in event.third_party_instance_masks[camera].items() if mask.any()}


def test_the_view_from_above_shows_the_whole_room(controller: Client) -> None:
    controller.reset("FloorPlan10")
    above = controller.step("GetMapViewCameraProperties").metadata["actionReturn"]
    event = controller.step("AddThirdPartyCamera", **above)
    assert event.metadata["lastActionSuccess"]
    assert event.third_party_camera_frames[0].shape[:2] == (150, 200)
    assert len(event.third_party_depth_frames) == 1
    tables = {o["objectId"] for o in event.metadata["objects"] if o["objectType"] == "Fridge"}
    assert tables <= ids_in(event, 0)
    told = event.metadata["thirdPartyCameras"][0]
    assert told["orthographic"] and told["position"] == pytest.approx(above["position"])


def test_a_camera_stays_where_it_is_and_can_be_moved(controller: Client) -> None:
    controller.reset("FloorPlan10")
    pose = {"position": {"x": 0.0, "y": 1.5, "z": 0.0}, "rotation": {"x": 20, "y": 90, "z": 0}}
    first = controller.step("AddThirdPartyCamera", **pose, fieldOfView=60)
    still = controller.step("RotateRight")
    assert np.array_equal(
        first.third_party_camera_frames[0], still.third_party_camera_frames[0]
    ) and not np.array_equal(first.frame, still.frame)
    turned = controller.step(
        "UpdateThirdPartyCamera", thirdPartyCameraId=0, rotation={"x": 20, "y": 270, "z": 0}
    )
    assert not np.array_equal(
        first.third_party_camera_frames[0], turned.third_party_camera_frames[0]
    )
    assert not controller.reset("FloorPlan10").third_party_camera_frames


def test_a_view_without_perspective_keeps_its_size() -> None:
    simulator = Simulator("FloorPlan7")
    flat = {"position": {"y": 2.0}, "orthographic": True, "orthographicSize": 3.0}
    assert simulator.act({"action": "AddThirdPartyCamera", **flat}).success
    again = {"action": "UpdateThirdPartyCamera", "orthographic": True, "position": {"y": 1.0}}
    assert simulator.act(again).success
    assert simulator.cameras[0].half_height == 3.0


@pytest.mark.parametrize(
    ("action", "arguments", "words"),
    [
        ("UpdateThirdPartyCamera", {"thirdPartyCameraId": 3}, "no third-party camera 3"),
        (
            "AddThirdPartyCamera",
            {"position": {"y": 1}, "rotation": {"x": 0, "y": 0, "z": 15}},
            "Roll is not supported",
        ),
        ("AddThirdPartyCamera", {"position": {"y": 1}, "fieldOfView": 0}, "fov"),
        ("AddThirdPartyCamera", {"position": {"y": 1}, "orthographic": True}, "orthographicSize"),
    ],
)
def test_what_a_camera_can_t_do_is_said(
    controller: Client, action: str, arguments: dict[str, Any], words: str
) -> None:
    event = controller.step(action, **arguments)
    assert not event.metadata["lastActionSuccess"]
    assert words in event.metadata["errorMessage"]
    assert controller.last_event.metadata["thirdPartyCameras"] == []


def test_a_look_back_leaves_the_room_that_was_left_as_it_was() -> None:
    simulator = Simulator("FloorPlan7")
    then = simulator.now()
    added = simulator.act(
        {
            "action": "AddThirdPartyCamera",
            "position": {"x": 0, "y": 1.5, "z": 0},
            "rotation": {"x": 0, "y": 0, "z": 0},
        }
    )
    assert added.success, added.message
    token = simulator.act({"action": "Snapshot"}).value
    simulator.act({"action": "Reset", "sceneName": "FloorPlan301"})
    with simulator.back(then):
        assert simulator.scene.startswith("FloorPlan7") and not simulator.cameras
    assert simulator.scene.startswith("FloorPlan301")
    simulator.act({"action": "Restore", "snapshot": token})
    assert len(simulator.cameras) == 1
