"""Plausible actions given what was seen, and actions that would succeed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from inhabit.envs.alfred.episode.reference import Reference
from inhabit.envs.alfred.episode.state import EpisodeState
from inhabit.envs.alfred.language.grammar import say
from inhabit.envs.alfred.language.naming import word
from inhabit.envs.alfred.language.verbs import VERBS, fits
from inhabit.envs.alfred.language.vocabulary import MOTIONS
from inhabit.envs.alfred.skills.exploration import unsearched
from inhabit.envs.alfred.skills.vantage import vantage
from inhabit.envs.alfred.thor.body import REACH
from inhabit.envs.alfred.thor.objects import ThorObject
from inhabit.envs.alfred.world.things import KNIVES, TYPES
from inhabit.envs.core import Action
from inhabit.envs.world.language import IT


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
    if action.verb in ("put down", "drop", "find"):
        return action.verb == "drop"
    thing = episode.reference().resolve(action.verb, action.arguments[-1])
    if thing is None or episode.world.shut_in(thing) is not None:
        return False
    if action.verb == "go to":
        return vantage(episode, thing) is not None
    return thing.visible and fits(action.verb, thing)
