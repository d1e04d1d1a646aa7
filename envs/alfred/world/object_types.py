"""iTHOR's object types by kind of room, as the field lists them (AI2-THOR 5, documentation of
object types): what may be there, not what is. Fixed parts that nobody acts on (floor, windows,
paintings, mirrors) are left out.
"""

from __future__ import annotations

from collections.abc import Mapping

from inhabit.envs.alfred.world.rooms import Kind

_HOLDERS = {
    Kind.KITCHEN: """Bowl Cabinet CoffeeMachine CounterTop Chair Cup DiningTable Drawer Fridge
        GarbageCan Microwave Mug Pan Plate Pot Safe Shelf ShelvingUnit SideTable SinkBasin Stool
        StoveBurner Toaster""",
    Kind.LIVING_ROOM: """ArmChair Bowl Box Cabinet Chair CoffeeTable Desk DiningTable DogBed Drawer
        Dresser GarbageCan Ottoman Plate Safe Shelf ShelvingUnit SideTable Sofa Stool TVStand""",
    Kind.BEDROOM: """ArmChair Bed Bowl Box Cabinet Chair CoffeeTable CounterTop Desk DogBed Drawer
        Dresser Footstool GarbageCan LaundryHamper Mug Safe Shelf ShelvingUnit SideTable Sofa
        Stool""",
    Kind.BATHROOM: """BathtubBasin Bathtub Cabinet CounterTop Drawer Dresser Footstool GarbageCan
        HandTowelHolder Shelf SideTable SinkBasin Toilet ToiletPaperHanger TowelHolder""",
}
_ITEMS = {
    Kind.KITCHEN: """AluminumFoil Apple Book Bottle Bread ButterKnife CellPhone CreditCard
        DishSponge Egg Fork Kettle Knife Ladle Lettuce PaperTowelRoll Pen Pencil PepperShaker Potato
        SaltShaker SoapBottle Spatula Spoon SprayBottle Statue Tomato Vase WineBottle AppleSliced
        BreadSliced LettuceSliced PotatoSliced TomatoSliced EggCracked""",
    Kind.LIVING_ROOM: """Book Boots Candle CellPhone CreditCard KeyChain Laptop Newspaper Pen Pencil
        Pillow RemoteControl Statue TissueBox Vase Watch WateringCan""",
    Kind.BEDROOM: """AlarmClock BaseballBat BasketBall Book Boots CD CellPhone Cloth CreditCard
        Dumbbell KeyChain Laptop Pen Pencil Pillow RemoteControl Statue TableTopDecor TeddyBear
        TennisRacket TissueBox Vase Watch""",
    Kind.BATHROOM: """Candle Cloth DishSponge HandTowel PaperTowelRoll Plunger ScrubBrush SoapBar
        SoapBottle SprayBottle TissueBox ToiletPaper Towel""",
}
_FIXTURES = {
    Kind.KITCHEN: "Faucet LightSwitch StoveKnob Blinds HousePlant",
    Kind.LIVING_ROOM: "DeskLamp FloorLamp LightSwitch Television Blinds HousePlant",
    Kind.BEDROOM: "DeskLamp Desktop LightSwitch Television Blinds HousePlant",
    Kind.BATHROOM: "Faucet LightSwitch ShowerCurtain ShowerDoor ShowerHead HousePlant",
}


def _table(lists: Mapping[Kind, str]) -> Mapping[Kind, tuple[str, ...]]:
    return {kind: tuple(text.split()) for kind, text in lists.items()}


def _set(text: str) -> frozenset[str]:
    return frozenset(text.split())


HOLDERS = _table(_HOLDERS)
"""Receptacles, movable ones included."""
ITEMS = _table(_ITEMS)
"""Pickupable objects that hold nothing."""
FIXTURES = _table(_FIXTURES)
"""Other objects to open, switch or go to."""

TYPES: frozenset[str] = frozenset(
    type for table in (HOLDERS, ITEMS, FIXTURES) for types in table.values() for type in types
) | {"Sink"}
"""All types that have names."""

CARRIED = frozenset({"Bowl", "Box", "Cup", "Footstool", "Mug", "Pan", "Plate", "Pot"})
"""Movable receptacles."""
OPENABLE = _set(
    """Blinds Book Box Cabinet Drawer Fridge Kettle Laptop LaundryHamper Microwave Safe
    ShowerCurtain ShowerDoor Toilet"""
)
TOGGLEABLE = _set(
    """Candle CellPhone CoffeeMachine DeskLamp Desktop Faucet FloorLamp Laptop LightSwitch
    Microwave ShowerHead StoveKnob Television Toaster"""
)
SLICEABLE = frozenset({"Apple", "Bread", "Egg", "Lettuce", "Potato", "Tomato"})
DOORS = frozenset({"Cabinet", "Drawer", "Fridge", "Microwave", "Safe"})
"""Receptacles to close again after something is taken out."""
KNIVES = frozenset({"Knife", "ButterKnife"})

IN = _set(
    """Bathtub BathtubBasin Bowl Box Cabinet CoffeeMachine Cup Drawer Fridge GarbageCan
    LaundryHamper Microwave Mug Pan Pot Safe Sink SinkBasin Toaster"""
)
"""Objects go in these, and on all other receptacles."""

SYNONYMS: Mapping[str, str] = {
    "bin": "GarbageCan",
    "burner": "StoveBurner",
    "couch": "Sofa",
    "counter": "CounterTop",
    "cracked egg": "EggCracked",
    "lamp": "DeskLamp",
    "phone": "CellPhone",
    "refrigerator": "Fridge",
    "remote": "RemoteControl",
    "sponge": "DishSponge",
    "tap": "Faucet",
    "trash can": "GarbageCan",
    "tv": "Television",
}
"""Synonyms that the parser accepts."""
