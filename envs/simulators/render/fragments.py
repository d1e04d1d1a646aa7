"""The pieces of surface in a picture: each is coloured once."""

from __future__ import annotations

from math import sqrt
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from inhabit.envs.simulators.render.camera import Projection
from inhabit.envs.simulators.render.kernel import Array, kernel
from inhabit.envs.simulators.render.pack import Pack
from inhabit.envs.simulators.render.raster import VisibilityBuffer


class Fragments(NamedTuple):
    """A pixel has one fragment for each different surface in it."""

    pixel: NDArray[np.int32]
    """(K,), row times width plus column, ascending."""
    weight: NDArray[np.float32]
    """(K,), which part of the pixel it fills, above 0 and up to 1."""
    face: NDArray[np.int32]
    """(K,)."""
    point: NDArray[np.float32]
    """(K, 3), in the world."""
    normal: NDArray[np.float32]
    """(K, 3), unit length, smooth, on the viewer's side."""


def fragments(surface: VisibilityBuffer, pack: Pack, view: Projection, samples: int) -> Fragments:
    """Find the fragments of a picture.

    Args:
        surface: seen with `samples` times the picture's columns and rows.
        pack: the bodies.
        view: of the picture.
        samples: per side of a pixel.
    """
    most = view.height * view.width * samples * samples
    pixel, face = np.empty(most, np.int32), np.empty(most, np.int32)
    weight, point = np.empty(most, np.float32), np.empty((most, 3), np.float32)
    count = gather(
        *surface,
        *(pack.surfaces.owners, pack.surfaces.materials, pack.surfaces.planes),
        view.origin,
        view.axes,
        view.focal,
        samples,
        *(pixel, weight, face, point),
    )
    pixel, weight, face, point = pixel[:count], weight[:count], face[:count], point[:count]
    normal = np.empty((count, 3), np.float32)
    smooth_normals(
        *(pack.triangles.vertices, pack.triangles.faces),
        *(pack.surfaces.normals, pack.surfaces.planes, pack.surfaces.flat),
        *(view.origin, face, point, normal),
    )
    return Fragments(pixel, weight, face, point, normal)


@kernel
def gather(
    nearness: Array,
    faces: Array,
    owners: Array,
    materials: Array,
    planes: Array,
    origin: Array,
    axes: Array,
    focal: float,
    samples: int,
    pixel: Array,
    weight: Array,
    face: Array,
    point: Array,
) -> int:
    """Join each pixel's samples that lie on one surface; returns the number of fragments.

    Nearness is linear in the picture on a plane, so its mean belongs to the mean place.
    """
    height, width = nearness.shape[0] // samples, nearness.shape[1] // samples
    number = samples * samples
    count = 0
    for index in range(height * width):
        top, left = index // width * samples, index % width * samples
        f, total, pure = faces[top, left], 0.0, True
        for i in range(top, top + samples):
            for j in range(left, left + samples):
                pure = pure and faces[i, j] == f
                total += nearness[i, j]
        first = count
        if not pure:
            count = split(
                nearness,
                faces,
                owners,
                materials,
                planes,
                top,
                left,
                samples,
                weight,
                face,
                point,
                count,
            )
        elif f >= 0:
            face[count], weight[count] = f, number
            point[count, 0] = (left + 0.5 * (samples - 1)) * number
            point[count, 1] = (top + 0.5 * (samples - 1)) * number
            point[count, 2] = total
            count += 1
        for k in range(first, count):
            x = (point[k, 0] / weight[k] - 0.5 * (width * samples - 1)) / (focal * samples)
            y = (0.5 * (height * samples - 1) - point[k, 1] / weight[k]) / (focal * samples)
            z = weight[k] / point[k, 2]
            pixel[k] = index
            weight[k] /= number
            for d in range(3):
                ray = axes[2, d] + x * axes[0, d] + y * axes[1, d]
                point[k, d] = origin[d] + z * ray
    return count


@kernel
def split(
    nearness: Array,
    faces: Array,
    owners: Array,
    materials: Array,
    planes: Array,
    top: int,
    left: int,
    samples: int,
    weight: Array,
    face: Array,
    point: Array,
    count: int,
) -> int:
    """Sort the samples of one pixel by surface; sums their column, row and nearness in `point`.

    A surface is one body's, of one material, and bends little.
    """
    first = count
    for i in range(top, top + samples):
        for j in range(left, left + samples):
            f, near = faces[i, j], nearness[i, j]
            if f < 0:
                continue
            k = first
            while k < count and not (
                owners[f] == owners[face[k]]
                and materials[f] == materials[face[k]]
                and planes[f, 0] * planes[face[k], 0]
                + planes[f, 1] * planes[face[k], 1]
                + planes[f, 2] * planes[face[k], 2]
                > 0.95
                and abs(near * weight[k] - point[k, 2]) < 0.05 * point[k, 2]
            ):
                k += 1
            if k == count:
                face[k], weight[k] = f, 0.0
                point[k, 0], point[k, 1], point[k, 2] = 0.0, 0.0, 0.0
                count += 1
            weight[k] += 1.0
            point[k, 0] += j
            point[k, 1] += i
            point[k, 2] += near
    return count


@kernel
def smooth_normals(
    vertices: Array,
    faces: Array,
    normals: Array,
    planes: Array,
    flat: Array,
    origin: Array,
    face: Array,
    point: Array,
    normal: Array,
) -> None:
    """Interpolate the corners' normals and turn them to the viewer's side."""
    for k in range(len(face)):
        f = face[k]
        x, y, z = point[k, 0] - origin[0], point[k, 1] - origin[1], point[k, 2] - origin[2]
        gx, gy, gz = planes[f, 0], planes[f, 1], planes[f, 2]
        away = gx * x + gy * y + gz * z > 0.0
        if flat[f]:
            side = -1.0 if away else 1.0
            normal[k, 0], normal[k, 1], normal[k, 2] = side * gx, side * gy, side * gz
            continue
        a, b, c = faces[f, 0], faces[f, 1], faces[f, 2]
        ax, ay, az = vertices[a, 0], vertices[a, 1], vertices[a, 2]
        ux, uy, uz = vertices[b, 0] - ax, vertices[b, 1] - ay, vertices[b, 2] - az
        vx, vy, vz = vertices[c, 0] - ax, vertices[c, 1] - ay, vertices[c, 2] - az
        wx, wy, wz = point[k, 0] - ax, point[k, 1] - ay, point[k, 2] - az
        area = (uy * vz - uz * vy) * gx + (uz * vx - ux * vz) * gy + (ux * vy - uy * vx) * gz
        t = ((wy * vz - wz * vy) * gx + (wz * vx - wx * vz) * gy + (wx * vy - wy * vx) * gz) / area
        s = ((uy * wz - uz * wy) * gx + (uz * wx - ux * wz) * gy + (ux * wy - uy * wx) * gz) / area
        t = min(max(t, 0.0), 1.0)
        s = min(max(s, 0.0), 1.0 - t)
        r = 1.0 - t - s
        nx = normals[a, 0] * r + normals[b, 0] * t + normals[c, 0] * s
        ny = normals[a, 1] * r + normals[b, 1] * t + normals[c, 1] * s
        nz = normals[a, 2] * r + normals[b, 2] * t + normals[c, 2] * s
        if away == (gx * nx + gy * ny + gz * nz > 0.0):
            nx, ny, nz = -nx, -ny, -nz
        length = sqrt(nx * nx + ny * ny + nz * nz) + 1e-12
        normal[k, 0], normal[k, 1], normal[k, 2] = nx / length, ny / length, nz / length
