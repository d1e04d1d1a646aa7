"""Names: one for each thing, never changed, understood as they are written."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inhabit.envs.alfred.language.verbs import ObjectNames, split_name, word
from inhabit.envs.alfred.thor.objects import ThorObjects
from inhabit.envs.alfred.world.things import ROOMS, TYPES, records
from tests.envs.alfred.rooms_for_tests import linked, record


def test_numbers_follow_the_ids_and_stay() -> None:
    first = ThorObjects(linked([record("Mug", 2, "pickupable"), record("Mug", 1, "pickupable")]))
    names = ObjectNames(first)
    assert (names.of("Mug|1"), names.of("Mug|2")) == ("mug_1", "mug_2")
    later = names.copy()
    later.add(ThorObjects(linked([record("Mug", 0, "pickupable"), record("Mug", 1, "pickupable")])))
    assert (later.of("Mug|1"), later.of("Mug|0")) == ("mug_1", "mug_3")
    assert "Mug|0" not in names


def test_a_sink_is_spoken_of_as_its_basin() -> None:
    room = ThorObjects(
        linked([record("Sink", 1, "receptacle"), record("SinkBasin", 1, "receptacle")])
    )
    assert dict(ObjectNames(room).all()) == {"SinkBasin|1": "sink_1"}


@given(st.sampled_from(sorted(TYPES)), st.integers(1, 9999))
def test_a_name_is_found_however_it_is_written(type: str, number: int) -> None:
    squeezed = word(type).replace(" ", "")
    for written in (
        f"{word(type)}_{number}",
        f"the {word(type)} {number}",
        f"{word(type).upper().replace(' ', '')}{number}",
    ):
        assert split_name(written) == (squeezed, number)


@pytest.mark.slow
def test_every_type_that_can_be_handled_has_a_word_in_its_kind_of_room() -> None:
    handled = ("pickupable", "openable", "toggleable")
    for room in ROOMS:
        for thing in ThorObjects(records(room)):
            if any(thing.record[flag] for flag in handled):
                assert thing.type in TYPES, (room, thing.type)
