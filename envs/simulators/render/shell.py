"""The room around the furniture: floor, ceiling, walls and skirting."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from inhabit.envs.simulators.render.mesh import Color, Material, Mesh, Pattern, Vector, join
from inhabit.envs.simulators.render.stage import Light

SKIRTING_HEIGHT = 0.09
SKIRTING_DEPTH = 0.015
WAINSCOT_HEIGHT = 1.25


def _planks(color: Color, second: Color, width: float = 0.11) -> Material:
    return Material(color, Pattern.PLANKS, second, scale=width, gloss=0.35)


def _tiles(color: Color, joint: Color, side: float) -> Material:
    return Material(color, Pattern.TILE, joint, scale=side, gloss=0.45)


def _wall(color: Color) -> Material:
    return Material(color, Pattern.PAINT, gloss=0.04)


@dataclass(frozen=True, slots=True)
class _Style:
    floors: tuple[Material, ...]
    walls: tuple[Material, ...]
    wainscots: tuple[Material, ...] = ()
    """What covers the lower part of the walls; empty if they are painted down to the floor."""


OAK = _planks((0.66, 0.48, 0.31), (0.54, 0.37, 0.22))
HONEY = _planks((0.72, 0.50, 0.27), (0.60, 0.39, 0.19))
WALNUT = _planks((0.44, 0.29, 0.19), (0.34, 0.21, 0.13), 0.14)
CHERRY = _planks((0.50, 0.24, 0.14), (0.40, 0.17, 0.09))
ASH = _planks((0.72, 0.65, 0.55), (0.62, 0.55, 0.45), 0.16)
STONE = _tiles((0.72, 0.69, 0.63), (0.52, 0.50, 0.46), 0.40)
SLATE = _tiles((0.43, 0.45, 0.47), (0.30, 0.31, 0.33), 0.45)
TERRACOTTA = _tiles((0.68, 0.44, 0.32), (0.55, 0.42, 0.35), 0.30)
CREAM_TILE = _tiles((0.83, 0.80, 0.73), (0.62, 0.60, 0.55), 0.33)
WHITE_TILE = _tiles((0.88, 0.89, 0.89), (0.70, 0.71, 0.72), 0.15)
MINT_TILE = _tiles((0.72, 0.82, 0.78), (0.86, 0.88, 0.86), 0.15)
CARPET = Material((0.62, 0.57, 0.50), Pattern.FABRIC, scale=0.014, gloss=0.0)

WHITE = _wall((0.88, 0.87, 0.84))
CREAM = _wall((0.87, 0.82, 0.71))
SAND = _wall((0.78, 0.70, 0.58))
SAGE = _wall((0.66, 0.72, 0.62))
SKY = _wall((0.66, 0.75, 0.81))
CLAY = _wall((0.76, 0.58, 0.48))
DUSK = _wall((0.42, 0.46, 0.56))
LILAC = _wall((0.70, 0.66, 0.76))
TRIM = Material((0.93, 0.92, 0.90), gloss=0.25)
CEILING = Material((0.93, 0.92, 0.89), Pattern.PAINT, gloss=0.0)

STYLES: Mapping[str, _Style] = {
    "kitchen": _Style(
        (STONE, CREAM_TILE, SLATE, TERRACOTTA, OAK, HONEY), (CREAM, WHITE, SAND, SAGE, SKY)
    ),
    "living_room": _Style(
        (OAK, HONEY, WALNUT, CHERRY, ASH), (CREAM, WHITE, SAND, SAGE, CLAY, SKY, DUSK)
    ),
    "bedroom": _Style(
        (OAK, WALNUT, CHERRY, ASH, CARPET), (CREAM, SKY, LILAC, SAGE, DUSK, CLAY, SAND)
    ),
    "bathroom": _Style(
        (STONE, SLATE, CREAM_TILE, WHITE_TILE), (WHITE, SKY, SAGE, CREAM), (WHITE_TILE, MINT_TILE)
    ),
}


def shell(
    low: Sequence[float], high: Sequence[float], kind: str, seed: int
) -> list[tuple[str, Mesh]]:
    """Build an empty room to be seen from within.

    Its parts stand in the world's own frame, and enclose all light: put them on the stage with
    `casts_shadow=False`.

    Args:
        low: the corner with the lowest x, y, z inside the room, metres.
        high: the one with the highest.
        kind: "kitchen", "living_room", "bedroom" or "bathroom".
        seed: chooses the colours; equal seeds give equal rooms.

    Returns:
        Names ("floor", "ceiling", "wall_west", ...) with their meshes, always in the same order.

    Raises:
        ValueError: an unknown kind, or corners that enclose nothing.
    """
    if kind not in STYLES:
        raise ValueError(f"Unknown room type {kind!r}; known:  {', '.join(STYLES)}.")
    if not all(a < b for a, b in zip(low, high, strict=True)):
        raise ValueError(f"Expected low < high for the room's corners; got {low} and {high}.")
    style, rng = STYLES[kind], np.random.default_rng(seed)
    floor = style.floors[rng.integers(len(style.floors))]
    paint = style.walls[rng.integers(len(style.walls))]
    wainscot = style.wainscots[rng.integers(len(style.wainscots))] if style.wainscots else None
    (x0, y0, z0), (x1, y1, z1) = low, high
    parts = [
        ("floor", quad((x0, y0, z0), (0, 0, z1 - z0), (x1 - x0, 0, 0), floor)),
        ("ceiling", quad((x0, y1, z0), (x1 - x0, 0, 0), (0, 0, z1 - z0), CEILING)),
    ]
    sides = {
        "wall_west": ((x0, y0, z0), (0.0, 0.0, z1 - z0)),
        "wall_north": ((x0, y0, z1), (x1 - x0, 0.0, 0.0)),
        "wall_east": ((x1, y0, z1), (0.0, 0.0, z0 - z1)),
        "wall_south": ((x1, y0, z0), (x0 - x1, 0.0, 0.0)),
    }
    for name, (corner, along) in sides.items():
        parts.append((name, _side(corner, along, y1 - y0, paint, wainscot)))
    return parts


def lamp(
    low: Sequence[float],
    high: Sequence[float],
    color: Vector = (1.0, 0.96, 0.88),
    brightness: float = 1.0,
) -> Light:
    """The light of a room: above the middle of its ceiling, which lets it through.

    From there every corner is lit, and shadows fall outward and short as under a large lamp.

    Args:
        low: the corner with the lowest x, y, z inside the room, metres.
        high: the one with the highest.
        color: linear, each channel 0..1.
        brightness: 1 is a well lit room.
    """
    x, z = (low[0] + high[0]) / 2.0, (low[2] + high[2]) / 2.0
    widest = max(high[0] - low[0], high[2] - low[2])
    height = 0.4 * (high[1] - low[1]) + 0.1 * widest
    return Light(
        (x, high[1] + height, z), color, 1.35 * brightness, reach=high[1] - low[1] + height + widest
    )


def _side(
    corner: Vector, along: Vector, height: float, paint: Material, wainscot: Material | None
) -> Mesh:
    """A wall with its skirting, or tiled up to a trim."""
    x, y, z = corner
    if wainscot is None:
        return join(
            (quad(corner, (0.0, height, 0.0), along, paint), _rail(corner, along, SKIRTING_HEIGHT))
        )
    tiled = min(WAINSCOT_HEIGHT, height / 2)
    top = (x, y + tiled, z)
    return join(
        (
            quad(corner, (0.0, tiled, 0.0), along, wainscot),
            quad(top, (0.0, height - tiled, 0.0), along, paint),
            _rail(top, along, 0.03),
        )
    )


def _rail(corner: Vector, along: Vector, height: float) -> Mesh:
    """A strip of wood on a wall: its front, its top and its underside."""
    direction = np.array(along) / np.linalg.norm(along)
    inward = np.cross((0.0, 1.0, 0.0), direction) * SKIRTING_DEPTH
    front = tuple((np.array(corner) + inward).tolist())
    upper = (front[0], front[1] + height, front[2])
    back = tuple((-inward).tolist())
    return join(
        (
            quad(front, (0.0, height, 0.0), along, TRIM),
            quad(upper, back, along, TRIM),
            quad(front, along, back, TRIM),
        )
    )


def quad(corner: Vector, first: Vector, second: Vector, material: Material) -> Mesh:
    """A rectangle from a corner along two edges, facing along `cross(first, second)`."""
    a, u, v = np.array(corner), np.array(first), np.array(second)
    normal = np.cross(u, v)
    normal = normal / np.linalg.norm(normal)
    return Mesh(
        np.array((a, a + u, a + u + v, a + v), np.float32),
        np.tile(normal, (4, 1)).astype(np.float32),
        np.array(((0, 2, 1), (0, 3, 2)), np.int32),
        np.zeros(2, np.int16),
        (material,),
    )
