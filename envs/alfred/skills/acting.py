"""From an action in words to the skill that carries it out."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from inhabit.envs.alfred.language.grammar import IT
from inhabit.envs.alfred.language.naming import split_name, squeeze, word
from inhabit.envs.alfred.skills import exploring, handling, walking
from inhabit.envs.alfred.skills.result import Result, done, failed
from inhabit.envs.alfred.skills.situation import Situation
from inhabit.envs.alfred.skills.walking import go_to
from inhabit.envs.alfred.thor.body import HORIZON_STEP
from inhabit.envs.alfred.thor.objects import ThorObject
from inhabit.envs.core import Action, Reason


def find(here: Situation, name: str) -> Result:
    """Go to the nearest thing of that name, or to what it is shut in."""
    thing = _choose(here, name)
    if thing is None:
        return failed(Reason.NOT_FOUND, f"there is no {name} here.")
    shut = here.world.shut_in(thing)
    result = go_to(here, shut if shut is not None else thing)
    if result.reason is None and shut is not None:
        return done(f"{here.name(thing)} is inside {here.name(shut)}, which is closed.")
    return result


def _choose(here: Situation, name: str) -> ThorObject | None:
    squeezed, number = split_name(name)
    if number is not None:
        return here.world.get(here.names.id(squeezed, number) or "")
    things = [t for t in here.world if t.id in here.names and squeeze(word(t.type)) == squeezed]
    return here.reference().choose("find", things)


_ON_THE_SPOT: Mapping[str, Callable[[Situation], Result]] = {
    "look around": exploring.look_around,
    "explore": exploring.explore,
    "move ahead": lambda here: walking.move(here, "MoveAhead"),
    "move back": lambda here: walking.move(here, "MoveBack"),
    "move left": lambda here: walking.move(here, "MoveLeft"),
    "move right": lambda here: walking.move(here, "MoveRight"),
    "look up": lambda here: walking.nod(here, -HORIZON_STEP, "you look up."),
    "look down": lambda here: walking.nod(here, HORIZON_STEP, "you look down."),
    "turn left": lambda here: walking.turn(here, "RotateLeft", "you turn left."),
    "turn right": lambda here: walking.turn(here, "RotateRight", "you turn right."),
}
_WITH_HELD: Mapping[str, Callable[[Situation, str], Result]] = {
    "put down": handling.put_down,
    "drop": handling.drop,
}
_ON_THING: Mapping[str, Callable[[Situation, ThorObject], Result]] = {
    "go to": walking.go_to,
    "pick up": handling.pick_up,
    "open": handling.open_up,
    "close": handling.close,
    "turn on": lambda here, thing: handling.switch(here, thing, on=True),
    "turn off": lambda here, thing: handling.switch(here, thing, on=False),
    "slice": handling.slice_up,
}


def act(here: Situation, action: Action) -> Result:
    """Carry out an action that `language.understand` gave."""
    here.film.clear()
    here.sighted.clear()
    said = action.arguments
    if action.verb in _ON_THE_SPOT:
        return _ON_THE_SPOT[action.verb](here)
    if action.verb in _WITH_HELD:
        return _WITH_HELD[action.verb](here, said[0] if said else IT)
    if action.verb == "find":
        return find(here, said[0])
    name = said[-1]
    thing = here.reference().resolve(action.verb, name)
    if thing is None:
        return failed(Reason.NOT_FOUND, _missing(here, name))
    if action.verb == "put":
        return handling.put(here, said[0], thing)
    return _ON_THING[action.verb](here, thing)


def _missing(here: Situation, name: str) -> str:
    squeezed, number = split_name(name)
    if number is None:
        return f"you have not seen {'an' if name[:1] in 'aeiou' else 'a'} {name} yet."
    if here.names.id(squeezed, number) in here.memory.seen:
        return f"the {name} is no more: it has been sliced or broken."
    return f"you have not seen the {name}."
