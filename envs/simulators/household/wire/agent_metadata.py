"""AI2-THOR's metadata of an event, without its objects."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from inhabit.envs.simulators.household.geometry.boxes import xyz
from inhabit.envs.simulators.household.simulator import ActionResult, Simulator
from inhabit.envs.simulators.household.state import robot_arm

_TICK = 0.02
"""Seconds of simulated time per action: Unity's physics step."""


def describe(
    simulator: Simulator, request: Mapping[str, Any], reply: ActionResult, actions: int
) -> dict[str, Any]:
    """All of `event.metadata` but `objects` and `colors`.

    Args:
        simulator: after the action.
        request: the action.
        reply: the result.
        actions: how many there have been since the scene was loaded.
    """
    settings = simulator.settings
    action = request["action"]
    blocked = not reply.success and str(action).startswith("Move")
    return {
        "agentId": 0,
        **standing(simulator),
        "heldObjectPose": _hand(simulator),
        "inventoryObjects": _inventory(simulator),
        "arm": _arm(simulator),
        "cameraOrthSize": 0.0,
        "screenWidth": settings.width,
        "screenHeight": settings.height,
        "depthFormat": "Meters",
        "colors": None,
        "thirdPartyCameras": [camera.metadata(i) for i, camera in enumerate(simulator.cameras)],
        "sceneBounds": simulator.bounds,
        "isSceneAtRest": simulator.at_rest,
        "currentTime": actions * _TICK,
        "lastAction": action,
        **result(reply),
        "collided": blocked,
        "collidedObjects": [],
        "segmentedObjectIds": [],
    }


def standing(simulator: Simulator) -> dict[str, Any]:
    """The agent's pose."""
    agent = simulator.agent
    return {
        "agent": {
            "name": "agent",
            "position": {"x": agent.x, "y": agent.y, "z": agent.z},
            "rotation": {"x": 0.0, "y": agent.rotation, "z": 0.0},
            "cameraHorizon": agent.horizon,
            "isStanding": agent.standing,
            "inHighFrictionArea": False,
        },
        "fov": simulator.settings.field_of_view,
        "cameraPosition": xyz(np.array(agent.eye)),
        "sceneName": simulator.scene,
    }


def result(reply: ActionResult) -> dict[str, Any]:
    """The result of an action."""
    return {
        "lastActionSuccess": reply.success,
        "errorMessage": reply.message,
        "errorCode": reply.code or None,
        "actionReturn": reply.value,
    }


def _arm(simulator: Simulator) -> Mapping[str, Any] | None:
    agent = simulator.agent
    if agent.robot is None:
        return None
    return robot_arm.metadata(agent.robot, agent.base(), simulator.near_hand())


def _hand(simulator: Simulator) -> Mapping[str, Any]:
    """The pose of the hand, empty or not, in the world's and the camera's frame."""
    agent = simulator.agent
    place, _ = agent.hand()
    camera = agent.camera(simulator.settings.field_of_view)
    return {
        "position": xyz(place),
        "rotation": {"x": 0.0, "y": agent.rotation, "z": 0.0},
        "localPosition": xyz(np.array(camera.axes) @ (place - np.array(agent.eye))),
        "localRotation": {"x": -agent.horizon, "y": 0.0, "z": 0.0},
    }


def _inventory(simulator: Simulator) -> list[Mapping[str, str]]:
    held = simulator.agent.held
    if held is None:
        return []
    return [{"objectId": held, "objectType": simulator.things[held].kind}]
