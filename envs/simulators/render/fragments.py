"""The pieces of surface in an image: each is coloured once."""

from __future__ import annotations

from math import sqrt
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from inhabit.envs.simulators.render.camera import Projection
from inhabit.envs.simulators.render.kernel import Array, Scratch, inlined, kernel, part, single
from inhabit.envs.simulators.render.pack import Pack
from inhabit.envs.simulators.render.raster import VisibilityBuffer

BLOCK = 512
"""Fragments that are worked on together. The size is a constant so that LLVM sees that the rows of
a block do not overlap, and uses vector instructions."""


class Fragments(NamedTuple):
    """A pixel has one fragment for each different surface in it."""

    pixel: NDArray[np.int32]
    """Pixel of each fragment, (K,): row times width plus column, ascending."""
    weight: NDArray[np.float32]
    """Part of the pixel that each fragment fills, (K,), above 0 and up to 1."""
    face: NDArray[np.int32]
    """Index of each fragment's face, (K,)."""
    point: NDArray[np.float32]
    """Position of each fragment in the world, (3, K or more), metres."""
    normal: NDArray[np.float32]
    """Normals, (3, K or more), unit length, smooth, on the viewer's side."""
    every: bool
    """Whether there is exactly one for each pixel, so that fragment k is that of pixel k."""


def fragments(
    surface: VisibilityBuffer, pack: Pack, view: Projection, samples: int, scratch: Scratch
) -> Fragments:
    """Find the fragments of an image.

    Args:
        surface: seen with `samples` times the image's columns and rows.
        pack: the bodies.
        view: of the image.
        samples: per side of a pixel.
        scratch: the result lies in it.
    """
    most = view.height * view.width * samples * samples
    pixel = scratch.array("fragments.pixel", most, dtype=np.int32)
    face = scratch.array("fragments.face", most, dtype=np.int32)
    weight = scratch.array("fragments.weight", most)
    point = scratch.array("fragments.point", 3, most)
    if samples == 1:
        count = gather_whole(
            *(*surface, view.origin, view.axes, view.focal), *(pixel, weight, face, point)
        )
    else:
        count = gather(
            *surface,
            *(pack.surfaces.owners, pack.surfaces.materials, pack.surfaces.planes),
            view.origin,
            view.axes,
            view.focal,
            samples,
            *(pixel, weight, face, point),
        )
    pixel, weight, face = pixel[:count], weight[:count], face[:count]
    normal = scratch.array("fragments.normal", 3, most)
    smooth_normals(
        *(pack.triangles.vertices, pack.triangles.faces),
        *(pack.surfaces.normals, pack.surfaces.planes, pack.surfaces.flat),
        *(view.origin, face, point, normal),
    )
    every = samples == 1 and count == most
    return Fragments(pixel, weight, face, point, normal, every)


@kernel
@single
def gather_whole(
    nearness: Array,
    faces: Array,
    origin: Array,
    axes: Array,
    focal: float,
    pixel: Array,
    weight: Array,
    face: Array,
    point: Array,
) -> int:
    """One fragment for each pixel that sees a surface; returns their number."""
    height, width = nearness.shape
    block, rays = np.empty((4, BLOCK), np.float32), np.empty((1, BLOCK), np.float32)
    pixels = np.float32(focal)
    middle = 0.5 * np.float32(width - 1)
    count = 0
    for row in range(height):
        y = (0.5 * np.float32(height - 1) - np.float32(row)) / pixels
        for start in range(0, width, BLOCK):
            size = min(BLOCK, width - start)
            near, seen = nearness[row, start : start + size], faces[row, start : start + size]
            for k in range(size):
                block[3, k] = 1.0 / near[k]
            for k in range(size):
                rays[0, k] = (np.float32(start + k) - middle) / pixels
            for d in range(3):
                ahead, right = np.float32(axes[2, d]), np.float32(axes[0, d])
                up, eye = np.float32(axes[1, d]), np.float32(origin[d])
                for k in range(size):
                    block[d, k] = eye + block[3, k] * (ahead + rays[0, k] * right + y * up)
            nothing = 0
            for k in range(size):
                nothing += seen[k] < 0
            if nothing == 0:
                line = face[count : count + size]
                for k in range(size):
                    line[k] = seen[k]
                line = pixel[count : count + size]
                for k in range(size):
                    line[k] = row * width + start + k
                for d in range(3):
                    places = point[d, count : count + size]
                    for k in range(size):
                        places[k] = block[d, k]
                count += size
                continue
            for k in range(size):
                if seen[k] >= 0:
                    face[count], pixel[count] = seen[k], row * width + start + k
                    for d in range(3):
                        point[d, count] = block[d, k]
                    count += 1
    for k in range(count):
        weight[k] = 1.0
    return count


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

    Nearness is linear in the image on a plane, so its mean belongs to the mean place.
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
            point[0, count] = (left + 0.5 * (samples - 1)) * number
            point[1, count] = (top + 0.5 * (samples - 1)) * number
            point[2, count] = total
            count += 1
        for k in range(first, count):
            x = (point[0, k] / weight[k] - 0.5 * (width * samples - 1)) / (focal * samples)
            y = (0.5 * (height * samples - 1) - point[1, k] / weight[k]) / (focal * samples)
            z = weight[k] / point[2, k]
            pixel[k] = index
            weight[k] /= number
            for d in range(3):
                ray = axes[2, d] + x * axes[0, d] + y * axes[1, d]
                point[d, k] = origin[d] + z * ray
    return count


@part
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
                and abs(near * weight[k] - point[2, k]) < 0.05 * point[2, k]
            ):
                k += 1
            if k == count:
                face[k], weight[k] = f, 0.0
                point[0, k], point[1, k], point[2, k] = 0.0, 0.0, 0.0
                count += 1
            weight[k] += 1.0
            point[0, k] += j
            point[1, k] += i
            point[2, k] += near
    return count


@kernel
@single
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
    """Interpolate the corners' normals and turn them to the viewer's side.

    Neighbours in a row are mostly of one face: what hangs on the face alone is computed once.
    """
    block = np.empty((7, BLOCK), np.float32)
    ox, oy, oz = np.float32(origin[0]), np.float32(origin[1]), np.float32(origin[2])
    for start in range(0, len(face), BLOCK):
        size = min(BLOCK, len(face) - start)
        curved = False
        seen = face[start : start + size]
        for k in range(size):
            f = np.uint32(seen[k])
            block[3, k], block[4, k], block[5, k] = planes[f, 0], planes[f, 1], planes[f, 2]
            curved = curved or not flat[f]
        for d in range(3):
            line = point[d, start : start + size]
            for k in range(size):
                block[d, k] = line[k]
        for k in range(size):
            x, y, z = block[0, k] - ox, block[1, k] - oy, block[2, k] - oz
            away = block[3, k] * x + block[4, k] * y + block[5, k] * z > 0.0
            block[6, k] = -1.0 if away else 1.0
        for d in range(3):
            line = normal[d, start : start + size]
            for k in range(size):
                line[k] = block[6, k] * block[3 + d, k]
        if curved:
            bend(vertices, faces, normals, flat, face, block, start, size, normal)


@inlined
@single
def bend(
    vertices: Array,
    faces: Array,
    normals: Array,
    flat: Array,
    face: Array,
    block: Array,
    start: int,
    size: int,
    normal: Array,
) -> None:
    """Interpolate the normals of a block's fragments on faces that are not flat.

    `block` holds their points, the faces' normals, and the side from which each is seen.
    """
    last = np.uint32(0xFFFFFFFF)
    rows = np.empty((3, 3), np.float32)
    gx = gy = gz = ax = ay = az = 0.0
    ux = uy = uz = vx = vy = vz = area = 0.0
    for k in range(size):
        f = np.uint32(face[start + k])
        if flat[f]:
            continue
        if f != last:
            last = f
            a, b, c = np.uint32(faces[f, 0]), np.uint32(faces[f, 1]), np.uint32(faces[f, 2])
            for d in range(3):
                rows[0, d], rows[1, d], rows[2, d] = normals[a, d], normals[b, d], normals[c, d]
            gx, gy, gz = block[3, k], block[4, k], block[5, k]
            ax, ay, az = vertices[a, 0], vertices[a, 1], vertices[a, 2]
            ux, uy, uz = vertices[b, 0] - ax, vertices[b, 1] - ay, vertices[b, 2] - az
            vx, vy, vz = vertices[c, 0] - ax, vertices[c, 1] - ay, vertices[c, 2] - az
            area = (uy * vz - uz * vy) * gx + (uz * vx - ux * vz) * gy + (ux * vy - uy * vx) * gz
        wx, wy, wz = block[0, k] - ax, block[1, k] - ay, block[2, k] - az
        t = (wy * vz - wz * vy) * gx + (wz * vx - wx * vz) * gy + (wx * vy - wy * vx) * gz
        s = (uy * wz - uz * wy) * gx + (uz * wx - ux * wz) * gy + (ux * wy - uy * wx) * gz
        t = min(max(t / area, 0.0), 1.0)
        s = min(max(s / area, 0.0), 1.0 - t)
        r = 1.0 - t - s
        nx = rows[0, 0] * r + rows[1, 0] * t + rows[2, 0] * s
        ny = rows[0, 1] * r + rows[1, 1] * t + rows[2, 1] * s
        nz = rows[0, 2] * r + rows[1, 2] * t + rows[2, 2] * s
        if (block[6, k] < 0.0) == (gx * nx + gy * ny + gz * nz > 0.0):
            nx, ny, nz = -nx, -ny, -nz
        length = sqrt(nx * nx + ny * ny + nz * nz) + 1e-12
        normal[0, start + k] = nx / length
        normal[1, start + k] = ny / length
        normal[2, start + k] = nz / length
