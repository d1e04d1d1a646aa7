"""What an environment says of itself, compared with what it is."""

from __future__ import annotations

import json
from collections.abc import Mapping
from importlib.metadata import Distribution, PackageNotFoundError, distribution, entry_points

from inhabit.envs.printable import printable
from inhabit.episodes.validating.check import CheckFigure, Measure
from inhabit.episodes.validating.subject import DoesNotApply, Subject

_LONGEST_GOAL = 1000
"""Characters of a goal, at most."""


def _distribution(subject: Subject) -> Distribution:
    """The installed package that brings the environment."""
    name = subject.registration.name
    if subject.target != name:
        raise DoesNotApply("The environment comes from a file, and from no package.")
    theirs = [point for point in entry_points(group="inhabit.envs") if point.name == name]
    if theirs and theirs[0].dist is not None:
        return theirs[0].dist
    package = subject.registration.packages[:1] if ":" in name else ("inhabit",)
    try:
        return distribution(package[0])
    except (PackageNotFoundError, IndexError) as error:
        raise DoesNotApply("The package that brings it is not installed as one.") from error


def _licence(subject: Subject) -> CheckFigure:
    told = _distribution(subject).metadata
    words = [told.get_all(key) or [] for key in ("License-Expression", "License", "Classifier")]
    named = [*words[0], *words[1], *(one for one in words[2] if one.startswith("License"))]
    return CheckFigure(len(named), printable(named[0])[:80] if named else "None is declared.")


def _version(subject: Subject) -> CheckFigure:
    found = _distribution(subject)
    return CheckFigure(bool(found.version), f"{found.name} {found.version}")


def _summary(subject: Subject) -> CheckFigure:
    return CheckFigure(len(subject.registration.summary.split()), subject.registration.summary)


def _settings(subject: Subject) -> CheckFigure:
    fields = subject.registration.settings.model_json_schema().get("properties", {})
    dark = [name for name, field in fields.items() if not field.get("description", "").strip()]
    return CheckFigure(len(dark), f"{dark[0]} has no Field(description=...)." if dark else "")


def _kinds(subject: Subject) -> CheckFigure:
    known = set(subject.registration.kinds(subject.settings))
    if not known:
        raise DoesNotApply("The registration lists no kinds.")
    other = sorted({task.kind for task in subject.tasks} - known)
    return CheckFigure(len(other), f"{other[0]!r} is not listed." if other else "")


def _rooms(subject: Subject) -> CheckFigure:
    known = {room for of in subject.registration.rooms(subject.settings).values() for room in of}
    if not known:
        raise DoesNotApply("The registration lists no rooms.")
    found = {subject.registration.room_of(task) for task in subject.tasks}
    other = sorted(str(room) for room in found - known)
    return CheckFigure(len(other), f"{other[0]!r} is not listed." if other else "")


def _goals(subject: Subject) -> CheckFigure:
    odd = [
        task.id
        for task in subject.tasks
        if printable(task.goal) != task.goal
        or "\n" in task.goal
        or len(task.goal) > _LONGEST_GOAL
        or not any(map(str.isalpha, task.goal))
    ]
    return CheckFigure(len(odd), f"The goal of {odd[0]}." if odd else "")


def _distinct(subject: Subject) -> CheckFigure:
    starts = {(t.goal, json.dumps(dict(t.scene), sort_keys=True)) for t in subject.tasks}
    return CheckFigure(len(starts) / len(subject.tasks))


def _names(subject: Subject) -> CheckFigure:
    """Tasks whose scene names a place of this machine that the registration does not mark."""
    marked = set(subject.registration.scene_places)
    odd = [
        f"{task.id}: {key}"
        for task in subject.tasks
        for key, value in task.scene.items()
        if isinstance(value, str) and value.startswith(("/", "~", "file:")) and key not in marked
    ]
    return CheckFigure(len(odd), odd[0] if odd else "")


MEASURES: Mapping[str, Measure] = {
    "card.licence": _licence,
    "card.version": _version,
    "card.summary": _summary,
    "card.settings": _settings,
    "runtime.task_declaration_accuracy.kinds": _kinds,
    "runtime.task_declaration_accuracy.rooms": _rooms,
    "card.goals": _goals,
    "card.tasks_differ": _distinct,
    "card.places": _names,
}
