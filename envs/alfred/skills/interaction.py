"""Interactions with objects: take, put, open, close, switch, slice."""

from __future__ import annotations

from inhabit.envs.alfred.episode.state import EpisodeState
from inhabit.envs.alfred.language.verbs import preposition
from inhabit.envs.alfred.skills.walking import Result, done, face, failed
from inhabit.envs.alfred.thor.objects import ThorObject
from inhabit.envs.alfred.world.things import KNIVES
from inhabit.envs.core import Reason
from inhabit.envs.simulators.household.types.things import RUNS_CLOSED, THINGS
from inhabit.envs.world.rows import Verb

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
    wrong = face(episode, thing)
    if wrong is not None:
        return wrong
    if episode.do("PickupObject", thing):
        # "The mug" that one goes to after this one is another one.
        episode.memory.visited[thing.id] = None
        return _touched(episode, thing, f"you pick up {name}.")
    return _refused(episode, "pick up", thing, f"you can't pick up {name}")


def put(episode: EpisodeState, said: str, place: ThorObject) -> Result:
    """Put the held object in or on a receptacle.

    Args:
        episode: the current state.
        said: the name of the object that the agent believes to hold, or "it".
        place: the receptacle.
    """
    held, name = episode.held, episode.name(place)
    if held is None:
        return failed(Reason.HANDS_EMPTY, "you have nothing in your hand.")
    if not _is_held(episode, said, held):
        return failed(Reason.MISSING_ITEM, f"you hold {episode.name(held)}, not the {said}.")
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


def _is_held(episode: EpisodeState, said: str, held: ThorObject) -> bool:
    if said == "it":
        return True
    name = episode.names.of(held.id)
    return said in (name, name.rpartition("_")[0])


def put_down(episode: EpisodeState, said: str) -> Result:
    """Put the held object on the nearest suitable receptacle in view."""
    held = episode.held
    if held is None:
        return failed(Reason.HANDS_EMPTY, "you have nothing in your hand.")
    pose = episode.body.pose
    places = [
        t
        for t in episode.reference().known()
        if t.receptacle and t.visible and not t.shut and t.id != held.id
    ]
    places.sort(key=lambda t: (t.id != episode.memory.focus, t.reach(pose.x, pose.z), t.id))
    result = failed(Reason.NOT_FOUND, "there is nothing before you to put it on.")
    for place in places[:4]:
        result = put(episode, said, place)
        if result.reason is None or result.reason is Reason.MISSING_ITEM:
            break
    return result


def drop(episode: EpisodeState, said: str) -> Result:
    """Drop the held object."""
    held = episode.held
    if held is None:
        return failed(Reason.HANDS_EMPTY, "you have nothing in your hand.")
    if not _is_held(episode, said, held):
        return failed(Reason.MISSING_ITEM, f"you hold {episode.name(held)}, not the {said}.")
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
    wrong = face(episode, thing)
    if wrong is not None:
        return wrong
    if episode.do("OpenObject", thing):
        result = _touched(episode, thing, f"you open {name}.")
        episode.notice(episode.world[thing.id].contents)
        return result
    return _refused(episode, "open", thing, f"{name} doesn't open from here")


def close(episode: EpisodeState, thing: ThorObject) -> Result:
    """Close it."""
    name = episode.name(thing)
    if not thing.openable:
        return failed(Reason.NOT_ALLOWED, f"{name} can't be closed.")
    if not thing.open:
        return failed(Reason.ALREADY, f"{name} is closed already.")
    wrong = face(episode, thing)
    if wrong is not None:
        return wrong
    if episode.do("CloseObject", thing):
        return _touched(episode, thing, f"you close {name}.")
    return _refused(episode, "close", thing, f"{name} doesn't close from here")


def switch(episode: EpisodeState, thing: ThorObject, on: bool) -> Result:
    """Switch an object on or off."""
    name, state = episode.name(thing), "on" if on else "off"
    if not thing.toggleable:
        return failed(Reason.NOT_ALLOWED, f"{name} has no switch.")
    if thing.on == on:
        return failed(Reason.ALREADY, f"{name} is {state} already.")
    if on and thing.type in RUNS_CLOSED and thing.open:
        return failed(Reason.WRONG_STATE, f"{name} is open. Close it first.")
    wrong = face(episode, thing)
    if wrong is not None:
        return wrong
    if episode.do("ToggleObjectOn" if on else "ToggleObjectOff", thing):
        return _touched(episode, thing, f"you turn {state} {name}.")
    return _refused(episode, f"turn {state}", thing, f"{name} can't be turned {state} from here")


def slice_up(episode: EpisodeState, thing: ThorObject) -> Result:
    """Slice an object with the held knife."""
    name, held = episode.name(thing), episode.held
    if not thing.sliceable:
        return failed(Reason.NOT_ALLOWED, f"{name} can't be sliced.")
    if thing.sliced:
        return failed(Reason.ALREADY, f"{name} is sliced already.")
    if held is None or held.type not in KNIVES:
        return failed(Reason.MISSING_ITEM, f"you need a knife in your hand to slice {name}.")
    wrong = face(episode, thing)
    if wrong is not None:
        return wrong
    if episode.do("SliceObject", thing):
        return _touched(episode, thing, f"you slice {name}.")
    return _refused(episode, "slice", thing, f"you can't slice {name} from here")


def use(episode: EpisodeState, verb: Verb[ThorObject], thing: ThorObject) -> Result:
    """Any other interaction, which its row describes."""
    name = episode.name(thing)
    if verb.fits is not None and not verb.fits(thing):
        return failed(Reason.WRONG_STATE, f"you can't {verb.says.format(name)} now.")
    wrong = face(episode, thing)
    if wrong is not None:
        return wrong
    if episode.do(verb.asks, thing):
        return _touched(episode, thing, f"you {verb.says.format(name)}.")
    return _refused(episode, verb.name, thing, f"you can't {verb.says.format(name)} from here")


def _touched(episode: EpisodeState, thing: ThorObject, sentence: str) -> Result:
    episode.memory.focus = thing.id
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
