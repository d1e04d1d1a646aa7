"""Packs metadata in cached parts, since most of a room is the same after every action."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import msgpack

from inhabit.envs.simulators.household.episode.house import Sight
from inhabit.envs.simulators.household.state.world import SimObject

_PER_STEP = ("distance", "visible", "isInteractable")
"""Fields that depend on the agent's pose, and so change with every step."""


class Format(ABC):
    """A format for plain values that can also combine packed parts."""

    @abstractmethod
    def entries(self, table: Mapping[str, Any]) -> bytes:
        """The inside of a table, to combine with others by `table`."""

    @abstractmethod
    def entry(self, key: str, packed: bytes) -> bytes:
        """One entry with a packed value."""

    @abstractmethod
    def table(self, entries: Sequence[bytes], count: int) -> bytes:
        """A table of what `entries` and `entry` returned, with `count` entries in all."""

    @abstractmethod
    def array(self, items: Sequence[bytes]) -> bytes:
        """An array of packed values."""


class MessagePack(Format):
    """For the pipes."""

    def __init__(self) -> None:
        self._pack: Callable[[Any], bytes] = msgpack.Packer(autoreset=True).pack

    def entries(self, table: Mapping[str, Any]) -> bytes:
        """See `Format`."""
        return self._pack(table)[len(_map_header(len(table))) :]

    def entry(self, key: str, packed: bytes) -> bytes:
        """See `Format`."""
        return self._pack(key) + packed

    def table(self, entries: Sequence[bytes], count: int) -> bytes:
        """See `Format`."""
        return b"".join([_map_header(count), *entries])

    def array(self, items: Sequence[bytes]) -> bytes:
        """See `Format`."""
        head = b"\xdc" + len(items).to_bytes(2, "big")
        return b"".join([head, *items])


class Json(Format):
    """For HTTP."""

    def entries(self, table: Mapping[str, Any]) -> bytes:
        """See `Format`."""
        return json.dumps(table, separators=(",", ":"), allow_nan=False)[1:-1].encode()

    def entry(self, key: str, packed: bytes) -> bytes:
        """See `Format`."""
        return json.dumps(key).encode() + b":" + packed

    def table(self, entries: Sequence[bytes], count: int) -> bytes:
        """See `Format`."""
        return b"{" + b",".join(entries) + b"}"

    def array(self, items: Sequence[bytes]) -> bytes:
        """See `Format`."""
        return b"[" + b",".join(items) + b"]"


class Objects:
    """Packs `metadata["objects"]` and caches the unchanged part of each object."""

    def __init__(self, form: Format, aliases: Mapping[str, str]) -> None:
        """Start with an empty cache.

        Args:
            form: how it is written.
            aliases: keys that are written under another name besides.
        """
        self._form = form
        self._aliases = aliases
        self._kept: dict[int, tuple[bytes, int]] = {}

    def pack(
        self, seen: Iterable[tuple[SimObject, Sight]], apart: frozenset[str] = frozenset()
    ) -> bytes:
        """All objects, with their current visibility.

        Args:
            seen: the objects.
            apart: ids that are on no object's lists of parents and contents.
        """
        kept, items = {}, []
        for thing, sight in seen:
            if apart and not apart.isdisjoint((thing.id, *thing.parents, *thing.contents)):
                entry = self._entry(_without(thing, apart))
            else:
                entry = self._kept.get(thing.revision) or self._entry(thing.metadata)
                kept[thing.revision] = entry
            now = self._form.entries(dict(zip(_PER_STEP, sight, strict=True)))
            items.append(self._form.table([entry[0], now], entry[1]))
        self._kept = kept
        return self._form.array(items)

    def _entry(self, metadata: Mapping[str, Any]) -> tuple[bytes, int]:
        still = {k: v for k, v in metadata.items() if k not in _PER_STEP}
        still |= {alias: still[key] for key, alias in self._aliases.items()}
        return self._form.entries(still), len(still) + len(_PER_STEP)


def _without(thing: SimObject, apart: frozenset[str]) -> Mapping[str, Any]:
    """An object's metadata without links to, or from, what is apart."""
    parents, contents = thing["parentReceptacles"], thing["receptacleObjectIds"]
    if parents is not None:
        parents = [id for id in parents if id not in apart] or None
    if contents is not None:
        contents = [id for id in contents if id not in apart and thing.id not in apart]
    return {**thing.metadata, "parentReceptacles": parents, "receptacleObjectIds": contents}


def _map_header(count: int) -> bytes:
    # MessagePack's "fixmap" and "map 16": the fixed size of the second locates the entries.
    return bytes([0x80 | count]) if count < 16 else b"\xde" + count.to_bytes(2, "big")
