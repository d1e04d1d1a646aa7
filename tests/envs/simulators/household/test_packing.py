from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import msgpack
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sampling import every

from inhabit.envs.simulators.household.simulator import Simulator
from inhabit.envs.simulators.household.wire import packing
from inhabit.envs.simulators.household.wire.packing import Format, Json, MessagePack, Objects

FORMATS: list[tuple[Format, Callable[[bytes], Any]]] = [
    (MessagePack(), lambda packed: msgpack.loads(packed, raw=False, strict_map_key=False)),
    (Json(), json.loads),
]
VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(1 << 62), 1 << 62)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=10,
)
TABLES = st.dictionaries(st.text(), VALUES, max_size=40)


@pytest.mark.parametrize(("form", "unpack"), every(2, FORMATS))
@settings(max_examples=settings.default.max_examples // 2)
@given(one=TABLES.filter(bool), other=TABLES.filter(bool), key=st.text())
def test_parts_make_a_whole(
    form: Format,
    unpack: Callable[[bytes], Any],
    one: dict[str, Any],
    other: dict[str, Any],
    key: str,
) -> None:
    apart = {f"{k} 2": v for k, v in other.items()}
    inner = form.array([form.table([form.entries(other)], len(other))] * 3)
    whole = form.table(
        [form.entries(one), form.entries(apart), form.entry(f"{key} 3", inner)],
        len(one) + len(apart) + 1,
    )
    # A key may be "x 2" in the first part too; then the later one counts.
    expected = {**one, **apart, f"{key} 3": [other] * 3}
    assert unpack(whole) == expected


@pytest.mark.parametrize(("form", "unpack"), FORMATS)
def test_objects_are_never_stale(form: Format, unpack: Callable[[bytes], Any]) -> None:
    """What is kept from step to step equals what is packed from scratch."""
    simulator = Simulator("FloorPlan1", width=64, height=64)
    kept = Objects(form, {})

    def seen(objects: Objects) -> Any:
        sights = simulator.visibility()
        return unpack(objects.pack((t, sights[i]) for i, t in simulator.things.items()))

    toggled = next(t.id for t in simulator.things.values() if t.kind == "Faucet")
    for request in (
        {"action": "RotateRight"},
        {"action": "ToggleObjectOn", "objectId": toggled, "forceAction": True},
        {"action": "Reset", "sceneName": "FloorPlan2_physics"},
        {"action": "Reset", "sceneName": "FloorPlan1_physics"},
    ):
        before = seen(kept)
        simulator.act(request)
        now = seen(kept)
        assert now == seen(Objects(form, {})) and now != before
        assert [o["objectId"] for o in now] == list(simulator.things)
        for thing in now:
            sight = simulator.visibility()[thing["objectId"]]
            assert (thing["distance"], thing["visible"], thing["isInteractable"]) == tuple(sight)


def test_names_have_colours_of_their_own() -> None:
    palette, again = packing.Palette(), packing.Palette()
    names = [f"Mug|{n}" for n in range(5000)]
    palette.add(names)
    colors = palette.metadata()
    assert len({tuple(c["color"]) for c in colors}) == len(names)  # type: ignore[arg-type]
    again.add(names[:10])
    again.add(names)
    assert again.metadata() == colors


def test_pictures_are_sent_bottom_row_first() -> None:
    palette = packing.Palette()
    palette.add(["Mug", "Pan"])
    mug, pan = (tuple(c["color"]) for c in palette.metadata())  # type: ignore[arg-type]
    sent = packing.names(np.array([[0, -1], [1, 1]], np.int32), palette.pixels(["Mug", "Pan"]))
    rows = np.frombuffer(sent, np.uint8).reshape(2, 2, 4)
    assert rows[0].tolist() == [[*pan, 255]] * 2
    assert rows[1].tolist() == [[*mug, 255], [0, 0, 0, 255]]
    depth = packing.depth(np.array([[1.5, np.inf]], np.float32))
    assert np.frombuffer(depth, np.float32).tolist() == [1.5, 20.0]
    assert packing.rgb(np.array([[[1, 2, 3]], [[4, 5, 6]]], np.uint8)) == bytes([4, 5, 6, 1, 2, 3])
