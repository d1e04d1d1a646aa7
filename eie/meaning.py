"""Which of several things an action meant: seen by what came of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from eie.moment import Moment
from envs.core import Thing
from envs.evolving import Deed


def resolved(moment: Moment, deed: Deed, after: Sequence[Thing]) -> Moment:
    """The moment, knowing what its answer meant.

    Args:
        moment: before the action.
        deed: what the action comes to.
        after: every thing once it has succeeded.
    """
    name = moment.answer.arguments[-1]
    if any(thing.name == name for thing in moment.things):
        return replace(moment, meant=name)
    earlier = {thing.name: thing for thing in moment.alike(name)}
    alike = [thing for thing in after if thing.name in earlier]
    if deed is Deed.GO:
        nearest = max(alike, key=lambda t: t.pixels - earlier[t.name].pixels, default=None)
        return replace(moment, meant=nearest.name if nearest is not None else None)
    if deed is Deed.PUT:
        held = {thing.name for thing in moment.held}
        places = [t.support for t in after if t.name in held and t.support in earlier]
        return replace(moment, meant=places[0] if places else None)
    changed = [t for t in alike if _changed(earlier[t.name], t)]
    gone = [t for n, t in earlier.items() if all(n != other.name for other in after)]
    found = changed or gone  # What was cut up is no more.
    return replace(moment, meant=found[0].name if found else None)


def _changed(was: Thing, now: Thing) -> bool:
    return was.states != now.states or was.held != now.held
