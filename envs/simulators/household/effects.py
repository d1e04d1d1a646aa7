"""Effects of the state after every action: heat, cold and water."""

from __future__ import annotations

from inhabit.envs.simulators.household.geometry.boxes import rotation
from inhabit.envs.simulators.household.placement.surfaces import basin
from inhabit.envs.simulators.household.state.world import SimObject, World

_UNDER_THE_TAP = 1.2
"""Maximum distance in metres from a faucet to the center of its basin."""


def settle(world: World) -> None:
    """Apply everything that is on, hot, cold or running to the objects it touches."""
    for thing in list(world.things.values()):
        if not thing.present:
            continue
        if thing.kind == "Fridge" and (world.rules.open_fridge_cools or not thing["isOpen"]):
            _cool(world, thing)
        elif thing.kind == "StoveKnob" and thing["isToggled"]:
            for burner in thing["controlledObjects"] or ():
                if burner in world.things:
                    _heat(world, world.things[burner])
        elif thing.kind in ("Microwave", "Toaster") and thing["isToggled"]:
            _heat(world, thing)
        elif thing.kind == "CoffeeMachine" and thing["isToggled"]:
            _brew(world, thing)
        elif thing.kind == "Faucet" and thing["isToggled"]:
            _rinse(world, thing)
        elif thing["isFilledWithLiquid"] and world.rules.turned_over_spills and _upside_down(thing):
            world.change(thing, isFilledWithLiquid=False, fillLiquid=None)


def tap_basin(world: World, faucet: SimObject) -> SimObject | None:
    """The basin of a faucet: the nearest one."""
    basins = {
        thing.id: thing.box.distance_from_axis(*faucet.box.center[[0, 2]].tolist())
        for thing in world.things.values()
        if thing.kind in ("SinkBasin", "BathtubBasin")
    }
    nearest = min(basins, key=lambda id: (basins[id], id), default=None)
    if nearest is None or basins[nearest] > _UNDER_THE_TAP:
        return None
    return world.things[nearest]


def _upside_down(thing: SimObject) -> bool:
    """Whether it is tilted by more than 90 degrees."""
    return bool(rotation(thing["rotation"])[1, 1] < 0.0)


def _heat(world: World, source: SimObject) -> None:
    for inner in list(world.within(source.id)):
        hot = world.change(inner, temperature="Hot")
        toasts = source.kind != "Microwave" or hot.kind != "BreadSliced"
        toasts = toasts or world.rules.microwave_toasts
        if hot["cookable"] and toasts:
            world.change(inner, isCooked=True)


def _cool(world: World, source: SimObject) -> None:
    for inner in list(world.within(source.id)):
        world.change(inner, temperature="Cold")


def _brew(world: World, machine: SimObject) -> None:
    for inner in list(world.within(machine.id)):
        mug = world.things[inner]
        if mug["canFillWithLiquid"] and not mug["isBroken"]:
            world.change(inner, isFilledWithLiquid=True, fillLiquid="coffee", temperature="Hot")


def _rinse(world: World, faucet: SimObject) -> None:
    """Clean everything in the basin and its sink, and fill what holds water."""
    under = tap_basin(world, faucet)
    if under is None:
        return
    wet = set(world.within(under.id))
    for thing in world.things.values():
        own = basin(world, thing)
        if own is not None and own.id == under.id:
            wet |= set(world.within(thing.id))
    for name in sorted(wet):
        thing = world.things[name]
        if thing["isDirty"]:
            world.change(name, isDirty=False)
        if thing["canFillWithLiquid"] and not thing["isFilledWithLiquid"] and not thing["isBroken"]:
            world.change(name, isFilledWithLiquid=True, fillLiquid="water")
