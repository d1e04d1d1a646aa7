"""The solution of each of ALFRED's seven task types, from any intermediate state."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import replace

from inhabit.envs.alfred.episode.state import EpisodeState, out_of_order, unmet
from inhabit.envs.alfred.expert.plan_draft import NoPlanError, PlanDraft, PlanStep
from inhabit.envs.alfred.expert.scene_probe import SceneProbe
from inhabit.envs.alfred.scenes.scene import AlfredGoal, basin_of, is_wanted
from inhabit.envs.alfred.thor.objects import ThorObject
from inhabit.envs.simulators.household.types.things import BASINS


def solve(
    episode: EpisodeState, hidden: Set[str] = frozenset(), *, trying: bool = False
) -> Sequence[PlanStep]:
    """The steps of a plan from the current state.

    Args:
        episode: the current state.
        hidden: ids of what cannot be found.
        trying: whether the simulator is asked what comes into view by a tilt of the head, and what
            has room. Otherwise the agent walks to all that is not in view.

    Raises:
        NoPlanError: there are none that the planner could find.
    """
    if out_of_order(episode):
        raise NoPlanError("A goal was reached before an earlier one.")
    pose = episode.body.pose
    probe = SceneProbe(episode) if trying else None
    draft = PlanDraft(episode.world, episode.memory, pose.x, pose.z, hidden, probe)
    for goal in unmet(episode):
        _reach(draft, replace(episode, goal=goal, also=()))
    return draft.steps


def _reach(draft: PlanDraft, episode: EpisodeState) -> None:
    """Reach one goal, whatever its kind asks for."""
    kind = episode.goal.kind
    if kind.light:
        _look(draft, episode)
    elif kind.movable:
        _movable(draft, episode)
    elif kind.count > 1:
        _several(draft, episode)
    else:
        _one(draft, episode)


def _several(draft: PlanDraft, episode: EpisodeState) -> None:
    goal, world, history = episode.goal, episode.world, episode.history
    kind = goal.kind
    places = [p for p in world.of_type(str(goal.parent)) if p.receptacle]

    def filled(place: ThorObject) -> int:
        return len([i for i in world.inside(place) if is_wanted(world[i], goal)])

    best = max(map(filled, places), default=0)
    place = draft.nearest([p for p in places if filled(p) == best and _may_put(draft, p, episode)])
    if place is None:
        raise NoPlanError(f"There is no {goal.parent} with room for {kind.count}.")
    things = _all_wanted(draft, episode)
    done = {t.id for t in things if kind.treatment is None or t.id in history.of(kind.treatment)}
    there = [t for t in things if t.id in world.inside(place) and t.id in done]
    ready = {t.id for t in there}
    others = [t for t in things if t.id not in ready]
    held = [t for t in others if t.held]
    while len(there) < kind.count:
        thing = held.pop() if held else _next(draft, episode, others)
        if thing is None:
            raise NoPlanError(f"There are not {kind.count} of {goal.object}.")
        others = [t for t in others if t.id != thing.id]
        _treat(draft, episode, thing)
        draft.take(thing)
        draft.put(place)
        there.append(thing)


def _may_put(draft: PlanDraft, place: ThorObject, episode: EpisodeState) -> bool:
    items = [t for t in episode.world if is_wanted(t, episode.goal)]
    return all(draft.allowed("put", place, item) for item in items)


def _look(draft: PlanDraft, episode: EpisodeState) -> None:
    lamps = [
        t for t in episode.world.of_type(str(episode.goal.toggle)) if draft.allowed("turn on", t)
    ]
    draft.take(_wanted(draft, episode))
    if any(lamp.on for lamp in episode.world.of_type(str(episode.goal.toggle))):
        return
    lamp = draft.nearest(lamps)
    if lamp is None:
        raise NoPlanError(f"There is no {episode.goal.toggle}.")
    draft.go(lamp)
    draft.switch(lamp, True)


def _one(draft: PlanDraft, episode: EpisodeState) -> None:
    treatment = episode.goal.kind.treatment
    if treatment is None:
        thing = _wanted(draft, episode)
    else:
        thing = _begun(draft, episode, _present(draft, episode)) or _wanted(draft, episode)
        _treat(draft, episode, thing)
    draft.take(thing)
    draft.put(_place(draft, episode.goal, thing))


def _begun(
    draft: PlanDraft, episode: EpisodeState, things: Sequence[ThorObject]
) -> ThorObject | None:
    """The object whose treatment is done or begun, if there is one."""
    treatment = episode.goal.kind.treatment
    if treatment is None:
        return None
    done = episode.history.of(treatment)
    begun = [t for t in things if _is_inside(draft, t, treatment.inside)]
    return draft.nearest([t for t in things if t.id in done]) or draft.nearest(begun)


def _next(
    draft: PlanDraft, episode: EpisodeState, things: Sequence[ThorObject]
) -> ThorObject | None:
    """That one, else the one that takes least effort."""
    return _begun(draft, episode, things) or draft.nearest(things)


def _treat(draft: PlanDraft, episode: EpisodeState, thing: ThorObject) -> None:
    """Do to an object what the goal asks for, unless that was done."""
    treatment = episode.goal.kind.treatment
    if treatment is not None and thing.id not in episode.history.of(treatment):
        _TREAT[treatment.name](draft, thing)


def _heat(draft: PlanDraft, thing: ThorObject) -> None:
    microwave = _appliance(draft, "Microwave")
    _insert(draft, thing, microwave)
    draft.switch(microwave, False)
    draft.close(microwave)
    draft.switch(microwave, True)
    draft.switch(microwave, False)


def _cool(draft: PlanDraft, thing: ThorObject) -> None:
    fridge = _appliance(draft, "Fridge")
    _insert(draft, thing, fridge)
    draft.open(fridge)
    draft.close(fridge)


def _clean(draft: PlanDraft, thing: ThorObject) -> None:
    faucets = [f for f in draft.world.of_type("Faucet") if draft.allowed("turn on", f)]
    pairs = {basin.id: f for f in faucets if (basin := basin_of(f, draft.world)) is not None}
    basins = [
        b
        for b in draft.world.of_type(*BASINS.values())
        if b.id in pairs and draft.allowed("put", b, thing)
    ]
    basin = draft.nearest([b for b in basins if _in(draft, thing, b)]) or draft.nearest(basins)
    if basin is None:
        raise NoPlanError("There is no basin with a faucet.")
    _insert(draft, thing, basin)
    faucet = pairs[basin.id]
    draft.switch(faucet, False)
    draft.switch(faucet, True)
    draft.switch(faucet, False)


_TREAT: Mapping[str, Callable[[PlanDraft, ThorObject], None]] = {
    "heat": _heat,
    "cool": _cool,
    "clean": _clean,
}
"""Treatment -> how it is done."""


def _is_inside(draft: PlanDraft, thing: ThorObject, types: Sequence[str]) -> bool:
    return any(_in(draft, thing, place) for place in draft.world.of_type(*types))


def _insert(draft: PlanDraft, thing: ThorObject, place: ThorObject) -> None:
    if not _in(draft, thing, place):
        draft.take(thing)
        draft.put(place)


def _in(draft: PlanDraft, thing: ThorObject, place: ThorObject) -> bool:
    held = draft.held is not None and draft.held.id == thing.id
    return not held and thing.id in draft.world.inside(place)


def _appliance(draft: PlanDraft, type: str) -> ThorObject:
    found = draft.nearest([t for t in draft.world.of_type(type) if draft.allowed("open", t)])
    if found is None:
        raise NoPlanError(f"There is no {type}.")
    return found


def _movable(draft: PlanDraft, episode: EpisodeState) -> None:
    goal, world = episode.goal, episode.world
    movables = [
        m
        for m in world.of_type(str(goal.movable))
        if m.pickupable and (m.held or draft.allowed("pick up", m))
    ]
    loaded = [m for m in movables if any(is_wanted(world[i], goal) for i in world.inside(m))]
    movable = draft.nearest(loaded)
    if movable is None:
        thing = _wanted(draft, episode)
        movable = draft.nearest([m for m in movables if draft.allowed("put", m, thing)])
        if movable is None:
            raise NoPlanError(f"There is no {goal.movable} to put it in.")
        if movable.held:
            draft.free_hand()
        draft.take(thing)
        draft.put(movable)
    draft.take(movable)
    draft.put(_place(draft, goal, movable))


def _place(draft: PlanDraft, goal: AlfredGoal, item: ThorObject) -> ThorObject:
    places = [
        p
        for p in draft.world.of_type(str(goal.parent))
        if p.receptacle and draft.allowed("put", p, item)
    ]
    place = draft.nearest_with_room(places, item)
    if place is None:
        raise NoPlanError(f"There is no {goal.parent} to put it in.")
    return place


def _wanted(draft: PlanDraft, episode: EpisodeState) -> ThorObject:
    """The held object if it is a target, else the target that takes least effort."""
    things = _all_wanted(draft, episode)
    held = [t for t in things if t.held]
    thing = held[0] if held else draft.nearest(things)
    if thing is None:
        raise NoPlanError(f"There is no {episode.goal.object}.")
    return thing


def _all_wanted(draft: PlanDraft, episode: EpisodeState) -> Sequence[ThorObject]:
    """Every target object. If slices are needed and there are none, slice one."""
    found = _present(draft, episode)
    if found or not episode.goal.sliced:
        return found
    whole = [
        t
        for t in episode.world.of_type(str(episode.goal.object))
        if t.sliceable and not t.sliced and draft.allowed("slice", t)
    ]
    held = [t for t in whole if t.held]
    target = held[0] if held else draft.nearest(whole)
    if target is None:
        raise NoPlanError(f"There is no {episode.goal.object} to slice.")
    if held:
        draft.free_hand()
    return draft.slice(target)


def _present(draft: PlanDraft, episode: EpisodeState) -> Sequence[ThorObject]:
    return [
        t
        for t in episode.world
        if is_wanted(t, episode.goal) and (t.held or draft.allowed("pick up", t))
    ]
