"""Rooms to stand in."""

from __future__ import annotations

import numpy as np
import pytest
from render_primitives import UPRIGHT

from inhabit.envs.simulators.render.camera import Camera
from inhabit.envs.simulators.render.shell import shell
from inhabit.envs.simulators.render.stage import Frame, Stage

KINDS = ("kitchen", "living_room", "bedroom", "bathroom")
LOW, HIGH = (-2.0, 0.0, 1.0), (3.0, 2.5, 5.0)


def look(kind: str, seed: int, yaw: float, pitch: float) -> Frame:
    stage = Stage()
    for name, mesh in shell(LOW, HIGH, kind, seed):
        stage.put(name, mesh, UPRIGHT, (0, 0, 0), casts_shadow=False)
    return stage.render(Camera((0.5, 1.5, 3.0), yaw, pitch, 90), 60, 60)


@pytest.mark.parametrize("kind", KINDS)
def test_a_room_is_closed_all_around(kind: str) -> None:
    for yaw in range(0, 360, 60):
        for pitch in (-70, 0, 70):
            frame = look(kind, 0, yaw, pitch)
            assert (frame.ids >= 0).all()


def test_walls_stand_where_the_corners_say() -> None:
    for yaw, distance, name in (
        (0, 2.0, "wall_north"),
        (90, 2.5, "wall_east"),
        (180, 2.0, "wall_south"),
        (270, 2.5, "wall_west"),
    ):
        frame = look("bedroom", 1, yaw, 0)
        assert frame.names[frame.ids[30, 30]] == name
        assert frame.depth[30, 30] == pytest.approx(distance, abs=1e-3)
    down, up = look("bedroom", 1, 0, 90), look("bedroom", 1, 0, -90)
    assert down.names[down.ids[30, 30]] == "floor"
    assert down.depth[30, 30] == pytest.approx(1.5, abs=1e-3)
    assert up.names[up.ids[30, 30]] == "ceiling"
    assert up.depth[30, 30] == pytest.approx(1.0, abs=1e-3)


def test_normals_face_into_the_room() -> None:
    middle = (np.array(LOW) + HIGH) / 2
    for kind in KINDS:
        for name, mesh in shell(LOW, HIGH, kind, 3):
            corners = mesh.vertices[mesh.faces].astype(float)
            a, b, c = corners[:, 0], corners[:, 1], corners[:, 2]
            outward = np.cross(c - a, b - a)
            assert (np.einsum("fd,fd->f", outward, mesh.normals[mesh.faces[:, 0]]) > 0).all(), name
            large = np.linalg.norm(outward, axis=1) > 3.0
            inward = np.einsum("fd,fd->f", mesh.normals[mesh.faces[:, 0]], middle - a)
            assert (inward[large] > 0).all(), name


@pytest.mark.parametrize("kind", KINDS)
def test_the_seed_decides_the_look(kind: str) -> None:
    pictures = [look(kind, seed, 20, 20).rgb.tobytes() for seed in (0, 0, *range(1, 9))]
    assert pictures[0] == pictures[1]
    assert len(set(pictures)) >= 4


def test_mistakes_are_named() -> None:
    with pytest.raises(ValueError, match="living_room"):
        shell(LOW, HIGH, "garage", 0)
    with pytest.raises(ValueError, match="low < high"):
        shell(HIGH, LOW, "kitchen", 0)
