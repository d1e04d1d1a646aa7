"""VirtualHome's rows name what the catalogue and the other rows have."""

from __future__ import annotations

from inhabit.envs.virtualhome.expert.planner import MAKES
from inhabit.envs.virtualhome.graph.verbs import VERBS
from inhabit.envs.virtualhome.tasks.kinds import KINDS
from inhabit.envs.virtualhome.world.catalogue import catalogue


def test_verbs_need_and_kinds_draw_what_there_is() -> None:
    properties = {one for article in catalogue().values() for one in article.properties}
    for verb in VERBS.values():
        assert verb.name == "GREET" or properties.issuperset(verb.needs), verb.name
        assert {*verb.traits} <= {"unity", "idle"}
    assert {verb.makes for verb in VERBS.values()} - {""} == MAKES.keys()
    for kind in KINDS.values():
        drawn = {name for classes in kind.draws.values() for name in classes.split()} - {"2"}
        assert drawn <= catalogue().keys(), kind.name
