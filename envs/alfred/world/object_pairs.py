"""Plausible pairs of object and receptacle for task sampling."""

from __future__ import annotations

from collections.abc import Mapping

_TABLES = "CounterTop DiningTable SideTable CoffeeTable Desk Dresser TVStand"
_SEATS = "Sofa ArmChair Bed"

_GROUPS: tuple[tuple[str, str], ...] = (
    ("Apple Egg Lettuce Potato Tomato", "CounterTop DiningTable SideTable Fridge SinkBasin"),
    ("Apple Egg Potato Tomato", "Microwave GarbageCan"),
    ("Bread", "CounterTop DiningTable SideTable Fridge GarbageCan"),
    ("Bowl Cup Mug Plate", f"{_TABLES} Cabinet Fridge SinkBasin Shelf"),
    ("Mug", "CoffeeMachine"),
    ("Kettle Pan Pot", "CounterTop DiningTable StoveBurner SinkBasin Cabinet"),
    ("ButterKnife Fork Knife Ladle Spatula Spoon", "CounterTop DiningTable Drawer SinkBasin"),
    ("PepperShaker SaltShaker", "CounterTop DiningTable SideTable Cabinet Drawer Shelf"),
    ("SoapBottle SprayBottle", "CounterTop Cabinet Shelf SideTable SinkBasin Toilet GarbageCan"),
    ("Bottle WineBottle", "CounterTop DiningTable Fridge Cabinet Shelf GarbageCan"),
    ("DishSponge", "CounterTop SinkBasin Drawer Cabinet Shelf"),
    ("CellPhone CreditCard KeyChain RemoteControl Watch", f"{_TABLES} {_SEATS} Drawer Shelf Safe"),
    ("CD Pen Pencil", "Desk Dresser SideTable Shelf Drawer GarbageCan Safe"),
    ("AlarmClock", "Desk Dresser SideTable Shelf"),
    ("Book Newspaper", f"{_TABLES} {_SEATS} Shelf Ottoman"),
    ("Laptop", f"{_TABLES} {_SEATS} Ottoman"),
    ("TissueBox", f"{_TABLES} Shelf Cabinet Drawer Toilet"),
    ("Candle Statue Vase", f"{_TABLES} Shelf Toilet"),
    ("Box", f"{_TABLES} {_SEATS} Ottoman"),
    ("Pillow TeddyBear", f"{_SEATS} Ottoman"),
    ("BasketBall", f"{_SEATS} Desk"),
    ("BaseballBat TennisRacket", "Bed Desk"),
    ("Cloth", "CounterTop Drawer Cabinet Shelf SinkBasin BathtubBasin Toilet Dresser SideTable"),
    ("HandTowel", "HandTowelHolder CounterTop Cabinet"),
    ("SoapBar", "CounterTop SinkBasin BathtubBasin Drawer Cabinet Toilet GarbageCan Shelf"),
    (
        "ToiletPaper",
        "ToiletPaperHanger Toilet Cabinet Drawer CounterTop Shelf SideTable GarbageCan",
    ),
    ("PaperTowelRoll", "CounterTop SideTable Cabinet Toilet Shelf GarbageCan"),
    ("WateringCan", "SideTable CoffeeTable DiningTable Shelf"),
)


def _set(text: str) -> tuple[str, ...]:
    return tuple(text.split())


def _places() -> Mapping[str, tuple[str, ...]]:
    found: dict[str, dict[str, None]] = {}
    for objects, places in _GROUPS:
        for object in objects.split():
            found.setdefault(object, {}).update(dict.fromkeys(places.split()))
    return {object: tuple(places) for object, places in found.items()}


PLACES: Mapping[str, tuple[str, ...]] = _places()
"""Object type -> receptacle types."""

HEATED = _set("Apple Bread Cup Egg Mug Plate Potato Tomato")
COOLED = _set("Apple Bowl Bread Cup Egg Lettuce Mug Pan Plate Pot Potato Tomato WineBottle")
CLEANED = _set(
    """Apple Bowl ButterKnife Cloth Cup DishSponge Egg Fork Kettle Knife Ladle Lettuce Mug Pan Plate
    Pot Potato SoapBar Spatula Spoon Tomato"""
)
LIT = _set(
    """AlarmClock Book Bowl Box CD CellPhone CreditCard KeyChain Laptop Mug Newspaper Pen Pencil
    Pillow Plate RemoteControl Statue TissueBox Vase Watch"""
)
"""Types that are heated, cooled, cleaned, or examined in the light."""

LOADS: Mapping[str, tuple[str, ...]] = {
    "Bowl": ("Apple", "ButterKnife", "CreditCard", "Egg", "Fork", "KeyChain", "Spoon", "Watch"),
    "Box": ("CellPhone", "CreditCard", "KeyChain", "Pen", "Pencil", "RemoteControl", "Watch"),
    "Cup": ("ButterKnife", "Fork", "Spoon"),
    "Mug": ("Fork", "Pen", "Pencil", "Spoon"),
    "Pan": ("Apple", "Egg", "Fork", "Potato", "Spatula", "Spoon", "Tomato"),
    "Plate": ("Apple", "ButterKnife", "CreditCard", "Egg", "Fork", "KeyChain", "Spoon", "Watch"),
    "Pot": ("Apple", "Egg", "Fork", "Potato", "Spoon", "Tomato"),
}
"""Movable receptacle -> the types that are put in or on it."""
