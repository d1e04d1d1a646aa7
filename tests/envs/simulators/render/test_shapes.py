from __future__ import annotations

import hashlib
import itertools
import json
import subprocess
import sys
from dataclasses import replace
from importlib.resources import files

import numpy as np
import pytest
from sampling import every
from surfaces import agreement, assert_sound, first_hit, open_edges, outward, volume

from inhabit.envs.simulators.render.mesh import Mesh, Vector
from inhabit.envs.simulators.render.shapes import FORMS, KINDS, Look, shape

PLAIN = Look()
OPENED_SIZE = {"Box", "Laptop"}
"""Their size is that of the opened thing, as in THOR's rooms."""
SCALES = (0.6, 1.0, 1.7)
LETS_ROOM = {*(("Shelf", scale) for scale in SCALES), ("Toilet", 1.7)}
"""A board at the bottom of its box; AI2-THOR's widest toilet is narrower than its box."""
MOST_TRIANGLES = 900
TRIANGLES_IN_A_ROOM = 25_000

LOOKS = {
    f"{kind} {name}".strip(): (kind, look)
    for kind in KINDS
    for name, look in [("", PLAIN), *FORMS[kind].looks]
}
every_look = pytest.mark.parametrize(("kind", "look"), every(6, LOOKS.values()), ids=LOOKS)


def made(kind: str, look: Look = PLAIN, seed: int = 1, scale: float = 1.0) -> Mesh:
    x, y, z = FORMS[kind].size
    return shape(kind, (x * scale, y * scale, z * scale), look, seed=seed)


@every_look
def test_every_object_is_sound_closed_and_light(kind: str, look: Look):
    for seed in (0, 3):
        mesh = made(kind, look, seed)
        assert_sound(mesh)
        assert open_edges(mesh) == 0
        assert volume(mesh) > 0
        assert np.quantile(agreement(mesh), 0.01) > 0
        assert len(mesh.faces) <= MOST_TRIANGLES


@pytest.mark.parametrize("kind", every(6, KINDS))
def test_every_object_fills_its_box(kind: str):
    look = Look(openness=1.0) if kind in OPENED_SIZE else PLAIN
    for scale in SCALES:
        low, high = made(kind, look, scale=scale).bounds
        half = np.array(FORMS[kind].size) * scale / 2
        assert (low >= -half - 1e-3).all()
        assert (high <= half + 1e-3).all()
        if (kind, scale) not in LETS_ROOM:
            assert (low <= -half + 1e-3).all()
            assert (high >= half - 1e-3).all()


@pytest.mark.parametrize("size", [(0.0, 0.0, 0.0), (0.0, 1.0, 1.0), (1.0, 0.0, 1.0)])
def test_what_is_as_flat_as_a_sheet_or_a_point_is_still_drawn(size: Vector):
    for kind in KINDS:
        for look in (PLAIN, Look(openness=1.0), Look(on=True)):
            assert np.isfinite(shape(kind, size, look, seed=0).vertices).all(), kind


@every_look
def test_nothing_but_what_opens_or_runs_leaves_its_box(kind: str, look: Look):
    if look.openness or look.on:
        return
    low, high = made(kind, look).bounds
    half = np.array(FORMS[kind].size) / 2
    assert (low >= -half - 1e-3).all()
    assert (high <= half + 1e-3).all()


@pytest.mark.parametrize(
    ("kind", "name"), [(kind, name) for kind, form in FORMS.items() for name, _ in form.looks]
)
def test_every_state_shows(kind: str, name: str):
    look = dict(FORMS[kind].looks)[name]
    assert print_of(made(kind, look)) != print_of(made(kind))


@pytest.mark.slow
def test_the_same_seed_gives_the_same_bytes_in_another_process():
    here = [print_of(made(kind, seed=5)) for kind in KINDS]
    script = (
        "import hashlib\n"
        "from inhabit.envs.simulators.render.shapes import FORMS, KINDS, shape\n"
        "for kind in KINDS:\n"
        "    mesh = shape(kind, FORMS[kind].size, seed=5)\n"
        "    body = [mesh.vertices, mesh.normals, mesh.faces, mesh.materials]\n"
        "    text = b''.join(part.tobytes() for part in body) + repr(mesh.palette).encode()\n"
        "    print(hashlib.sha256(text).hexdigest())\n"
    )
    there = subprocess.run(
        [sys.executable, "-c", script],
        check=True,
        capture_output=True,
        text=True,
        env={"PYTHONHASHSEED": "12345"},
    )
    assert there.stdout.split() == here


def print_of(mesh: Mesh) -> str:
    body = [mesh.vertices, mesh.normals, mesh.faces, mesh.materials]
    text = b"".join(part.tobytes() for part in body) + repr(mesh.palette).encode()
    return hashlib.sha256(text).hexdigest()


@pytest.mark.parametrize("kind", ["Mug", "Sofa", "Cabinet", "Book", "Painting", "HousePlant"])
def test_seeds_bring_variety(kind: str):
    assert len({print_of(made(kind, seed=seed)) for seed in range(12)}) >= 4


@pytest.mark.parametrize(
    ("kind", "look"),
    [
        ("Mug", Look(filled="coffee")),
        ("Fridge", Look(openness=1.0)),
        ("Cabinet", Look(openness=0.3)),
        ("Laptop", Look(openness=1.0, on=True)),
        ("HousePlant", Look(filled="water")),
        ("Book", Look(openness=1.0)),
        ("TissueBox", Look(used_up=True)),
    ],
)
def test_an_object_keeps_its_colours_when_its_state_changes(kind: str, look: Look):
    for seed in range(6):
        before, after = made(kind, seed=seed), made(kind, look, seed)
        areas = np.bincount(before.materials, np.linalg.norm(outward(before), axis=1))
        assert before.palette[int(areas.argmax())] in after.palette


def test_fitted_furniture_of_one_seed_matches():
    for seed in range(6):
        doors = set(made("Cabinet", seed=seed).palette)
        assert doors & set(made("Drawer", seed=seed).palette)
        assert doors & set(made("CounterTop", seed=seed).palette)


CAVITIES = [
    *((kind, 2, Look(openness=1.0)) for kind in ("Fridge", "Microwave", "Cabinet", "Safe")),
    *((kind, 1, Look(openness=1.0)) for kind in ("Box", "LaundryHamper")),
    *((kind, 1, PLAIN) for kind in ("Drawer", "Bowl", "Cup", "Mug", "Pot", "Pan", "Vase")),
    *((kind, 1, PLAIN) for kind in ("GarbageCan", "Sink", "SinkBasin", "Bathtub", "BathtubBasin")),
]


@pytest.mark.parametrize(("kind", "axis", "look"), CAVITIES)
def test_what_holds_things_is_hollow(kind: str, axis: int, look: Look):
    for seed in range(4):
        mesh = made(kind, look, seed)
        size = FORMS[kind].size
        # A little beside the centre, since a ray through a pole or an edge hits nothing for sure.
        origin = [0.013 * size[0], 0.17 * size[1] if kind != "Fridge" else 0.0, 0.011 * size[2]]
        origin[axis] = 5.0
        depth = first_hit(mesh, tuple(origin), axis) - (5.0 - size[axis] / 2)
        assert depth > 0.45 * size[axis]


@pytest.mark.parametrize("kind", ["Fridge", "Microwave", "Cabinet", "Safe"])
def test_what_is_closed_shows_its_front(kind: str):
    size = FORMS[kind].size
    depth = first_hit(made(kind), (0.013 * size[0], 0.1 * size[1], 5.0), 2) - (5.0 - size[2] / 2)
    assert depth < 0.2 * size[2]


@pytest.mark.parametrize("kind", ["Fridge", "Microwave", "Cabinet", "Safe", "ShowerDoor"])
def test_doors_swing_out_on_their_hinge(kind: str):
    half = np.array(FORMS[kind].size) / 2
    for hinge, side in (("left", 1), ("right", -1)):  # as one stands before it, left is +x
        opened = made(kind, Look(openness=1.0, hinge=hinge))
        ahead = opened.vertices[opened.vertices[:, 2] > half[2] + 0.1]
        assert len(ahead)
        assert (ahead[:, 0] * side > 0).all()


def shelves(kind: str, look: Look) -> np.ndarray:
    """Heights over the bottom of the level faces inside an open thing, metres."""
    mesh, size = made(kind, look), np.array(FORMS[kind].size)
    corners = mesh.vertices[mesh.faces]
    inside = (np.abs(corners.mean(axis=1)) < 0.45 * size).all(axis=1)
    up = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])[:, 1]
    return corners[inside & (np.abs(up) > 0.01), :, 1].mean(axis=1) + size[1] / 2


@pytest.mark.parametrize("share", [0.3, 0.45, 0.7])
def test_a_fridge_has_its_shelves_where_things_are_known_to_stand(share: float):
    level = share * FORMS["Fridge"].size[1]
    known = Look(openness=1.0, measured=True, levels=(level, level + 0.02))
    assert shelves("Fridge", known) == pytest.approx(level, abs=0.02)
    assert np.ptp(shelves("Fridge", Look(openness=1.0, measured=True))) > 0.5


def test_cupboards_of_ai2thor_have_no_shelf():
    assert shelves("Cabinet", Look(openness=1.0)).size
    assert not shelves("Cabinet", Look(openness=1.0, measured=True)).size


@pytest.mark.parametrize("openness", [0.0, 0.5, 1.0])
def test_drawers_slide_out_by_eight_tenths(openness: float):
    low, high = made("Drawer", Look(openness=openness)).bounds
    depth = FORMS["Drawer"].size[2]
    assert high[2] - depth / 2 == pytest.approx(0.8 * depth * openness, abs=1e-3)
    assert low[2] + depth / 2 == pytest.approx(0.8 * depth * openness, abs=1e-3)


LIGHTS = ["DeskLamp", "FloorLamp", "Television", "Laptop", "CellPhone", "Desktop", "StoveBurner"]
LIGHTS += ["Candle", "Toaster", "CoffeeMachine", "Microwave", "StoveKnob"]


@pytest.mark.parametrize("kind", LIGHTS)
def test_what_is_on_shines(kind: str):
    def shining(look: Look) -> float:
        mesh = made(kind, look)
        return max(mesh.palette[m].glow for m in np.unique(mesh.materials))

    for openness in (0.0, 1.0) if kind == "Laptop" else (0.0,):
        assert shining(Look(openness=openness, on=True)) > 0.5
        assert shining(Look(openness=openness)) < 0.5


@pytest.mark.parametrize("kind", ["Faucet", "ShowerHead"])
def test_water_runs_down_out_of_the_box(kind: str):
    assert made(kind, Look(on=True)).bounds[0][1] < -FORMS[kind].size[1] / 2 - 0.05


LONG = ["Knife", "Fork", "Spoon", "Spatula", "Ladle", "Pen", "Pencil", "BaseballBat", "CellPhone"]


@pytest.mark.parametrize("kind", [*LONG, "RemoteControl", "ButterKnife", "TennisRacket"])
def test_long_things_lie_along_the_longest_side_whichever_that_is(kind: str):
    for size in itertools.permutations((0.3, 0.05, 0.01)):
        mesh = shape(kind, size, seed=0)
        low, high = mesh.bounds
        np.testing.assert_allclose(high - low, size, atol=1e-3)
        assert volume(mesh) > 0


def test_a_tool_in_a_square_box_lies_cornerwise():
    mesh = shape("Knife", (0.25, 0.01, 0.25), seed=0)
    x, _, z = mesh.vertices.T
    assert abs(np.corrcoef(x, z)[0, 1]) > 0.9


def test_a_type_that_nobody_has_drawn_is_a_plain_box():
    for kind in ("Dirigible", "{0} %s\n", "", "Gabel «é»"):
        low, high = shape(kind, (0.4, 0.2, 0.3), seed=0).bounds
        np.testing.assert_allclose(high - low, (0.4, 0.2, 0.3), atol=1e-6)


@pytest.mark.parametrize("size", [(-0.1, 1, 1), (float("nan"), 1, 1), (1, float("inf"), 1)])
def test_an_impossible_size_is_refused(size: Vector):
    with pytest.raises(ValueError, match="size of Mug"):
        shape("Mug", size, seed=0)


def test_a_flat_box_is_drawn_a_millimetre_thick():
    low, high = shape("CreditCard", (0.09, 0.0, 0.05), seed=0).bounds
    assert (high - low)[1] == pytest.approx(0.001, abs=1e-6)


@pytest.mark.slow
def test_the_rooms_of_ithor_can_be_built_within_their_budget():
    source = files("procthor") / "databases" / "ai2thor-object-metadata.json"
    rooms = json.loads(source.read_text("utf-8"))
    types = set()
    for group in ("kitchens", "living_rooms", "bedrooms", "bathrooms"):
        for room in rooms[group]:
            triangles = 0
            for thing in room:
                side = thing["axisAlignedBoundingBox"]["size"]
                look = replace(PLAIN, openness=1.0 if thing["isOpen"] else 0.0)
                size = (side["x"], side["y"], side["z"])
                mesh = shape(thing["objectType"], size, look, seed=1)
                assert_sound(mesh)
                triangles += len(mesh.faces)
                types.add(thing["objectType"])
            assert triangles < TRIANGLES_IN_A_ROOM
    assert types - set(KINDS) == {"Floor"}
