"""No row names what there is not, and nothing has a row that nobody reads."""

from __future__ import annotations

import re
from pathlib import Path
from typing import get_args

from inhabit.envs.alfred.language.verbs import BY_ACTION, VERBS
from inhabit.envs.alfred.phrasing.goals import WORDED
from inhabit.envs.alfred.scenes.scene import ObjectState
from inhabit.envs.alfred.skills.acting import SKILLS
from inhabit.envs.alfred.world.kinds import BY_NAME, KINDS, TREATMENTS
from inhabit.envs.alfred.world.things import STATES
from inhabit.envs.simulators.household.actions import ACTIONS
from inhabit.envs.simulators.household.types.things import THINGS, Thing, Trait, spelled_out

ROOT = Path(__file__).parents[3]


def test_types_are_what_other_rows_say() -> None:
    for name, thing in THINGS.items():
        named = {*spelled_out((*thing.places, *thing.loads, *(thing.takes or ())))}
        assert named | ({thing.basin} - {""}) <= THINGS.keys(), name
    asked = {need for verb in VERBS for need in verb.needs}
    assert {can for thing in THINGS.values() for can in thing.can} == asked
    suited = {task for thing in THINGS.values() for task in thing.suits}
    assert suited == {one.name for one in TREATMENTS} | {"light"}


def test_every_column_and_every_trait_is_read() -> None:
    files = (ROOT / "envs").rglob("*.py")
    code = "".join(f.read_text("utf-8") for f in files if f.name != "rows.py")
    read = {*re.findall(r'those\("(\w+)"\)', code)}
    read |= {word for thing in THINGS.values() for word in thing.takes or ()}
    assert {trait for thing in THINGS.values() for trait in thing.traits} == {*get_args(Trait)}
    assert {*get_args(Trait)} <= read
    assert {f for f in Thing.model_fields if not re.search(rf"\.{f}\b|\"{f}\"", code)} == set()


def test_verbs_are_acted_and_states_are_set() -> None:
    names = {verb.name for verb in VERBS}
    assert names.issuperset(SKILLS)
    for verb in VERBS:
        assert verb.name in SKILLS or verb.asks, f"nobody can {verb.name}"
    actions = [*BY_ACTION, *(a for s in STATES for a in (s.sets, s.clears) if a)]
    assert set(actions) <= ACTIONS.keys()
    assert ObjectState.model_fields.keys() == {"object", *(state.name for state in STATES)}


def test_kinds_ask_for_what_there_is() -> None:
    for one in TREATMENTS:
        assert {one.by, *one.inside} <= THINGS.keys() and one.things
        assert one.verb in {verb.name for verb in VERBS}
    for kind in KINDS:
        assert {*kind.harder, *kind.combined} <= BY_NAME.keys()
        assert {*kind.shapes} <= WORDED.keys() and kind.says and kind.objects
    assert {shape for kind in KINDS for shape in kind.shapes} == WORDED.keys()
    used = {kind.treatment.name for kind in KINDS if kind.treatment is not None}
    assert used == {one.name for one in TREATMENTS}
