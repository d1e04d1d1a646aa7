"""Reference of one step, from the simulator: what judges compare answers with."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pydantic import BaseModel, JsonValue

from inhabit.agents.core import Decision
from inhabit.envs.claims import name_and_number
from inhabit.envs.core import Action, Expert, Factual, Forkable, Privileged, SceneObject
from inhabit.episodes.episode import Episode

_AHEAD = 4
"""Actions of the expert's plan that say what matters now."""


class Anchors(BaseModel, frozen=True):
    """The reference of one step; empty or None where the environment does not tell."""

    best: tuple[str, ...] | None
    """Every action that a plan of the least cost starts with, sorted; None where that isn't known.
    """
    complete: bool = True
    """Whether `best` has them all: where they can't be had, the expert's own first action and the
    agent's are tried alone."""
    plan: tuple[str, ...]
    """One plan of the least cost."""
    key_concepts: tuple[str, ...]
    """Objects and states that matter for the next actions and can be seen: "closed fridge"."""
    reason: str
    """Why the expert does what it does."""
    things: tuple[SceneObject, ...] = ()
    key_things: tuple[str, ...] = ()
    """Names of those of `things` that the key concepts are about."""


def anchors(episode: Episode, chosen: Action | None = None) -> Anchors:
    """The anchors of the current state of `episode`, which is not changed.

    Args:
        episode: in an environment that knows its solutions (`inhabit.envs.core.Expert`).
        chosen: what the agent did; tried in a copy where the best actions aren't known.
    """
    env = episode.env
    assert isinstance(env, Expert), "Who judges sees to that first."
    plan = env.plan()
    best = env.best_actions()
    complete = best is not None
    if best is None and plan:
        best = _tried(episode, plan, chosen)
    things = tuple(env.things()) if isinstance(env, Factual) else ()
    told = env.state() if isinstance(env, Privileged) else {}
    return gather(plan, best, things, told).model_copy(update={"complete": complete})


def _tried(
    episode: Episode, plan: Sequence[Action], chosen: Action | None
) -> frozenset[Action] | None:
    """The expert's first action, and the agent's if it shortens the plan."""
    if chosen is None or chosen == plan[0]:
        return frozenset(plan[:1])
    if not isinstance(episode.env, Forkable):
        return None
    with episode.fork() as copy:
        assert isinstance(copy.env, Expert), "A copy can do what its original can."
        now = copy.act(Decision(chosen))
        solved = now.met == now.total
        after = copy.env.plan() if now.reason is None and not solved else ()
        good = now.reason is None and (solved or 0 < len(after) < len(plan))
    return frozenset({plan[0], chosen}) if good else frozenset(plan[:1])


def gather(
    plan: Sequence[Action],
    best: frozenset[Action] | None,
    things: Sequence[SceneObject],
    told: Mapping[str, JsonValue],
) -> Anchors:
    """Anchors from what an environment says.

    Args:
        plan: the expert's; empty where the goal is reached, or out of reach.
        best: as `Expert.best_actions` has them.
        things: all of the scene.
        told: a benchmark's own word, under "key_concepts" and "reason", comes before ours.
    """
    ahead = [*plan[:_AHEAD], *sorted(best or (), key=lambda action: action.text)]
    key = tuple(
        thing
        for thing in things
        if (thing.pixels > 0 or thing.held) and any(_names(a, thing) for a in ahead)
    )
    concepts, reason = told.get("key_concepts"), told.get("reason")
    return Anchors(
        best=None if best is None else tuple(sorted(action.text for action in best)),
        plan=tuple(action.text for action in plan),
        key_concepts=tuple(map(str, concepts))
        if isinstance(concepts, list)
        else tuple(dict.fromkeys(phrase for thing in key for phrase in _phrases(thing))),
        reason=reason if isinstance(reason, str) else _reason(plan, key),
        things=tuple(things),
        key_things=tuple(thing.name for thing in key),
    )


def _names(action: Action, thing: SceneObject) -> bool:
    """Whether an action is about a thing: "the drawer" may be drawer_1, and "it" what is held."""
    called = {thing.name, name_and_number(thing.name)[0], *(["it"] if thing.held else [])}
    return not called.isdisjoint(action.arguments) or f" {thing.name} " in f" {action.text} "


def _phrases(thing: SceneObject) -> list[str]:
    """The thing, and each of its states, as one would say them."""
    states = [_WORDS[item] for item in thing.states.items() if item in _WORDS]
    phrases = [thing.kind, *(f"{word} {thing.kind}" for word in states)]
    return [*phrases, f"{thing.kind} in the hand"] if thing.held else phrases


_WORDS = {
    ("open", True): "open",
    ("open", False): "closed",
    ("on", True): "running",
    ("on", False): "switched off",
    ("dirty", True): "dirty",
    ("dirty", False): "clean",
    ("sliced", True): "sliced",
    ("filled", True): "full",
    ("hot", True): "hot",
    ("cold", True): "cold",
    ("cooked", True): "cooked",
    ("broken", True): "broken",
}


def _reason(plan: Sequence[Action], key: Sequence[SceneObject]) -> str:
    """Facts that matter, and the way to the goal from here."""
    if not plan:
        return "Nothing is left to be done."
    facts = [_fact(thing) for thing in key]
    way = "; then ".join(action.text for action in plan[:_AHEAD])
    more = "" if len(plan) <= _AHEAD else f"; and {len(plan) - _AHEAD} more"
    return f"{' '.join(facts)} What has to be done: {way}{more}.".strip()


def _fact(thing: SceneObject) -> str:
    states = [_WORDS[item] for item in thing.states.items() if item in _WORDS]
    so = f" is {' and '.join(states)}" if states else " is there"
    where = ""
    if thing.held:
        where = " and in the hand"
    elif thing.support is not None:
        where = f" and {'in' if thing.inside else 'on'} the {thing.support}"
    return f"The {thing.name}{so}{where}."
