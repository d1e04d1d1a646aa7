"""What a field of settings is, beyond its type: a place of this machine, or without effect.

An environment, an agent or a model declares its settings as a pydantic model, and marks fields so:

    executable: Annotated[str | None, Place()] = None
    timeout: Annotated[float, NoEffect()] = 60.0
"""

from __future__ import annotations

import types
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any, get_args, get_origin

from pydantic import BaseModel
from pydantic.fields import FieldInfo


@dataclass(frozen=True, slots=True)
class Place:
    """The field names a program, an address, a port, a file or a folder.

    It is taken from the command line alone. What a record names is shown and asked for again, since
    a record may come from anybody. Fields of paths, and those of free text that are not marked
    `Words`, count as places without the mark.
    """


@dataclass(frozen=True, slots=True)
class Words:
    """The field holds free text, and yet names no place."""


@dataclass(frozen=True, slots=True)
class Device:
    """The field says what of this machine is used. A record may say it again; what comes with a
    model may not.
    """


@dataclass(frozen=True, slots=True)
class Trust:
    """The field lets code of others run, or opens what may hide some. It is taken from the command
    line alone: not even a record that is the user's own says it.
    """


@dataclass(frozen=True, slots=True)
class NoEffect:
    """The field has no effect on results, such as a timeout: it may be another one when a run goes
    on.
    """


@dataclass(frozen=True, slots=True)
class Formerly:
    """The field is younger than some records: those without it were made as if it were `value`."""

    value: object


def as_recorded(settings: type[BaseModel], recorded: Mapping[str, object]) -> dict[str, object]:
    """Recorded settings, with the former values of fields that are younger than the record."""
    fields = settings.model_fields.items()
    former = {n: m.value for n, f in fields for m in f.metadata if isinstance(m, Formerly)}
    return {**former, **recorded}


def places(settings: type[BaseModel]) -> frozenset[str]:
    """Names of the fields that name a place."""
    return frozenset(n for n, field in settings.model_fields.items() if _is_place(field))


def paths(settings: type[BaseModel]) -> frozenset[str]:
    """Names of the fields that are marked as a place, or whose values are paths."""
    fields = settings.model_fields.items()
    return frozenset(
        n for n, f in fields if _has(f, Place) or any(map(_is_path, _parts(f.annotation)))
    )


def trusting(settings: type[BaseModel]) -> frozenset[str]:
    """Names of the fields that trust something."""
    return frozenset(n for n, field in settings.model_fields.items() if _has(field, Trust))


def portable(settings: type[BaseModel]) -> frozenset[str]:
    """Names of the fields that a folder which anybody made may set: numbers and choices that name
    neither a place nor a device, trust nothing, and have an effect on results.
    """
    fields = settings.model_fields.items()
    marked = frozenset(n for n, f in fields if any(_has(f, m) for m in (Device, Trust, NoEffect)))
    return frozenset(settings.model_fields) - marked - places(settings)


def without_effect(settings: type[BaseModel]) -> frozenset[str]:
    """Names of the fields that have no effect on results."""
    fields = settings.model_fields.items()
    return frozenset(n for n, field in fields if _has(field, NoEffect))


def _is_place(field: FieldInfo) -> bool:
    if _has(field, Place) or _has(field, Trust):
        return True
    return not _has(field, Words) and any(_may_name(kind) for kind in _parts(field.annotation))


def _has(field: FieldInfo, mark: type) -> bool:
    return any(isinstance(found, mark) for found in field.metadata)


def _may_name(kind: object) -> bool:
    if kind is Any or kind is object:
        return True
    if not isinstance(kind, type):
        return False
    if issubclass(kind, BaseModel):
        return bool(places(kind))
    return kind in (str, bytes) or _is_path(kind)


def _is_path(kind: object) -> bool:
    return isinstance(kind, type) and issubclass(kind, PurePath)


def _parts(annotation: object) -> Iterator[object]:
    """The types that a value, or a part of it, may have; values of `Literal` are none."""
    if (value := getattr(annotation, "__value__", None)) is not None:  # a `type` statement's
        annotation = value
    found = get_args(annotation)
    if not found or str(get_origin(annotation)) == "typing.Literal":
        yield annotation
    for part in found if str(get_origin(annotation)) != "typing.Literal" else ():
        if part is not types.NoneType:
            yield from _parts(part)
