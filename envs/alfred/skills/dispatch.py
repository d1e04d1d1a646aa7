"""Executes an action by its verb, and lists the candidates."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from inhabit.envs.alfred.episode.state import EpisodeState, Reference
from inhabit.envs.alfred.language.naming import split_name, squeeze, word
from inhabit.envs.alfred.language.verbs import BY_NAME, MOTIONS, VERBS, fits, say
from inhabit.envs.alfred.skills import interaction, walking
from inhabit.envs.alfred.skills.walking import Result, done, failed, go_to, unsearched, vantage
from inhabit.envs.alfred.thor.body import HORIZON_STEP, REACH
from inhabit.envs.alfred.thor.objects import ThorObject
from inhabit.envs.alfred.world.things import KNIVES, TYPES
from inhabit.envs.core import Action, Reason
from inhabit.envs.world.rows import IT
from inhabit.envs.world.words import with_article


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
    "put down": interaction.put_down,
    "drop": interaction.drop,
}
_ON_THING: Mapping[str, Callable[[EpisodeState, ThorObject], Result]] = {
    "go to": walking.go_to,
    "pick up": interaction.pick_up,
    "open": interaction.open_up,
    "close": interaction.close,
    "turn on": lambda episode, thing: interaction.switch(episode, thing, on=True),
    "turn off": lambda episode, thing: interaction.switch(episode, thing, on=False),
    "slice": interaction.slice_up,
}
SKILLS = frozenset({*_ON_THE_SPOT, *_WITH_HELD, *_ON_THING, "find", "put"})
"""The verbs with a skill of their own. Others ask the simulator for what their row says."""


def act(episode: EpisodeState, action: Action) -> Result:
    """Execute an action that `language.understand` parsed."""
    episode.film.clear()
    episode.just_seen.clear()
    said = action.arguments
    if action.verb in _ON_THE_SPOT:
        return _ON_THE_SPOT[action.verb](episode)
    if action.verb in _WITH_HELD:
        return _WITH_HELD[action.verb](episode, said[0] if said else IT)
    if action.verb == "find":
        return find(episode, said[0])
    name = said[-1]
    thing = episode.reference().resolve(action.verb, name)
    if thing is None:
        return failed(Reason.NOT_FOUND, _missing(episode, name))
    if action.verb == "put":
        return interaction.put(episode, said[0], thing)
    if action.verb in _ON_THING:
        return _ON_THING[action.verb](episode, thing)
    return interaction.use(episode, BY_NAME[action.verb], thing)


def _missing(episode: EpisodeState, name: str) -> str:
    squeezed, number = split_name(name)
    if number is None:
        return f"you have not seen {with_article(name)} yet."
    if episode.names.id(squeezed, number) in episode.memory.seen:
        return f"the {name} is no more: it has been sliced or broken."
    return f"you have not seen the {name}."


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
