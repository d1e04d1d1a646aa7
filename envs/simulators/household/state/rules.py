"""The two sets of rules: AI2-THOR's, and those that the tasks of `inhabit` were made with."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from inhabit.envs.simulators.household.types.things import THINGS


@dataclass(frozen=True, slots=True)
class RuleSet:
    """AI2-THOR's rules, or those of recorded tasks, which are the defaults."""

    slices: Mapping[str, int]
    """Type -> number of its slices."""
    first_slice: int
    """Number of the first slice, in its id."""
    names_as_in_thor: bool = False
    """Whether slices and copies are named as in AI2-THOR, and not by their ids."""
    disables_unlisted: bool = False
    """Whether `SetObjectPoses` takes what it does not list out of the room."""
    finds_disabled: bool = False
    """Whether `SetObjectPoses` finds what was taken out of the room."""
    hands_hold_contents: bool = False
    """Whether what is held, with its contents, is off all lists of parents and contents."""
    contents_follow: bool = False
    """Whether what an object holds stays linked to it when it is put somewhere."""
    lies_in_all_around: bool = False
    """Whether an object is in or on every receptacle that it touches, and on the floor."""
    open_fridge_cools: bool = False
    microwave_toasts: bool = True
    """Whether slices of bread are cooked in a microwave."""
    filled_coffee_is_hot: bool = False
    """Whether coffee is hot also where an action fills something with it."""
    turned_over_spills: bool = False
    shattered_is_nowhere: bool = False
    """Whether no pose shows what broke into pieces."""
    held_is_interactable: bool = False
    floor_is_seen_nearby: bool = False
    """Whether the floor counts as visible only if a part of it is within reach."""
    open_is_hollow: bool = False
    """Whether what is open is drawn as a frame that shows its contents."""
    drawn_as_measured: bool = False
    """Whether cupboards' doors, fridges, microwaves and sinks are drawn as AI2-THOR's masks show
    them. So is every room whose things are where a recording has them."""
    tells_motion: bool = False
    """Whether `isMoving` is true after the action that let a thing go or pushed it."""
    bounds_have_walls: bool = False
    """Whether `sceneBounds` encloses the walls and the ceiling, and not only what they enclose."""


def _column(column: str) -> Mapping[str, int]:
    found = {name: getattr(thing, column) for name, thing in THINGS.items()}
    return {name: count for name, count in found.items() if count is not None}


AI2THOR = RuleSet(
    slices=_column("parts"),
    first_slice=0,
    names_as_in_thor=True,
    disables_unlisted=True,
    finds_disabled=True,
    hands_hold_contents=True,
    contents_follow=True,
    lies_in_all_around=True,
    open_fridge_cools=True,
    microwave_toasts=False,
    filled_coffee_is_hot=True,
    turned_over_spills=True,
    shattered_is_nowhere=True,
    held_is_interactable=True,
    floor_is_seen_nearby=True,
    open_is_hollow=True,
    drawn_as_measured=True,
    tells_motion=True,
    bounds_have_walls=True,
)
"""Rules of AI2-THOR 5.0.0, for its programs."""
TASKS = RuleSet(slices=_column("slices"), first_slice=1)
"""Rules of recorded tasks, whose texts and costs depend on them."""
