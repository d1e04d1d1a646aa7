"""All bodies of a stage as a few flat arrays, which is how the kernels want them."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from inhabit.envs.simulators.render.mesh import Material, Mesh
from inhabit.envs.simulators.render.raster import Triangles


class Body:
    """A mesh somewhere in the world."""

    def __init__(self, mesh: Mesh, casts_shadow: bool) -> None:
        self.mesh = mesh
        self.casts_shadow = casts_shadow

    def place(self, rotation: NDArray[np.float64], position: NDArray[np.float64]) -> None:
        """Stand somewhere.

        Args:
            rotation: (3, 3), from the object's own axes to the world's.
            position: (3,), metres.
        """
        self.rotation, self.position = rotation, position
        turn = rotation.T.astype(np.float32)
        self.vertices = self.mesh.vertices @ turn + position.astype(np.float32)
        self.normals = self.mesh.normals @ turn
        self.planes = self.mesh.planes @ turn
        self.low, self.high = self.vertices.min(axis=0), self.vertices.max(axis=0)


class Surfaces(NamedTuple):
    """What shading needs beside the triangles themselves."""

    normals: NDArray[np.float32]
    """Normals of the vertices, (V, 3), in the world."""
    planes: NDArray[np.float32]
    """Normals of the faces, (F, 3), unit length."""
    flat: NDArray[np.bool_]
    """Whether the corners' normals are the face's own, (F,)."""
    materials: NDArray[np.int32]
    """Material of each face, (F,), rows of `paints`."""
    owners: NDArray[np.int32]
    """Body of each face, (F,)."""
    rotations: NDArray[np.float32]
    """Rotations from the bodies' own axes to the world's, (N, 3, 3)."""
    positions: NDArray[np.float32]
    """Positions of the bodies, (N, 3), metres."""
    grains: NDArray[np.int32]
    """Longest of each body's own axes, (N,): the way that wood grows."""
    patterns: NDArray[np.int32]
    """Pattern of each material, (M,), values of `Pattern`."""
    paints: NDArray[np.float32]
    """Materials, (M, 9): linear colour, linear second colour, scale in metres, gloss, glow."""


class Pack:
    """Arrays over bodies in a fixed order; a body can be moved in place."""

    def __init__(self, bodies: Iterable[Body]) -> None:
        self._bodies = tuple(bodies)
        meshes = [body.mesh for body in self._bodies]
        vertex = np.cumsum([0] + [len(mesh.vertices) for mesh in meshes])
        face = np.cumsum([0] + [len(mesh.faces) for mesh in meshes])
        spans = np.stack((vertex[:-1], vertex[1:], face[:-1], face[1:]), axis=1)
        self.triangles = Triangles(
            np.zeros((vertex[-1], 3), np.float32),
            stack([m.faces + start for m, start in zip(meshes, vertex, strict=False)], np.int32, 3),
            spans.astype(np.int32),
        )
        self.owners = np.repeat(np.arange(len(meshes)), np.diff(face)).astype(np.int32)
        """Body of each face, (F,)."""
        self.low = np.zeros((len(meshes), 3), np.float32)
        self.high = np.zeros((len(meshes), 3), np.float32)
        self.casts_shadow = np.array([body.casts_shadow for body in self._bodies], np.bool_)
        for index, body in enumerate(self._bodies):
            self._place(index, body)

    @cached_property
    def surfaces(self) -> Surfaces:
        """Only images with colours need them."""
        bodies, faces = self._bodies, len(self.triangles.faces)
        palette = {m: 0 for body in bodies for m in body.mesh.palette}
        palette = {material: row for row, material in enumerate(palette)}
        rows = [
            np.array([palette[m] for m in body.mesh.palette])[body.mesh.materials]
            for body in bodies
        ]
        found = Surfaces(
            normals=np.zeros((len(self.triangles.vertices), 3), np.float32),
            planes=np.zeros((faces, 3), np.float32),
            flat=stack([body.mesh.flat for body in bodies], np.bool_),
            materials=stack(rows, np.int32),
            owners=self.owners,
            rotations=np.zeros((len(bodies), 3, 3), np.float32),
            positions=np.zeros((len(bodies), 3), np.float32),
            grains=np.array([body.mesh.grain for body in bodies], np.int32),
            patterns=np.array([m.pattern.value for m in palette], np.int32),
            paints=np.array([paint(m) for m in palette], np.float32).reshape(-1, 9),
        )
        for index, body in enumerate(bodies):
            self._face(index, body, found)
        return found

    def place(self, index: int, body: Body) -> None:
        """Write down where a body stands now."""
        self._place(index, body)
        if "surfaces" in vars(self):
            self._face(index, body, self.surfaces)

    def _place(self, index: int, body: Body) -> None:
        start, end, _, _ = self.triangles.spans[index]
        self.triangles.vertices[start:end] = body.vertices
        self.low[index], self.high[index] = body.low, body.high

    def _face(self, index: int, body: Body, surfaces: Surfaces) -> None:
        start, end, first, last = self.triangles.spans[index]
        surfaces.normals[start:end] = body.normals
        surfaces.planes[first:last] = body.planes
        surfaces.rotations[index] = body.rotation
        surfaces.positions[index] = body.position


def stack(parts: list[NDArray], dtype: type, columns: int | None = None) -> NDArray:  # type: ignore[type-arg]
    """The parts as one contiguous array, also when there are none."""
    shape = (0,) if columns is None else (0, columns)
    return np.ascontiguousarray(np.concatenate([np.zeros(shape, dtype), *parts]).astype(dtype))


def paint(material: Material) -> NDArray[np.float64]:
    """A material as a row of `Surfaces.paints`."""
    first = linear(material.color)
    second = first * 0.6 if material.second is None else linear(material.second)
    return np.concatenate((first, second, (material.scale, material.gloss, material.glow)))


def linear(color: tuple[float, float, float]) -> NDArray[np.float64]:
    """Light that an sRGB colour stands for (IEC 61966-2-1)."""
    c = np.asarray(color, np.float64)
    return np.where(c <= 0.04045, c / 12.92, ((c + 0.055) / 1.055) ** 2.4)
