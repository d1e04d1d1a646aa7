"""What must hold of every mesh, measured from its triangles alone."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from inhabit.envs.simulators.render.mesh import Mesh


def assert_sound(mesh: Mesh) -> None:
    """Finite, of the promised types, indices in range, normals of length one."""
    assert mesh.vertices.dtype == mesh.normals.dtype == np.float32
    assert mesh.faces.dtype == np.int32
    assert mesh.materials.dtype == np.int16
    assert mesh.vertices.shape == mesh.normals.shape == (len(mesh.vertices), 3)
    assert mesh.faces.shape == (len(mesh.materials), 3)
    assert np.isfinite(mesh.vertices).all()
    np.testing.assert_allclose(np.linalg.norm(mesh.normals, axis=1), 1, atol=1e-3)
    assert mesh.faces.min() >= 0
    assert mesh.faces.max() < len(mesh.vertices)
    assert mesh.materials.min() >= 0
    assert mesh.materials.max() < len(mesh.palette)


def open_edges(mesh: Mesh) -> int:
    """Edges that no other face runs along the other way: 0 if all parts are watertight."""
    place = np.round(mesh.vertices * 1e5).astype(np.int64)
    _, index = np.unique(place, axis=0, return_inverse=True)
    corners = index.reshape(-1)[mesh.faces]
    start, end = corners.ravel(), np.roll(corners, -1, axis=1).ravel()
    real = start != end
    many = int(corners.max()) + 1
    there, back = start[real] * many + end[real], end[real] * many + start[real]
    edges = np.concatenate([there, back])
    sign = np.concatenate([np.ones(len(there), np.int64), -np.ones(len(back), np.int64)])
    _, inverse = np.unique(edges, return_inverse=True)
    balance = np.bincount(inverse.reshape(-1), weights=sign)
    return int(np.abs(balance).sum())


def outward(mesh: Mesh) -> NDArray[np.float64]:
    """(F, 3), each face's direction by its winding, as long as twice its area."""
    a, b, c = (mesh.vertices[mesh.faces[:, i]].astype(np.float64) for i in range(3))
    direction: NDArray[np.float64] = np.cross(c - a, b - a)
    return direction


def volume(mesh: Mesh) -> float:
    """Enclosed by its faces, cubic metres; negative if they are wound inward."""
    corner = mesh.vertices[mesh.faces[:, 0]].astype(np.float64)
    return float(np.einsum("ij,ij->", corner, outward(mesh)) / 6)


def agreement(mesh: Mesh) -> NDArray[np.float64]:
    """(F,), the cosine between each face and the mean of its corners' normals."""
    face = outward(mesh)
    shading = mesh.normals[mesh.faces].mean(axis=1)
    length = np.linalg.norm(face, axis=1) * np.linalg.norm(shading, axis=1)
    cosine = np.einsum("ij,ij->i", face, shading) / np.maximum(length, 1e-30)
    return np.where(np.linalg.norm(face, axis=1) > 1e-12, cosine, 1.0)


def first_hit(mesh: Mesh, origin: tuple[float, float, float], axis: int) -> float:
    """How far one gets from a point against an axis (towards its minus) before a face: metres."""
    direction = -np.eye(3)[axis]
    a, b, c = (mesh.vertices[mesh.faces[:, i]].astype(np.float64) for i in range(3))
    p = np.cross(direction, c - a)
    determinant = np.einsum("ij,ij->i", b - a, p)
    ahead = np.abs(determinant) > 1e-15
    inverse = 1 / np.where(ahead, determinant, 1.0)
    t = np.asarray(origin) - a
    u = np.einsum("ij,ij->i", t, p) * inverse
    q = np.cross(t, b - a)
    v = (q @ direction) * inverse
    far = np.einsum("ij,ij->i", c - a, q) * inverse
    hit = ahead & (u >= 0) & (v >= 0) & (u + v <= 1) & (far > 0)
    return float(far[hit].min()) if hit.any() else np.inf
