"""Examples as the page's script reads them: one JSON object each, safe inside a page."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator

from markupsafe import Markup
from pydantic import JsonValue

from eie.example import Example, Lineage, Past

_UNSAFE = {ord(c): f"\\u{ord(c):04x}" for c in "<>&\u2028\u2029"}
"""What could end the element that the rows stand in, or break a line of script."""


def rows(examples: Iterable[Example]) -> Iterator[Markup]:
    """A row for each example, all but the last with a comma after it."""
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
        "past": [_past(past) for past in example.history],
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
        "seed": made.seed,
        "author": made.author,
    }


def _past(past: Past) -> dict[str, JsonValue]:
    return {
        "action": past.action,
        "feedback": past.feedback,
        "failed": past.failed,
        "image": past.image,
    }
