"""Executes an action by the skill of its verb."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from inhabit.envs.alfred.episode.state import EpisodeState
from inhabit.envs.alfred.language.naming import split_name, squeeze, word
from inhabit.envs.alfred.language.verbs import BY_NAME
from inhabit.envs.alfred.skills import exploration, interaction, walking
from inhabit.envs.alfred.skills.result import Result, done, failed
from inhabit.envs.alfred.skills.walking import go_to
from inhabit.envs.alfred.thor.body import HORIZON_STEP
from inhabit.envs.alfred.thor.objects import ThorObject
from inhabit.envs.core import Action, Reason
from inhabit.envs.world.language import IT
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
    "look around": exploration.look_around,
    "explore": exploration.explore,
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
