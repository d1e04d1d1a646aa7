"""Shapes made by hand, and what rays from a camera would hit: independent of the renderer."""

from __future__ import annotations

from dataclasses import dataclass
from math import radians, tan

import numpy as np
from numpy.typing import NDArray

from inhabit.envs.simulators.render.camera import Camera
from inhabit.envs.simulators.render.mesh import Material, Mesh
from inhabit.envs.simulators.render.stage import Stage

GREY = Material((0.6, 0.6, 0.6))
UPRIGHT = np.eye(3)


def box(size: tuple[float, float, float], material: Material = GREY) -> Mesh:
    """A box about the origin."""
    vertices, normals, faces = [], [], []
    for axis in range(3):
        for sign in (-1.0, 1.0):
            normal, first = np.zeros(3), np.zeros(3)
            normal[axis], first[(axis + 1) % 3] = sign, 1.0
            second = np.cross(normal, first)
            start = len(vertices)
            for a, b in ((-1, -1), (1, -1), (1, 1), (-1, 1)):
                vertices.append((normal + a * first + b * second) * np.array(size) / 2)
                normals.append(normal)
            faces += [(start, start + 2, start + 1), (start, start + 3, start + 2)]
    return mesh(vertices, normals, faces, material)


def sphere(radius: float, material: Material = GREY, steps: int = 64) -> Mesh:
    """A ball about the origin, of triangles."""
    polar, around = np.meshgrid(
        np.linspace(0, np.pi, steps + 1), np.linspace(0, 2 * np.pi, 2 * steps + 1), indexing="ij"
    )
    normals = np.stack(
        (np.sin(polar) * np.cos(around), np.cos(polar), np.sin(polar) * np.sin(around)), axis=-1
    ).reshape(-1, 3)
    row = 2 * steps + 1
    faces = []
    for i in range(steps):
        for j in range(2 * steps):
            a = i * row + j
            faces += [(a, a + row, a + 1), (a + 1, a + row, a + row + 1)]
    return mesh(normals * radius, normals, faces, material)


def sheet(width: float, depth: float, material: Material = GREY, cells: int = 1) -> Mesh:
    """A level rectangle about the origin that faces up, cut into that many cells a side."""
    x, z = np.meshgrid(np.linspace(-0.5, 0.5, cells + 1), np.linspace(-0.5, 0.5, cells + 1))
    vertices = np.stack((x * width, np.zeros_like(x), z * depth), axis=-1).reshape(-1, 3)
    faces = []
    for i in range(cells):
        for j in range(cells):
            a = i * (cells + 1) + j
            b, c, d = a + 1, a + cells + 1, a + cells + 2
            faces += [(a, b, d), (a, d, c)] if (i + j) % 2 else [(a, b, c), (b, d, c)]
    return mesh(vertices, np.tile((0.0, 1.0, 0.0), (len(vertices), 1)), faces, material)


def mesh(vertices: object, normals: object, faces: list[tuple[int, int, int]], m: Material) -> Mesh:
    return Mesh(
        np.array(vertices, np.float32),
        np.array(normals, np.float32),
        np.array(faces, np.int32),
        np.zeros(len(faces), np.int16),
        (m,),
    )


def turned(yaw: float, pitch: float = 0.0) -> NDArray[np.float64]:
    """A rotation about y, after one about x."""
    a, b = radians(yaw), radians(pitch)
    about_y = [[np.cos(a), 0, np.sin(a)], [0, 1, 0], [-np.sin(a), 0, np.cos(a)]]
    about_x = [[1, 0, 0], [0, np.cos(b), -np.sin(b)], [0, np.sin(b), np.cos(b)]]
    return np.array(about_y) @ np.array(about_x)


def rays(camera: Camera, width: int, height: int) -> NDArray[np.float64]:
    """(H, W, 3): a ray through each pixel's centre, one metre long along the optical axis."""
    yaw, pitch = radians(camera.yaw), radians(camera.pitch)
    half = tan(radians(camera.fov) / 2)
    x = (np.arange(width) + 0.5 - width / 2) / (height / 2) * half
    y = (height / 2 - np.arange(height) - 0.5) / (height / 2) * half
    x, y = np.meshgrid(x, y)
    # In the camera's frame, then pitched down about x, then turned about y.
    down_y = y * np.cos(pitch) - np.sin(pitch)
    down_z = y * np.sin(pitch) + np.cos(pitch)
    return np.stack(
        (
            x * np.cos(yaw) + down_z * np.sin(yaw),
            down_y,
            -x * np.sin(yaw) + down_z * np.cos(yaw),
        ),
        axis=-1,
    )


@dataclass(frozen=True)
class Block:
    """A box for ray casting and for the stage."""

    size: tuple[float, float, float]
    rotation: NDArray[np.float64]
    position: tuple[float, float, float]

    def depth(self, camera: Camera, ray: NDArray[np.float64]) -> NDArray[np.float64]:
        """Where each ray enters (or leaves, from inside); inf where it misses."""
        origin = (np.array(camera.position) - self.position) @ self.rotation
        direction = ray @ self.rotation
        with np.errstate(divide="ignore", invalid="ignore"):
            one = (-np.array(self.size) / 2 - origin) / direction
            other = (np.array(self.size) / 2 - origin) / direction
        enter = np.minimum(one, other).max(axis=-1)
        leave = np.maximum(one, other).min(axis=-1)
        hit = np.where(enter >= camera.near, enter, leave)
        return np.where((enter <= leave) & (hit >= camera.near) & (hit < camera.far), hit, np.inf)

    def stand(self, stage: Stage, name: str) -> None:
        stage.put(name, box(self.size), self.rotation, self.position)


def furnish(stage: Stage, *, ball: bool = True) -> None:
    """A floor and a table under a lamp, perhaps with a ball on it: a room for many tests."""
    red = Material((0.8, 0.2, 0.1), gloss=0.6)
    stage.put("floor", sheet(6, 6), UPRIGHT, (0, 0, 0), casts_shadow=False)
    stage.put("table", box((1.2, 0.06, 0.8)), UPRIGHT, (0, 0.75, 2))
    if ball:
        stage.put("ball", sphere(0.15, red, 16), UPRIGHT, (0, 0.93, 2))


def furnished() -> Stage:
    """A stage with all of `furnish`."""
    stage = Stage()
    furnish(stage)
    return stage
