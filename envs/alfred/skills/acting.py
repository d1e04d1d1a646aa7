"""Executes an action by its verb, and lists the candidates."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from inhabit.envs.alfred.episode.state import EpisodeState, Reference
from inhabit.envs.alfred.language.verbs import (
    BY_NAME,
    MOTIONS,
    VERBS,
    fits,
    preposition,
    say,
    split_name,
    squeeze,
    word,
)
from inhabit.envs.alfred.skills import walking
from inhabit.envs.alfred.skills.walking import (
    Result,
    done,
    face,
    failed,
    go_to,
    unsearched,
    vantage,
)
from inhabit.envs.alfred.thor.body import HORIZON_STEP, REACH
from inhabit.envs.alfred.thor.objects import ThorObject
from inhabit.envs.alfred.world.things import KNIVES, TYPES
from inhabit.envs.core import Action, Reason
from inhabit.envs.simulators.household.types.things import RUNS_CLOSED, THINGS
from inhabit.envs.world.rows import IT, Verb
from inhabit.envs.world.words import with_article

_REASONS = {
    "ObjectNotVisible": (Reason.NOT_VISIBLE, "it can't be seen well enough from here"),
    "ReceptacleNotVisible": (Reason.NOT_VISIBLE, "it can't be seen well enough from here"),
    "ReceptacleNotOpen": (Reason.CLOSED, "it is closed"),
    "ReceptacleFull": (Reason.NO_ROOM, "there is no room for it"),
    "ObjectNotAllowedInReceptacle": (Reason.NOT_ALLOWED, "such a thing doesn't go there"),
    "ObjectNotPickupable": (Reason.NOT_ALLOWED, "it can't be picked up"),
    "ObjectNotInInventory": (Reason.HANDS_EMPTY, "you are not holding it"),
    "InventoryFull": (Reason.HANDS_FULL, "your hand is not free"),
}
"""THOR's error code -> the reason for an agent."""
_NO_PLACE = ("no valid position", "no room", "no space", "doesn't fit", "does not fit")


def pick_up(episode: EpisodeState, thing: ThorObject) -> Result:
    """Pick up an object."""
    name, held = episode.name(thing), episode.held
    if thing.held:
        return failed(Reason.ALREADY, f"you have {name} in your hand already.")
    if held is not None:
        return failed(Reason.HANDS_FULL, f"your hand is not free: it holds {episode.name(held)}.")
    if not thing.pickupable:
        return failed(Reason.NOT_ALLOWED, f"{name} can't be picked up.")
    did, not_done = f"you pick up {name}.", f"you can't pick up {name}"
    result = _do(episode, "pick up", thing, "PickupObject", did, not_done)
    if result.reason is None:
        # "The mug" that one goes to after this one is another one.
        episode.memory.visited[thing.id] = None
    return result


def put(episode: EpisodeState, said: str, place: ThorObject) -> Result:
    """Put the held object in or on a receptacle.

    Args:
        episode: the current state.
        said: the name of the object that the agent believes to hold, or "it".
        place: the receptacle.
    """
    held, name = _held(episode, said), episode.name(place)
    if isinstance(held, Result):
        return held
    if held.id == place.id:
        return failed(Reason.NOT_ALLOWED, f"you can't put {name} in itself.")
    if not place.receptacle:
        return failed(Reason.NOT_ALLOWED, f"nothing can be put in or on {name}.")
    if place.shut:
        return failed(Reason.CLOSED, f"{name} is closed. Open it first.")
    wrong = face(episode, place)
    if wrong is not None:
        return wrong
    where = f"{preposition(episode.names.of(place.id))} {name}"
    # Receptacles for particular types; others accept anything that fits, as in ALFRED.
    force = place.type not in THINGS or THINGS[place.type].capacity is None
    if episode.do("PutObject", place, forceAction=force, placeStationary=True):
        return _touched(episode, place, f"you put {episode.name(held)} {where}.")
    return _refused(episode, "put", place, f"you can't put {episode.name(held)} {where}", held)


def _held(episode: EpisodeState, said: str) -> ThorObject | Result:
    """The held object; or why it is not what the agent believes to hold."""
    if (held := episode.held) is None:
        return failed(Reason.HANDS_EMPTY, "you have nothing in your hand.")
    name = episode.names.of(held.id)
    if said not in ("it", name, name.rpartition("_")[0]):
        return failed(Reason.MISSING_ITEM, f"you hold {episode.name(held)}, not the {said}.")
    return held


def put_down(episode: EpisodeState, said: str) -> Result:
    """Put the held object on the nearest suitable receptacle in view."""
    held = episode.held
    if held is None:
        return failed(Reason.HANDS_EMPTY, "you have nothing in your hand.")
    pose, places = episode.body.pose, _places(episode, held)
    places.sort(key=lambda t: (t.id != episode.memory.focus, t.reach(pose.x, pose.z), t.id))
    result = failed(Reason.NOT_FOUND, "there is nothing before you to put it on.")
    for place in places[:4]:
        result = put(episode, said, place)
        if result.reason is None or result.reason is Reason.MISSING_ITEM:
            break
    return result


def _places(episode: EpisodeState, held: ThorObject) -> list[ThorObject]:
    return [
        t
        for t in episode.reference().known()
        if t.receptacle and t.visible and not t.shut and t.id != held.id
    ]


def drop(episode: EpisodeState, said: str) -> Result:
    """Drop the held object."""
    held = _held(episode, said)
    if isinstance(held, Result):
        return held
    dropped = episode.body.step("DropHandObject", blind=True, forceAction=True)
    episode.views.forget()
    if dropped:
        return _touched(episode, held, f"you drop {episode.name(held)}.")
    return _refused(episode, "drop", held, f"you can't drop {episode.name(held)} here")


def open_up(episode: EpisodeState, thing: ThorObject) -> Result:
    """Open a door, a drawer or a lid, and look inside."""
    name = episode.name(thing)
    if not thing.openable:
        return failed(Reason.NOT_ALLOWED, f"{name} can't be opened.")
    if thing.open:
        return failed(Reason.ALREADY, f"{name} is open already.")
    if thing.type in RUNS_CLOSED and thing.on:
        return failed(Reason.WRONG_STATE, f"{name} is running. Turn it off first.")
    did, not_done = f"you open {name}.", f"{name} doesn't open from here"
    result = _do(episode, "open", thing, "OpenObject", did, not_done)
    if result.reason is None:
        episode.notice(episode.world[thing.id].contents)
    return result


def close(episode: EpisodeState, thing: ThorObject) -> Result:
    """Close an object."""
    name = episode.name(thing)
    if not thing.openable:
        return failed(Reason.NOT_ALLOWED, f"{name} can't be closed.")
    if not thing.open:
        return failed(Reason.ALREADY, f"{name} is closed already.")
    did, not_done = f"you close {name}.", f"{name} doesn't close from here"
    return _do(episode, "close", thing, "CloseObject", did, not_done)


def switch(episode: EpisodeState, thing: ThorObject, on: bool) -> Result:
    """Switch an object on or off."""
    name, state = episode.name(thing), "on" if on else "off"
    if not thing.toggleable:
        return failed(Reason.NOT_ALLOWED, f"{name} has no switch.")
    if thing.on == on:
        return failed(Reason.ALREADY, f"{name} is {state} already.")
    if on and thing.type in RUNS_CLOSED and thing.open:
        return failed(Reason.WRONG_STATE, f"{name} is open. Close it first.")
    asks = "ToggleObjectOn" if on else "ToggleObjectOff"
    did, not_done = f"you turn {state} {name}.", f"{name} can't be turned {state} from here"
    return _do(episode, f"turn {state}", thing, asks, did, not_done)


def slice_up(episode: EpisodeState, thing: ThorObject) -> Result:
    """Slice an object with the held knife."""
    name, held = episode.name(thing), episode.held
    if not thing.sliceable:
        return failed(Reason.NOT_ALLOWED, f"{name} can't be sliced.")
    if thing.sliced:
        return failed(Reason.ALREADY, f"{name} is sliced already.")
    if held is None or held.type not in KNIVES:
        return failed(Reason.MISSING_ITEM, f"you need a knife in your hand to slice {name}.")
    did, not_done = f"you slice {name}.", f"you can't slice {name} from here"
    return _do(episode, "slice", thing, "SliceObject", did, not_done)


def use(episode: EpisodeState, verb: Verb[ThorObject], thing: ThorObject) -> Result:
    """Any other interaction, which its row describes."""
    name = episode.name(thing)
    if verb.fits is not None and not verb.fits(thing):
        return failed(Reason.WRONG_STATE, f"you can't {verb.says.format(name)} now.")
    said = verb.says.format(name)
    did, not_done = f"you {said}.", f"you can't {said} from here"
    return _do(episode, verb.name, thing, verb.asks, did, not_done)


def _do(
    episode: EpisodeState, verb: str, thing: ThorObject, asks: str, did: str, not_done: str
) -> Result:
    """Face an object and have the simulator do what it `asks`; the feedback of both endings."""
    wrong = face(episode, thing)
    if wrong is not None:
        return wrong
    if episode.do(asks, thing):
        return _touched(episode, thing, did)
    return _refused(episode, verb, thing, not_done)


def _touched(episode: EpisodeState, thing: ThorObject, sentence: str) -> Result:
    episode.memory.touch(thing)
    episode.see()
    return done(sentence)


def _refused(
    episode: EpisodeState,
    verb: str,
    thing: ThorObject,
    sentence: str,
    item: ThorObject | None = None,
) -> Result:
    """The reason of a refusal, from THOR's error code or known messages."""
    code, message = episode.body.error
    key = f"{verb} {thing.id}" + (f" {item.id}" if item is not None else "")
    episode.memory.refused[key] = None
    if code in _REASONS:
        reason, because = _REASONS[code]
        return failed(reason, f"{sentence}: {because}.")
    if any(words in message.lower() for words in _NO_PLACE):
        return failed(Reason.NO_ROOM, f"{sentence}: there is no room for it.")
    return failed(Reason.BLOCKED, f"{sentence}: something is in the way.")


def find(episode: EpisodeState, name: str) -> Result:
    """Go to the nearest object of that name, or to the receptacle around it."""
    thing = _choose(episode, name)
    if thing is None:
        return failed(Reason.NOT_FOUND, f"there is no {name} here.")
    shut = episode.world.shut_in(thing)
    result = go_to(episode, shut if shut is not None else thing)
    if result.reason is None and shut is not None:
        return done(f"{episode.name(thing)} is inside {episode.name(shut)}, which is closed.")
    return result


def _choose(episode: EpisodeState, name: str) -> ThorObject | None:
    squeezed, number = split_name(name)
    if number is not None:
        return episode.world.get(episode.names.id(squeezed, number) or "")
    things = [
        t for t in episode.world if t.id in episode.names and squeeze(word(t.type)) == squeezed
    ]
    return episode.reference().choose("find", things)


_ON_THE_SPOT: Mapping[str, Callable[[EpisodeState], Result]] = {
    "look around": walking.look_around,
    "explore": walking.explore,
    "move ahead": lambda episode: walking.move(episode, "MoveAhead"),
    "move back": lambda episode: walking.move(episode, "MoveBack"),
    "move left": lambda episode: walking.move(episode, "MoveLeft"),
    "move right": lambda episode: walking.move(episode, "MoveRight"),
    "look up": lambda episode: walking.tilt(episode, -HORIZON_STEP, "you look up."),
    "look down": lambda episode: walking.tilt(episode, HORIZON_STEP, "you look down."),
    "turn left": lambda episode: walking.turn(episode, "RotateLeft", "you turn left."),
    "turn right": lambda episode: walking.turn(episode, "RotateRight", "you turn right."),
}
_WITH_HELD: Mapping[str, Callable[[EpisodeState, str], Result]] = {
    "put down": put_down,
    "drop": drop,
}
_ON_THING: Mapping[str, Callable[[EpisodeState, ThorObject], Result]] = {
    "go to": walking.go_to,
    "pick up": pick_up,
    "open": open_up,
    "close": close,
    "turn on": lambda episode, thing: switch(episode, thing, on=True),
    "turn off": lambda episode, thing: switch(episode, thing, on=False),
    "slice": slice_up,
}
SKILLS = frozenset({*_ON_THE_SPOT, *_WITH_HELD, *_ON_THING, "find", "put"})
"""The verbs with a skill of their own. Others ask the simulator for what their row says."""


def act(episode: EpisodeState, action: Action) -> Result:
    """Execute an action that `language.understand` parsed."""
    episode.film.clear()
    episode.just_seen.clear()
    said, reference = action.arguments, episode.reference()
    episode.memory.sent = None
    if action.verb in _ON_THE_SPOT:
        return _ON_THE_SPOT[action.verb](episode)
    if action.verb in _WITH_HELD:
        return _WITH_HELD[action.verb](episode, said[0] if said else IT)
    if action.verb == "find":
        return find(episode, said[0])
    name = said[-1]
    thing = reference.resolve(action.verb, name)
    if thing is None:
        return failed(Reason.NOT_FOUND, _missing(episode, name))
    if action.verb == "put":
        return put(episode, said[0], thing)
    if action.verb in _ON_THING:
        return _ON_THING[action.verb](episode, thing)
    return use(episode, BY_NAME[action.verb], thing)


def _missing(episode: EpisodeState, name: str) -> str:
    squeezed, number = split_name(name)
    names = [split_name(episode.names.of(id)) for id in episode.memory.seen]
    if (squeezed, number) in names or (number is None and squeezed in dict(names)):
        return f"the {name} is no more: it has been sliced or broken."
    seen = with_article(name) + " yet" if number is None else f"the {name}"
    return f"you have not seen {seen}."


def plausible(episode: EpisodeState, find: Sequence[Action] = ()) -> Sequence[Action]:
    """Actions on objects seen so far, in a fixed order. Interactions are offered for near objects.

    Args:
        episode: the current state.
        find: what may be asked of the oracle besides.
    """
    reference = episode.reference()
    known = [thing for thing in reference.known() if _is_of_use(thing)]
    found = [say(verb) for verb in MOTIONS]
    found += [say("go to", name) for name in _named(reference, "go to", known) if name]
    found += find
    pose = episode.body.pose
    near = [t for t in known if t.reach(pose.x, pose.z) <= REACH and not episode.world.shut_in(t)]
    for verb in (verb.name for verb in VERBS if verb.fits is not None):
        things = [
            thing for thing in near if fits(verb, thing) and _makes_sense(episode, verb, thing)
        ]
        extra = (IT,) if verb == "put" else ()
        found += [say(verb, *extra, name) for name in _named(reference, verb, things)]
    if episode.held is not None:
        found += [say("put down"), say("drop")]
    return found


def _is_of_use(thing: ThorObject) -> bool:
    return thing.type in TYPES or thing.pickupable or thing.openable or thing.toggleable


def _makes_sense(episode: EpisodeState, verb: str, thing: ThorObject) -> bool:
    held = episode.held
    if verb == "pick up":
        return held is None
    if verb == "put":
        return held is not None
    if verb == "slice":
        return held is not None and held.type in KNIVES
    return not thing.held


def _named(reference: Reference, verb: str, things: Sequence[ThorObject]) -> Iterator[str]:
    """For each type the object that the bare noun means, then the others with numbers."""
    by_type: dict[str, list[ThorObject]] = {}
    for thing in things:
        if not (verb == "go to" and thing.held):
            by_type.setdefault(word(thing.type), []).append(thing)
    for same in by_type.values():
        names = [reference.name(verb, thing) for thing in same]
        yield from sorted(names, key=lambda name: name[-1:].isdigit())


def succeeding(episode: EpisodeState, offered: Sequence[Action]) -> Sequence[Action]:
    """The offered actions that would succeed now.

    Navigation succeeds if the simulator has a pose for it; an interaction, if the skill's
    preconditions hold and the object is in view; putting, if the receptacle is visible. Whether
    it has room for the object is only known after trying.
    """
    return [action for action in offered if _succeeds(episode, action)]


def _succeeds(episode: EpisodeState, action: Action) -> bool:
    if action.verb in ("look around", "turn left", "turn right"):
        return True
    if action.verb == "explore":
        return unsearched(episode) is not None
    if action.verb in ("drop", "find"):
        return action.verb == "drop"
    if action.verb == "put down":
        return episode.held is not None and bool(_places(episode, episode.held))
    thing = episode.reference().resolve(action.verb, action.arguments[-1])
    if thing is None or episode.world.shut_in(thing) is not None:
        return False
    if action.verb == "go to":
        return vantage(episode, thing) is not None
    return thing.visible and fits(action.verb, thing)
