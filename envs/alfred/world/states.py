"""The states of objects. The fields of a scene's `ObjectState` are their names."""

from __future__ import annotations

from inhabit.envs.world.rows import State

STATES = (
    State("open", ("open", "closed"), "openable", "isOpen", "OpenObject", "CloseObject"),
    State("on", ("on", "off"), "toggleable", "isToggled", "ToggleObjectOn", "ToggleObjectOff"),
    State("dirty", ("dirty", "clean"), "dirtyable", "isDirty", "DirtyObject", "CleanObject"),
    State("filled", ("filled", "unfilled"), "canFillWithLiquid", "isFilledWithLiquid"),
    State("sliced", ("sliced", "whole"), "sliceable", "isSliced", "SliceObject"),
    State("broken", ("broken", "intact"), "breakable", "isBroken", "BreakObject"),
    State("cooked", ("cooked", "uncooked"), "cookable", "isCooked", "CookObject"),
)
