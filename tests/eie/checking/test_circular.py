"""Reasons that go in a circle are found, and sound ones are not."""

from __future__ import annotations

import pytest

from inhabit.eie.checking.circular import circle


@pytest.mark.parametrize(
    "reason",
    [
        "Put the lettuce slice in it so that you can pick up the lettuce slice.",
        "Open the fridge so that you can open it.",
        "Open the drawer in order to close the drawer.",
        "Turn on the faucet: only then can you turn off the faucet.",
        "Before you can pick up the mug, put the mug on the table.",
        "The way to close the cabinet is to open the cabinet first.",
        "Put the knife in the sink; after that, you can take the knife.",
        "Open the drawer, which allows you to close the drawer.",
        "Put the mug in it, since afterwards you have to pick up the mug.",
        "Open it, as this makes it possible to open it.",
        "If you want to close the cabinet, open the cabinet first.",
        "You can't pick up the mug unless you put the mug on the table.",
    ],
)
def test_circles_are_found(reason: str) -> None:
    assert circle(reason)


@pytest.mark.parametrize(
    "reason",
    [
        "The fridge is closed. Open it so that you can pick up the apple.",
        "Pick it up so that you can put it in the sink.",
        "Put the knife in the drawer so that you can pick up the mug.",
        "Close it in order to turn on the microwave.",
        "Before you can put the mug in the cabinet, open the cabinet.",
        "Pick up the mug, and the task is done.",
        "You can't put the mug in the cabinet unless you open it.",
        "Open it, since afterwards you have to put the mug in it.",
        "Put the lettuce slice in it so that you can cool the lettuce slice.",
    ],
)
def test_sound_reasons_pass(reason: str) -> None:
    assert circle(reason) == ""
