"""Writes `index.html` of a set."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from markupsafe import Markup
from pydantic import JsonValue

from inhabit.eie.checking.splits import SPLITS
from inhabit.eie.examples.example import Example, Lineage
from inhabit.eie.sets.coverage import Coverage, cover, evenness
from inhabit.eie.sets.folder import SetFolder
from inhabit.envs.files import replacing
from inhabit.episodes.recording.disk import refused
from inhabit.episodes.reports.page.document import pieces

_UNSAFE = {ord(c): f"\\u{ord(c):04x}" for c in "<>&\u2028\u2029"}
"""Characters that could end the script element or a line of script."""


def rows(examples: Iterable[Example]) -> Iterator[Markup]:
    """A row for each example, separated by commas."""
    before = ""
    for example in examples:
        if before:
            yield Markup(before + ",\n")
        text = json.dumps(_row(example), ensure_ascii=False, separators=(",", ":"))
        before = text.translate(_UNSAFE)
    yield Markup(before)


def _row(example: Example) -> dict[str, JsonValue]:
    made = example.lineage
    return {
        "id": example.id,
        "kind": example.kind,
        "split": example.split,
        "room": example.room,
        "verb": example.verb,
        "objects": list(example.objects),
        "image": example.image,
        "question": example.question,
        "candidates": list(example.candidates),
        "answer": example.answer,
        "reason": example.reason,
        "concepts": list(example.key_concepts),
        "levels": list(example.levels or (example.goal,)),
        "past": [past.model_dump() for past in example.history],
        "left": example.difficulty,
        "origin": None if made is None else _origin(made),
    }


def _origin(made: Lineage) -> dict[str, JsonValue]:
    return {
        "task": made.seed_task,
        "change": made.change,
        "parents": list(made.parents),
        "done": list(made.actions),
        "plan": list(made.plan),
        "event": made.event,
        "graph": [subtask.model_dump() for subtask in made.topology],
        "seed": made.seed,
        "author": made.author,
    }


def write_page(opened: SetFolder) -> Path:
    """Write the page of a set into its folder, and return its file.

    Raises:
        SetError: the set can't be read.
        DiskError: the page can't be written.
    """
    file = opened.folder / "index.html"
    covered = cover(opened)
    # Lone surrogates in model output become question marks.
    with refused(file), replacing(file, opened.folder, shared=True) as stream:
        stream.writelines(p.encode("utf-8", "replace") for p in _pieces(opened, covered))
    return file


def _pieces(opened: SetFolder, covered: Coverage) -> Iterable[str]:
    moments = covered.examples + covered.rejected.total()
    return pieces(
        "set.html",
        folder=Path(__file__).parent,
        header=opened.header,
        command=shlex.join(opened.header.command),
        covered=covered,
        moments=moments,
        splits=[(split, covered.splits[split]) for split in SPLITS],
        even=evenness(covered.positions),
        filters=_filters(covered),
        rows=rows(opened.examples()),
    )


def _filters(covered: Coverage) -> Sequence[tuple[str, str, Sequence[str]]]:
    """Name, label and values of each filter of the list."""
    return [
        ("split", "Split", [split for split in SPLITS if covered.splits[split]]),
        ("kind", "Kind", sorted({kind for kind, _ in covered.kinds})),
        ("verb", "Verb", sorted(covered.verbs)),
        ("object", "Object", sorted(covered.objects)),
        ("room", "Room", sorted({room for room, _ in covered.rooms})),
    ]
