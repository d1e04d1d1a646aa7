"""Where furniture stands and what it looks like, as goals tell it: true of every room."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from inhabit.envs.alfred.scenes.initial_room import InitialRoom, LocationFact, initial_room
from inhabit.envs.alfred.world.settings import AlfredSettings, fastest_settings
from inhabit.envs.alfred.world.things import Rooms
from inhabit.envs.simulators.household.episode.house import adjectives, appearances
from inhabit.envs.simulators.render.lathe import box
from inhabit.envs.simulators.render.mesh import Color, Material, Pattern, join

ROOMS = [f"FloorPlan{base + i}" for base in (0, 200, 300, 400) for i in (1, 7, 14, 22, 28)]
OPPOSITE = {"left": "right", "right": "left"}


def places() -> Iterator[tuple[InitialRoom, str, LocationFact]]:
    for name in ROOMS:
        room = initial_room(name)
        for noun in sorted(room.nouns):
            for place in room.whereabouts.of(noun):
                yield room, noun, place


def test_every_relation_occurs() -> None:
    found = {place.relation for _, _, place in places()}
    assert found == {"beside", "left", "right", "on", "window", "corner"}


def test_only_what_is_alone_of_its_noun_is_told_by_another_that_is_alone() -> None:
    for room, noun, place in places():
        assert room.number(noun) == 1
        assert not place.other or room.number(place.other) == 1


def test_left_of_is_the_opposite_of_right_of() -> None:
    told = {(room.name, noun, p.other): p.relation for room, noun, p in places() if p.other}
    pairs = 0
    for (room, noun, other), relation in told.items():
        back = told.get((room, other, noun))
        if relation in OPPOSITE and back in OPPOSITE:
            pairs += 1
            assert back == OPPOSITE[relation]
    assert pairs > 5


@pytest.mark.parametrize(
    ("color", "name"),
    [
        ((0.05, 0.05, 0.06), "black"),
        ((0.94, 0.94, 0.93), "white"),
        ((0.55, 0.56, 0.58), "gray"),
        ((0.86, 0.25, 0.13), "red"),
        ((0.20, 0.42, 0.60), "blue"),
        ((0.36, 0.58, 0.52), "green"),
        ((0.60, 0.30, 0.70), "purple"),
        ((0.95, 0.90, 0.20), "yellow"),
        ((0.45, 0.29, 0.15), "brown"),
    ],
)
def test_colours_have_the_names_that_people_use(color: Color, name: str) -> None:
    mesh = box((1.0, 1.0, 1.0), Material(color))
    assert adjectives(mesh) == [name]
    assert adjectives(mesh.turned("y", 90.0)) == [name]


def test_wood_is_told_and_many_colours_are_not() -> None:
    oak = Material((0.45, 0.29, 0.15), Pattern.WOOD)
    assert adjectives(box((1.0, 1.0, 1.0), oak)) == ["brown", "wooden"]
    colors = ((0.86, 0.25, 0.13), (0.95, 0.90, 0.20), (0.20, 0.42, 0.60))
    assert adjectives(join([box((1.0, 1.0, 1.0), Material(color)) for color in colors])) == []


def test_a_colour_of_a_noun_is_one_of_each_object() -> None:
    room = Rooms().load("FloorPlan1")
    looks = appearances(room)
    of_cabinets = [set(found) for id, found in looks.items() if id.startswith("Cabinet|")]
    assert len(of_cabinets) > 3
    assert set(initial_room("FloorPlan1").looks("cabinet")) == set.intersection(*of_cabinets)


def test_unity_is_told_no_colours() -> None:
    assert fastest_settings("embedded", AlfredSettings()).colors
    assert not fastest_settings("unity", AlfredSettings()).colors
    assert fastest_settings("unity", AlfredSettings(colors=True)).colors
