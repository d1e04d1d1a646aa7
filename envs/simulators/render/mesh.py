"""Meshes of triangles, and their materials."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from enum import Enum
from functools import cached_property
from typing import Literal

import numpy as np
from numpy.typing import NDArray

Color = tuple[float, float, float]
"""sRGB, each channel 0..1."""


class Pattern(Enum):
    """How `color` and `second` are laid over a surface. Drawn in the object's own metres."""

    PLAIN = 0
    WOOD = 1
    TILE = 2
    MARBLE = 3
    FABRIC = 4
    BRUSHED = 5
    SPECKLE = 6
    STRIPES = 7
    PAINT = 8
    PLANKS = 9
    """Boards of wood, `scale` wide, along the longest side."""


@dataclass(frozen=True, slots=True)
class Material:
    """A surface, described rather than photographed."""

    color: Color
    pattern: Pattern = Pattern.PLAIN
    second: Color | None = None
    """The pattern's other colour, such as the joints between tiles. None: a shade of `color`."""
    scale: float = 0.1
    """Metres from one repetition of the pattern to the next."""
    gloss: float = 0.1
    """Gloss: 0 is chalk, 1 a mirror's highlight."""
    glow: float = 0.0
    """Emission: 0 is lit by lamps only; 1 shows its own colour in any light."""


Vector = tuple[float, float, float]
Axis = Literal["x", "y", "z"]
AXES: tuple[Axis, Axis, Axis] = ("x", "y", "z")


@dataclass(frozen=True, eq=False)  # without slots, which would leave no place for what is cached
class Mesh:
    """Surfaces of one object. Never changed in place: every transform gives a new one."""

    vertices: NDArray[np.float32]
    """Vertices, (V, 3), metres."""
    normals: NDArray[np.float32]
    """Normals, (V, 3), unit length, outward. A hard edge has its vertices twice."""
    faces: NDArray[np.int32]
    """Corners of each face, (F, 3), indices of `vertices`."""
    materials: NDArray[np.int16]
    """Material of each face, (F,), indices of `palette`."""
    palette: tuple[Material, ...]

    @cached_property
    def planes(self) -> NDArray[np.float32]:
        """(F, 3), the unit normals of the triangles. Upwards for one that has no area."""
        a, b, c = self.vertices.astype(np.float64)[self.faces].transpose(1, 0, 2)
        normals = np.cross(c - a, b - a)
        length = np.linalg.norm(normals, axis=1, keepdims=True)
        upward = np.array((0.0, 1.0, 0.0))
        unit = np.where(length > 0.0, normals / np.where(length > 0.0, length, 1.0), upward)
        return unit.astype(np.float32)

    @cached_property
    def flat(self) -> NDArray[np.bool_]:
        """(F,), whether a triangle is shaded as its plane is: its corners have the same normals."""
        corners = np.einsum("fkd,fd->fk", self.normals[self.faces], self.planes)
        return np.asarray((corners > 0.9999).all(axis=1))

    @cached_property
    def grain(self) -> int:
        """The longest of its own axes: the way that wood grows."""
        return int(np.argmax(np.ptp(self.vertices, axis=0)))

    @property
    def bounds(self) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """The lowest and the highest corner of the box around it, each (3,)."""
        return self.vertices.min(axis=0), self.vertices.max(axis=0)

    def shifted(self, x: float = 0.0, y: float = 0.0, z: float = 0.0) -> Mesh:
        """Moved by that many metres."""
        return replace(self, vertices=self.vertices + np.array((x, y, z), np.float32))

    def scaled(self, x: float, y: float, z: float) -> Mesh:
        """Stretched about the origin. A negative factor mirrors; none may be zero.

        Raises:
            ValueError: a factor is zero.
        """
        if 0.0 in (x, y, z):
            raise ValueError(f"Scale factors must not be zero; got {(x, y, z)}.")
        factors = np.array((x, y, z), np.float64)
        normals = self.normals / factors
        normals /= np.linalg.norm(normals, axis=1, keepdims=True)
        return replace(
            self,
            vertices=(self.vertices * factors).astype(np.float32),
            normals=normals.astype(np.float32),
            faces=self.faces if factors.prod() > 0 else self.faces[:, ::-1],
        )

    def turned(self, axis: Axis, degrees: float) -> Mesh:
        """Turned about an axis through the origin, in Unity's sense.

        Positive degrees carry z to x about y, y to z about x, and x to y about z.
        """
        angle = np.radians(degrees)
        first, second = {"x": (1, 2), "y": (2, 0), "z": (0, 1)}[axis]
        turn = np.eye(3)
        turn[first, first] = turn[second, second] = np.cos(angle)
        turn[second, first], turn[first, second] = np.sin(angle), -np.sin(angle)
        return replace(
            self,
            vertices=(self.vertices @ turn.T).astype(np.float32),
            normals=(self.normals @ turn.T).astype(np.float32),
        )

    def reordered(self, x: int, y: int, z: int) -> Mesh:
        """The mesh with other axes: the new x is the old axis number `x` (0, 1 or 2), and so on."""
        order = [x, y, z]
        even = (x, y, z) in ((0, 1, 2), (1, 2, 0), (2, 0, 1))
        return replace(
            self,
            vertices=np.ascontiguousarray(self.vertices[:, order]),
            normals=np.ascontiguousarray(self.normals[:, order]),
            faces=self.faces if even else self.faces[:, ::-1],
        )

    def along(self, axis: Axis) -> Mesh:
        """Laid so that what stood along y lies along `axis`, without being mirrored."""
        if axis == "x":
            return self.reordered(1, 2, 0)
        if axis == "z":
            return self.reordered(2, 0, 1)
        return self

    def part(self, faces: NDArray[np.bool_]) -> Mesh:
        """Some of its faces, chosen by a mask (F,)."""
        return replace(self, faces=self.faces[faces], materials=self.materials[faces])

    def fitted(self, size: Vector, *, like: Mesh | None = None) -> Mesh:
        """Moved and stretched so that it exactly fills a box centred at the origin.

        Args:
            size: of the box, metres. A flat mesh stays flat.
            like: fill the box with this mesh instead and take this one along, such as an opened
                thing with the closed one.
        """
        low, high = (corner.astype(np.float64) for corner in (like or self).bounds)
        x, y, z = (low + high) / 2
        sx, sy, sz = (
            want / have if have > 1e-9 else 1.0 for want, have in zip(size, high - low, strict=True)
        )
        return self.shifted(-x, -y, -z).scaled(sx, sy, sz)


def join(meshes: Iterable[Mesh]) -> Mesh:
    """Several meshes as one; equal materials are kept once.

    Raises:
        ValueError: there is nothing to join.
    """
    meshes = tuple(meshes)
    if not meshes:
        raise ValueError("Expected at least one mesh to join; got none.")
    palette = tuple(dict.fromkeys(m for mesh in meshes for m in mesh.palette))
    place = {material: index for index, material in enumerate(palette)}
    starts = np.cumsum([0] + [len(mesh.vertices) for mesh in meshes[:-1]])
    return Mesh(
        vertices=np.concatenate([mesh.vertices for mesh in meshes]),
        normals=np.concatenate([mesh.normals for mesh in meshes]),
        faces=np.concatenate([m.faces + s for m, s in zip(meshes, starts, strict=True)]).astype(
            np.int32
        ),
        materials=np.concatenate(
            [
                np.array([place[m] for m in mesh.palette], np.int16)[mesh.materials]
                for mesh in meshes
            ]
        ),
        palette=palette,
    )
