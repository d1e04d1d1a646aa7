"""Finding a thing whether it was seen or not: EmbodiedBench's oracle, for `--set find=oracle`."""

from __future__ import annotations

from envs.alfred.naming import split_name, squeeze, word
from envs.alfred.objects import Thing
from envs.alfred.situation import Situation
from envs.alfred.skills.result import Result, done, failed
from envs.alfred.skills.walking import go_to
from envs.core import Reason


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


def _choose(here: Situation, name: str) -> Thing | None:
    squeezed, number = split_name(name)
    if number is not None:
        return here.world.get(here.names.id(squeezed, number) or "")
    things = [t for t in here.world if t.id in here.names and squeeze(word(t.type)) == squeezed]
    return here.reference().choose("find", things)
