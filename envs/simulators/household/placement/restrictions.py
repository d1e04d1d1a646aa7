"""Receptacles that accept only certain types, and types that only fit certain receptacles."""

from __future__ import annotations

from collections.abc import Mapping

_SLICES = frozenset({"AppleSliced", "BreadSliced", "LettuceSliced", "PotatoSliced", "TomatoSliced"})
_FOOD = _SLICES | {"Apple", "Bread", "Egg", "EggCracked", "Lettuce", "Potato", "Tomato"}
_CUTLERY = frozenset({"ButterKnife", "Fork", "Knife", "Ladle", "Spatula", "Spoon"})
_DISHES = frozenset({"Bowl", "Cup", "Mug", "Pan", "Plate", "Pot"})
_DRINKS = frozenset({"Bottle", "Glassbottle", "WineBottle"})
_SMALL = frozenset(
    {"CD", "Candle", "CellPhone", "CreditCard", "DishSponge", "KeyChain", "Pen", "Pencil"}
    | {"PepperShaker", "RemoteControl", "SaltShaker", "SoapBar", "Watch"}
)
_SHEETS = frozenset({"Cloth", "HandTowel", "Newspaper", "Towel"})

_TAKES_ONLY: Mapping[str, frozenset[str]] = {
    "Bowl": _FOOD | _CUTLERY | _SMALL | {"Cup", "Mug"},
    "CoffeeMachine": frozenset({"Cup", "Mug"}),
    "Cup": _FOOD | _CUTLERY | _SMALL,
    "Fridge": _FOOD | _DISHES | _DRINKS,
    "HandTowelHolder": frozenset({"HandTowel"}),
    "LaundryHamper": _SHEETS,
    "Microwave": _FOOD | _DISHES - {"Pan"},
    "Mug": _FOOD | _CUTLERY | _SMALL,
    "Pan": _FOOD | _CUTLERY | _SMALL,
    "Plate": _FOOD | _CUTLERY | _DISHES | _SMALL,
    "Pot": _FOOD | _CUTLERY | _SMALL,
    "StoveBurner": frozenset({"Kettle", "Pan", "Pot"}),
    "Toaster": frozenset({"BreadSliced"}),
    "ToiletPaperHanger": frozenset({"ToiletPaper"}),
    "TowelHolder": frozenset({"Towel"}),
}

_CAPACITY: Mapping[str, int] = {
    "CoffeeMachine": 1,
    "HandTowelHolder": 1,
    "StoveBurner": 1,
    "Toaster": 2,
    "ToiletPaperHanger": 1,
    "TowelHolder": 1,
}


def allowed(kind: str, receptacle: str) -> bool:
    """Whether a type may be put on or in a receptacle type."""
    return kind in _TAKES_ONLY.get(receptacle, (kind,))


def capacity(receptacle: str) -> int | None:
    """Maximum number of objects of a receptacle; None if only their size matters."""
    return _CAPACITY.get(receptacle)
