"""Whichever mug is meant by "the mug"."""

from __future__ import annotations

from typing import Any

from inhabit.envs.alfred.episode.state import Memory, Reference
from inhabit.envs.alfred.language.verbs import ObjectNames
from inhabit.envs.alfred.thor.objects import ThorObjects
from inhabit.envs.alfred.world.settings import Unnumbered
from tests.envs.alfred.rooms_for_tests import linked, record


def reference(
    memory: Memory, *records: dict[str, Any], unnumbered: Unnumbered = "used"
) -> Reference:
    world = ThorObjects(linked(records))
    return Reference(world, ObjectNames(world), memory, 0.0, 0.0, unnumbered)


def cabinet(number: int, *flags: str) -> dict[str, Any]:
    return record("Cabinet", number, "receptacle", "openable", *flags, at=float(number))


def meant(memory: Memory, verb: str, name: str, *records: dict[str, Any]) -> str | None:
    thing = reference(memory, *records).resolve(verb, name)
    return thing.id if thing is not None else None


def test_only_what_was_seen_is_meant() -> None:
    memory = Memory()
    assert meant(memory, "open", "cabinet", cabinet(1)) is None
    assert meant(memory, "open", "cabinet_1", cabinet(1)) is None
    memory.see(["Cabinet|1"])
    assert meant(memory, "open", "cabinet", cabinet(1)) == "Cabinet|1"
    assert meant(memory, "open", "cabinet_1", cabinet(1)) == "Cabinet|1"
    assert meant(memory, "open", "cabinet_2", cabinet(1)) is None


def test_going_again_and_again_visits_one_after_the_other() -> None:
    room = [cabinet(3), cabinet(1), cabinet(2)]
    memory = Memory()
    memory.see(r["objectId"] for r in room)
    visited = []
    for _ in range(4):
        id = meant(memory, "go to", "cabinet", *(dict(r) for r in room))
        assert id is not None
        visited.append(id)
        memory.go(id)
    assert visited[:3] == ["Cabinet|1", "Cabinet|2", "Cabinet|3"]
    assert visited[3] != "Cabinet|3", "It is there already."


def test_handling_means_what_was_gone_to_if_it_fits() -> None:
    memory = Memory()
    memory.see(["Cabinet|1", "Cabinet|2"])
    memory.go("Cabinet|2")
    assert meant(memory, "open", "cabinet", cabinet(1), cabinet(2)) == "Cabinet|2"
    opened = cabinet(2, "isOpen")
    assert meant(memory, "open", "cabinet", cabinet(1), opened) == "Cabinet|1"
    assert meant(memory, "close", "cabinet", cabinet(1), cabinet(2, "isOpen")) == "Cabinet|2"


def test_the_shortest_name_is_understood() -> None:
    memory = Memory()
    memory.see(["Cabinet|1", "Cabinet|2"])
    found = reference(memory, cabinet(1), cabinet(2))
    for thing in found.known():
        resolved = found.resolve("open", found.name("open", thing))
        assert resolved is not None and resolved.id == thing.id
    assert [found.name("open", t) for t in found.known()] == ["cabinet", "cabinet_2"]


def test_what_was_put_into_what_was_used_last_is_meant_before_what_is_nearer() -> None:
    room = [
        record("SinkBasin", 1, "receptacle", at=1.0),
        record("CounterTop", 1, "receptacle", at=0.2),
        record("AppleSliced", 1, "pickupable", "visible", parent="SinkBasin|1", at=1.0),
        record("AppleSliced", 2, "pickupable", "visible", parent="CounterTop|1", at=0.2),
    ]
    memory = Memory()
    memory.see(r["objectId"] for r in room)
    world = ThorObjects(linked(room))
    names = ObjectNames(world)

    def taken(unnumbered: Unnumbered = "used") -> str:
        thing = Reference(world, names, memory, 0.0, 0.0, unnumbered).resolve(
            "pick up", "apple slice"
        )
        assert thing is not None
        return thing.id

    assert taken() == "AppleSliced|2"
    memory.touch(world["SinkBasin|1"])
    memory.touch(world["AppleSliced|2"])
    memory.focus = None
    assert taken() == "AppleSliced|1"
    assert taken("nearest") == "AppleSliced|2"


def test_what_the_feedback_told_to_go_to_is_gone_to() -> None:
    memory = Memory()
    memory.see(["Cabinet|1", "Cabinet|2"])
    memory.sent = "Cabinet|2"
    assert meant(memory, "go to", "cabinet", cabinet(1), cabinet(2)) == "Cabinet|2"
    memory.sent = None
    assert meant(memory, "go to", "cabinet", cabinet(1), cabinet(2)) == "Cabinet|1"


def test_what_could_not_be_reached_is_gone_to_last() -> None:
    memory = Memory()
    memory.see(["Cabinet|1", "Cabinet|2"])
    memory.refused["go to Cabinet|1"] = None
    assert meant(memory, "go to", "cabinet", cabinet(1), cabinet(2)) == "Cabinet|2"
    assert meant(memory, "go to", "cabinet", cabinet(1)) == "Cabinet|1"
    memory.go("Cabinet|1")
    memory.go("Cabinet|2")
    memory.visited.clear()
    assert meant(memory, "go to", "cabinet", cabinet(1), cabinet(2)) == "Cabinet|1"


def test_what_was_shut_in_is_not_meant() -> None:
    memory = Memory()
    memory.see(["Fridge|1", "Egg|1", "Egg|2"])
    shut, opened = (
        record("Fridge", 1, "receptacle", "openable", *flags) for flags in ((), ("isOpen",))
    )
    eggs = (
        record("Egg", 1, "pickupable", parent="Fridge|1"),
        record("Egg", 2, "pickupable", "visible", at=0.5),
    )
    memory.used = "Fridge|1"
    assert meant(memory, "pick up", "egg", opened, *map(dict, eggs)) == "Egg|1"
    assert meant(memory, "pick up", "egg", shut, *map(dict, eggs)) == "Egg|2"


def test_by_the_old_rule_neither_feedback_nor_what_is_out_of_reach_matters() -> None:
    memory = Memory()
    memory.see(["Cabinet|1", "Cabinet|2"])
    memory.sent = "Cabinet|2"
    memory.refused["go to Cabinet|1"] = None
    rules: tuple[tuple[Unnumbered, int], ...] = (("nearest", 1), ("used", 2))
    for unnumbered, number in rules:
        found = reference(memory, cabinet(1), cabinet(2), unnumbered=unnumbered)
        thing = found.resolve("go to", "cabinet")
        assert thing is not None and thing.id == f"Cabinet|{number}"
