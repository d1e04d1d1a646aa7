"""The verbs, in the order in which texts are tried on them.

An action names objects as a person does: "the mug" or "the mug_2". The name is resolved when the
action is executed. EmbodiedBench's wordings are understood too. What a verb needs is what rows of
object types say that can be done to them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from inhabit.envs.alfred.thor.objects import ThorObject
from inhabit.envs.template import ActionKind
from inhabit.envs.world.rows import Verb

_GO, _STEP = r"(?:go|walk|move|navigate)(?: over)?(?: to)?", r"(?:move|step|walk|go)"
_LAY, _SWITCH = r"(?:put|place|set|lay)", r"(?:turn|switch|toggle)"
_SIDE = r"(?!on |off )"  # "turn off the lamp on" is not said to turn something on

VERBS: Sequence[Verb[ThorObject]] = (
    Verb("look around", "look around", ActionKind.SEARCH, (r"look around|look",)),
    Verb("explore", "explore", ActionKind.SEARCH, (r"explore(?: the room| further)?",)),
    Verb("move ahead", "move ahead", also=(rf"{_STEP} (?:ahead|forwards?)",)),
    Verb("move back", "move back", also=(rf"{_STEP} (?:back|backwards?)",)),
    Verb("move left", "move left", also=(rf"{_STEP} (?:to the )?left",)),
    Verb("move right", "move right", also=(rf"{_STEP} (?:to the )?right",)),
    Verb("look up", "look up", also=(r"look up(?:wards?)?",)),
    Verb("look down", "look down", also=(r"look down(?:wards?)?",)),
    Verb("turn left", "turn left", ActionKind.LOOK, (r"(?:turn|rotate) left",)),
    Verb("turn right", "turn right", ActionKind.LOOK, (r"(?:turn|rotate) right",)),
    Verb("go to", "go to {}", ActionKind.GO, (rf"{_GO} {{thing}}",)),
    Verb("find", "find {}", ActionKind.GO, (r"(?:find|locate) {thing}",)),
    Verb(
        "put down",
        "put {} down",
        ActionKind.DROP,
        (
            rf"{_LAY} (?:down|away) (?:it|{{hand}})",
            rf"{_LAY} it (?:down|away)",
            rf"{_LAY} {{thing}} (?:down|away)",
            rf"{_LAY} down {{thing}}",
        ),
    ),
    Verb("drop", "drop {}", ActionKind.DROP, (r"drop (?:it|{hand})", r"drop {thing}")),
    Verb(
        "pick up",
        "pick up {}",
        ActionKind.TAKE,
        (r"(?:pick up|take|grab|get|fetch) {thing}{from}", r"pick {thing} up{from}"),
        fits=lambda thing: thing.pickupable and not thing.held,
        takes=lambda thing: thing.pickupable,
        asks="PickupObject",
    ),
    Verb(
        "put",
        "put {} {in} {}",
        ActionKind.PUT,
        (r"(?:put|place) {thing} (?:in/on|inside|into|in|onto|on|to|at) {place}",),
        fits=lambda thing: thing.receptacle and not thing.shut and not thing.held,
        asks="PutObject",
    ),
    Verb(
        "open",
        "open {}",
        ActionKind.OPEN,
        (r"open(?: up)? {thing}",),
        fits=lambda thing: thing.openable and not thing.open,
        takes=lambda thing: thing.openable,
        needs=("open",),
        asks="OpenObject",
    ),
    Verb(
        "close",
        "close {}",
        ActionKind.CLOSE,
        (r"(?:close|shut) {thing}",),
        fits=lambda thing: thing.openable and thing.open,
        takes=lambda thing: thing.openable,
        needs=("open",),
        asks="CloseObject",
    ),
    Verb(
        "turn on",
        "turn on {}",
        ActionKind.SWITCH_ON,
        (rf"{_SWITCH} on {{thing}}", rf"{_SWITCH} {_SIDE}{{thing}} on"),
        fits=lambda thing: thing.toggleable and not thing.on,
        takes=lambda thing: thing.toggleable,
        needs=("switch",),
        asks="ToggleObjectOn",
    ),
    Verb(
        "turn off",
        "turn off {}",
        ActionKind.SWITCH_OFF,
        (rf"{_SWITCH} off {{thing}}", rf"{_SWITCH} {{thing}} off"),
        fits=lambda thing: thing.toggleable and thing.on,
        takes=lambda thing: thing.toggleable,
        needs=("switch",),
        asks="ToggleObjectOff",
    ),
    Verb(
        "slice",
        "slice {}",
        ActionKind.CUT,
        (r"(?:slice|cut) {thing}",),
        fits=lambda thing: thing.sliceable and not thing.sliced and not thing.held,
        takes=lambda thing: thing.sliceable,
        needs=("slice",),
        asks="SliceObject",
    ),
)

BY_NAME: Mapping[str, Verb[ThorObject]] = {verb.name: verb for verb in VERBS}
BY_ACTION: Mapping[str, Verb[ThorObject]] = {verb.asks: verb for verb in VERBS if verb.asks}
"""THOR's interaction -> our verb."""


def fits(verb: str, thing: ThorObject) -> bool:
    """Whether a verb can apply to an object in its current state."""
    rule = BY_NAME[verb].fits
    return rule is None or rule(thing)


def applies(action: str, thing: ThorObject) -> bool:
    """Whether one of THOR's interactions can apply to an object."""
    verb = BY_ACTION[action]
    rule = verb.takes or verb.fits
    return rule is None or rule(thing)
