"""Light, shadow, glow and patterns: what the colours must show."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray
from render_primitives import GREY, UPRIGHT, box, furnished, sheet, sphere, turned

from inhabit.envs.simulators.render.camera import Camera
from inhabit.envs.simulators.render.mesh import Material, Pattern
from inhabit.envs.simulators.render.stage import Light, Stage

DOWN = Camera((0, 4, 0), 0, 90, 60)
"""Looks at the floor from 4 m above: 120 pixels show 4.62 m, x to the right and z up."""


def brightness(
    stage: Stage, camera: Camera = DOWN, size: int = 120, **options: bool
) -> NDArray[np.float64]:
    return stage.render(camera, size, size, **options).rgb.astype(float).mean(axis=-1)


def floor_at(picture: NDArray[np.float64], x: float, z: float) -> float:
    """What `DOWN` shows of the floor at that place."""
    scale = len(picture) / (8 * np.tan(np.radians(30)))
    middle = (len(picture) - 1) / 2
    return float(picture[round(middle - z * scale), round(middle + x * scale)])


def lit_floor(light: Light, caster: tuple[float, float, float] | None = (0.0, 1.0, 0.0)) -> Stage:
    """A floor under a lamp, and perhaps a plate of 40 cm between them."""
    stage = Stage()
    stage.put("floor", sheet(8, 8), UPRIGHT, (0, 0, 0), casts_shadow=False)
    if caster is not None:
        stage.put("plate", box((0.4, 0.02, 0.4)), UPRIGHT, caster)
    stage.light(light)
    return stage


def test_shadow_lies_where_the_lamp_does_not_reach() -> None:
    # From (2, 3, 0) over a plate at height 1, x -0.2..0.2, to the floor: x -1.3..-0.7.
    light = Light((2.0, 3.0, 0.0), size=0.01)
    with_shadow = brightness(lit_floor(light))
    without = brightness(lit_floor(light), shadow=False)
    bare = brightness(lit_floor(light, None))
    assert floor_at(with_shadow, -1.0, 0.0) < floor_at(without, -1.0, 0.0) - 25
    assert floor_at(without, -1.0, 0.0) == pytest.approx(floor_at(bare, -1.0, 0.0), abs=1)
    for x, z in ((-1.5, 0.0), (-0.5, 0.0), (-1.0, 0.5), (-1.0, -0.5), (1.0, 0.0)):
        assert floor_at(with_shadow, x, z) == pytest.approx(floor_at(bare, x, z), abs=3)


def test_shadows_edge_is_where_geometry_puts_it() -> None:
    picture = brightness(lit_floor(Light((2.0, 3.0, 0.0), size=0.01)), size=360)
    bare = brightness(lit_floor(Light((2.0, 3.0, 0.0), size=0.01), None), size=360)
    scale, middle = 360 / (8 * np.tan(np.radians(30))), 179.5
    row = (bare - picture)[180]
    dark = np.flatnonzero(row > 0.5 * row[: int(middle)].max())
    left = (dark[dark < middle].min() - middle) / scale
    assert left == pytest.approx(-1.3, abs=0.04)


@pytest.mark.parametrize("change", ["larger lamp", "higher plate"])
def test_edges_grow_softer(change: str) -> None:
    def width(size: float, height: float) -> int:
        stage = lit_floor(Light((0.0, 3.0, 0.0), size=size), (0.0, height, 0.0))
        under = Camera((0, height - 0.1, 0), 0, 90, 120, near=0.01)
        row = brightness(stage, under, size=300)[150]
        darkest, brightest = row.min(), row.max()
        between = (row > darkest + 0.15 * (brightest - darkest)) & (
            row < brightest - 0.15 * (brightest - darkest)
        )
        return int(between.sum())

    if change == "larger lamp":
        assert width(0.2, 1.0) > width(0.05, 1.0)
    else:
        assert width(0.1, 1.4) > width(0.1, 0.6)


@pytest.mark.parametrize("place", [(0.0, 3.0, 0.0), (1.5, 2.0, 1.0), (-3.0, 6.0, -2.0)])
def test_a_convex_body_does_not_shadow_itself(place: tuple[float, float, float]) -> None:
    stage = Stage()
    stage.put("box", box((1, 1, 1)), turned(25, 10), (0, 0, 3))
    stage.put("ball", sphere(0.5), UPRIGHT, (-1.5, 0, 3.2))
    stage.light(Light(place))
    camera = Camera((0, 1.2, 0.2), -12, 20, 70)
    shadowed = stage.render(camera, 150, 150).rgb.astype(int)
    ball = stage.render(camera, 150, 150, rgb=False).ids == 1
    stage.remove("ball")
    alone = stage.render(camera, 150, 150)
    lit = stage.render(camera, 150, 150, shadow=False).rgb.astype(int)
    on_box = alone.ids == 0
    differ = np.abs(alone.rgb.astype(int) - lit).max(axis=-1)
    assert (differ[on_box] > 6).mean() < 0.02
    assert ball.any() and shadowed.any()


def test_glow_shines_in_the_dark() -> None:
    dark = Light((0.0, 5.0, 0.0), strength=0.0)
    values = {}
    for glow in (0.0, 1.0):
        stage = Stage()
        stage.put(
            "screen", box((1, 1, 0.1), Material((0.3, 0.7, 0.4), glow=glow)), UPRIGHT, (0, 0, 2)
        )
        stage.light(dark, sky=(0.02, 0.02, 0.02), ground=(0.02, 0.02, 0.02))
        values[glow] = stage.render(Camera((0, 0, 0), 0, 0), 40, 40).rgb[20, 20].astype(int)
    assert values[0.0].max() < 60
    assert values[1.0].max() > 150
    assert values[1.0][1] > values[1.0][0] + 40


def test_what_shines_spills_light_over_its_edge() -> None:
    def wall(glow: float) -> NDArray[np.float64]:
        stage = Stage()
        stage.put("wall", sheet(9, 9), turned(0, -90), (0, 0, 2))
        bulb = Material((1.0, 0.9, 0.6), glow=glow)
        stage.put("bulb", box((0.4, 0.4, 0.1), bulb), UPRIGHT, (0, 0, 1.9))
        stage.light(Light((0.0, 4.0, 0.0)), sky=(0.2, 0.2, 0.2), ground=(0.2, 0.2, 0.2))
        return brightness(stage, Camera((0, 0, 0), 0, 0), 100)

    more = wall(1.0) - wall(0.0)
    middle, edge = 49, 49 + round(0.2 / 1.85 * 50 / np.tan(np.radians(30)))
    assert more[middle, edge + 2] > 8
    assert more[middle, edge + 2] > more[middle, edge + 6] > more[middle, edge + 12]
    assert abs(more[middle, 97]) <= 1


def test_a_lamp_brightens_its_surroundings_until_it_is_switched_off() -> None:
    stage = lit_floor(Light((0.0, 5.0, 0.0), strength=0.3), None)
    before = brightness(stage)
    stage.lamp("desk", Light((1.0, 0.5, 1.0), strength=0.8, reach=0.5))
    on = brightness(stage)
    assert floor_at(on, 1.0, 1.0) > floor_at(before, 1.0, 1.0) + 20
    assert floor_at(on, -1.0, -1.0) < floor_at(before, -1.0, -1.0) + 12
    stage.lamp("desk", None)
    stage.lamp("never was", None)
    np.testing.assert_array_equal(brightness(stage), before)


def test_light_follows_the_lamps_colour_and_the_angle() -> None:
    stage = Stage()
    stage.put("box", box((1, 1, 1)), UPRIGHT, (0, 0, 3))
    stage.light(Light((0.0, 5.0, 2.9), color=(1.0, 0.4, 0.1)), sky=(0.1, 0.1, 0.1))
    picture = stage.render(Camera((0, 1.5, 1), 0, 30), 100, 100)
    rows = np.flatnonzero(picture.ids[:, 50] == 0)
    top, front = picture.rgb[rows[3], 50].astype(int), picture.rgb[rows[-3], 50].astype(int)
    assert top.sum() > front.sum() + 30
    assert top[0] > top[1] > top[2]


def test_gloss_shows_the_lamp() -> None:
    def brightest(gloss: float) -> int:
        stage = Stage()
        stage.put("ball", sphere(0.5, Material((0.3, 0.05, 0.05), gloss=gloss)), UPRIGHT, (0, 0, 2))
        stage.light(Light((1.0, 3.0, 0.0)))
        frame = stage.render(Camera((0, 0, 0), 0, 0), 80, 80)
        return int(frame.rgb[frame.ids == 0].min(axis=-1).max())

    assert brightest(0.8) > brightest(0.0) + 60


def test_corners_are_darker_than_open_floor() -> None:
    stage = Stage()
    stage.put("floor", sheet(6, 6), UPRIGHT, (0, 0, 0), casts_shadow=False)
    stage.put("wall", sheet(6, 6), turned(0, -90), (0, 0, 1.5), casts_shadow=False)
    stage.light(Light((0.0, 3.0, -2.0), strength=0.0))
    picture = brightness(stage, Camera((0, 1.6, -1.2), 0, 35, 60), 100)
    ids = stage.render(Camera((0, 1.6, -1.2), 0, 35, 60), 100, 100, rgb=False).ids
    edge = np.flatnonzero(ids[:, 50] == 0)[0]
    assert picture[edge + 2, 50] < picture[95, 50] - 8


@pytest.mark.parametrize("pattern", list(Pattern))
def test_a_pattern_has_both_colours_and_stays_with_its_body(pattern: Pattern) -> None:
    material = Material((0.8, 0.5, 0.3), pattern, (0.2, 0.3, 0.5), scale=0.1, gloss=0.0)

    def picture(yaw: float, place: tuple[float, float, float]) -> NDArray[np.uint8]:
        stage = Stage()
        stage.put("sheet", sheet(1.2, 1.2, material), turned(yaw), place)
        stage.light(Light((0, 5, 0), strength=0.0), sky=(1, 1, 1), ground=(1, 1, 1))
        camera = Camera((place[0], place[1] + 0.3, place[2]), yaw, 90, 60)
        return stage.render(camera, 240, 240).rgb

    here = picture(0.0, (0.0, 0.0, 0.0)).astype(int)
    there = picture(40.0, (1.3, -0.4, 2.2)).astype(int)
    assert (np.abs(here - there).max(axis=-1) > 12).mean() < 0.02
    varied = here.std(axis=(0, 1)).max()
    assert varied == 0 if pattern is Pattern.PLAIN else varied > 0.4
    assert here[..., 0].max() > 150


@pytest.mark.parametrize("pattern", [Pattern.TILE, Pattern.STRIPES, Pattern.PLANKS, Pattern.FABRIC])
def test_what_is_finer_than_a_pixel_does_not_flicker(pattern: Pattern) -> None:
    material = Material((0.9, 0.9, 0.9), pattern, (0.1, 0.1, 0.1), scale=0.004, gloss=0.0)
    stage = Stage()
    stage.put("sheet", sheet(8, 8, material), UPRIGHT, (0, 0, 0))
    stage.light(Light((0, 5, 0), strength=0.0), sky=(1, 1, 1), ground=(1, 1, 1))
    assert brightness(stage)[10:-10, 10:-10].std() < 14


def test_dark_grain_in_light_wood_stays_dark_beside_the_sky() -> None:
    stage = Stage()
    white, black = (1.0, 1.0, 1.0), (0.0, 0.0, 0.0)
    stage.put("board", sheet(4, 4, Material(white, Pattern.WOOD, black, 1.0)), UPRIGHT, (0, 0, 0))
    frame = stage.render(DOWN, 400, 400)
    assert frame.ids.min() < 0
    assert frame.rgb[frame.ids == 0].max() < 250


@pytest.mark.slow
def test_more_samples_smooth_the_edges_only() -> None:
    stage, camera = furnished(), Camera((0.2, 1.5, 0), 5, 20)
    rough = stage.render(camera, 100, 80)
    smooth = stage.render(camera, 100, 80, samples=2)
    differ = np.abs(rough.rgb.astype(int) - smooth.rgb.astype(int)).max(axis=-1) > 16
    assert 0 < differ.mean() < 0.1
    edge = np.zeros_like(differ)
    edge[:, 1:] |= rough.ids[:, 1:] != rough.ids[:, :-1]
    edge[1:] |= rough.ids[1:] != rough.ids[:-1]
    near = edge.copy()
    for axis in (0, 1):
        for shift in (-1, 1):
            near |= np.roll(edge, shift, axis)
    # What is left are the edges of shadows and of faces of one body.
    assert differ[near].sum() > 0.5 * differ.sum()


def test_a_degenerate_triangle_harms_nothing() -> None:
    stage = furnished()
    before = stage.render(Camera((0.2, 1.5, 0), 5, 20), 60, 60).rgb
    flat = box((0.5, 0.0, 0.0), GREY)
    stage.put("line", flat, UPRIGHT, (0, 1.0, 1.5))
    np.testing.assert_array_equal(
        stage.render(Camera((0.2, 1.5, 0), 5, 20), 60, 60, shadow=True).rgb, before
    )
