"""Turns the eyes to what is to be gone to, where turning on the spot brings it into sight."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from eie.moment import Moment, Stage
from envs.core import Action, Env, Forkable
from envs.evolving import Deed, Template

_TURNS = 3
"""Quarter turns, after which one has looked all around."""


def turns(
    env: Env, moment: Moment, template: Template, vocabulary: Sequence[Action]
) -> Sequence[Action]:
    """The turns after which the answer's aim is in sight; none where that never helps or it is."""
    looks = [a for a in vocabulary if template.deed(a) is Deed.LOOK and not a.arguments]
    aim = moment.aim(moment.answer)
    going = template.deed(moment.answer) is Deed.GO
    if not looks or not going or aim is None or aim.pixels or not isinstance(env, Forkable):
        return ()
    with env.fork() as twin:
        assert isinstance(twin, Stage)
        for count in range(1, _TURNS + 1):
            if twin.act(looks[0]).reason is not None:
                return ()
            seen = replace(moment, things=tuple(twin.things()))
            aim = seen.aim(moment.answer)
            if aim is not None and aim.pixels:
                return looks[:1] * count
    return ()
