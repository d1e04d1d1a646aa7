"""Reference resolution: which object "the mug" or "the mug_2" means."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from inhabit.envs.alfred.episode.memory import Memory
from inhabit.envs.alfred.language.naming import ObjectNames, split_name, squeeze, word
from inhabit.envs.alfred.language.verbs import fits
from inhabit.envs.alfred.thor.objects import ThorObject, ThorObjects


class Reference:
    """The meaning of names in the current state, among objects that the agent has seen."""

    def __init__(
        self, world: ThorObjects, names: ObjectNames, memory: Memory, x: float, z: float
    ) -> None:
        self._world = world
        self._names = names
        self._memory = memory
        self._x, self._z = x, z
        self._known: Sequence[ThorObject] | None = None

    def known(self) -> Sequence[ThorObject]:
        """Every seen, existing, named object, in the order of the names."""
        if self._known is None:
            ids = [id for id in self._memory.seen if id in self._names and id in self._world]
            self._known = [self._world[id] for id in sorted(ids, key=self._order)]
        return self._known

    def _order(self, id: str) -> tuple[str, int]:
        said, _, number = self._names.of(id).rpartition("_")
        return said, int(number)

    def resolve(self, verb: str, name: str) -> ThorObject | None:
        """The object that `name` means after `verb`; None if no such object was seen."""
        squeezed, number = split_name(name)
        if number is not None:
            id = self._names.id(squeezed, number)
            return self._world.get(id) if id in self._memory.seen and id is not None else None
        return self.choose(verb, [t for t in self.known() if squeeze(word(t.type)) == squeezed])

    def choose(self, verb: str, things: Sequence[ThorObject]) -> ThorObject | None:
        """The most likely of several objects of one type.

        For navigation, the nearest one that was not yet visited or taken. Otherwise one to which
        the verb can apply: the one visited last, then those in view, then the nearest.
        """
        rank = self._to_go if verb in ("go to", "find") else self._to_act(verb)
        return min(things, key=lambda t: (*rank(t), self._order(t.id)), default=None)

    def _to_go(self, thing: ThorObject) -> tuple[object, ...]:
        return (
            thing.held,
            self._world.shut_in(thing) is not None,
            thing.id in self._memory.visited,
            thing.id == self._memory.focus,
            round(thing.reach(self._x, self._z), 3),
        )

    def _to_act(self, verb: str) -> Callable[[ThorObject], tuple[object, ...]]:
        return lambda thing: (
            not fits(verb, thing),
            thing.id != self._memory.focus,
            not thing.visible,
            round(thing.reach(self._x, self._z), 3),
        )

    def name(self, verb: str, thing: ThorObject) -> str:
        """The shortest name that resolves to the object: "mug", or "mug_2" among several."""
        said = word(thing.type)
        meant = self.resolve(verb, said)
        return said if meant is not None and meant.id == thing.id else self._names.of(thing.id)
