"""The only way in: the command line and the four functions of `inhabit`.

All that is recorded comes through here, so that what lies behind may move.
"""

from __future__ import annotations

import contextlib
import io
import json
import random
import sys
from collections.abc import Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import inhabit
from inhabit.cli import main
from inhabit.envs.registry import find, lacking

IN_PROCESS = ("--set", "in_process=true")


def call(*words: object, typed: Sequence[str] = (), code: int = 0) -> str:
    """What a command prints; `typed` is typed into it."""
    out, err, stdin = io.StringIO(), io.StringIO(), sys.stdin
    sys.stdin = io.StringIO("".join(f"{line}\n" for line in typed))
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            main([str(word) for word in words])
    except SystemExit as left:
        assert left.code == code, f"{words} ended with {left.code}: {err.getvalue()}"
    finally:
        sys.stdin = stdin
    return out.getvalue()


def answer(*words: object, code: int = 0, typed: Sequence[str] = ()) -> Any:
    """What a command answers with `--json`."""
    return json.loads(call(*words, "--json", code=code, typed=typed).splitlines()[-1])


def export(source: Path, form: str, out: Path) -> Any:
    """What an export answers; where a source has nothing for a format, the refusal."""
    words = ("export", source, "--format", form, "--out", out)
    try:
        return answer(*words)
    except AssertionError as refused:
        if "Nothing was exported" not in str(refused):
            raise
        return {"refused": "Nothing was exported"}


def available(env: str) -> bool:
    """Whether the embedded simulator of an environment is installed."""
    registration = find(env)
    return not lacking(registration, registration.backends[0])


def samples(env: str, n: int, seed: int = 0) -> list[Any]:
    """Tasks as JSON."""
    return [task.model_dump(mode="json") for task in inhabit.tasks(env, n, seed=seed)]


def evolving(env: str, n: int) -> Any:
    """What an environment offers to EIE: its words, forms, seeds, evolved tasks and events."""
    registration = find(env)
    assert registration.template is not None
    template = registration.template(registration.settings())
    seeds, evolved, events, kinds = [], [], [], []
    for number in range(n):
        task = template.seed(random.Random(f"golden {number}"), f"golden-{number}")
        seeds.append(task.model_dump(mode="json"))
        events.append([_plain(event) for event in template.events(task)])
        kinds.append([template.kind(task.scene), template.room(task)])
        for change in template.changes:
            rng = random.Random(f"golden {change} {number}")
            other = template.evolve(task, change, rng, f"golden-{number}-e")
            evolved.append([change, None if other is None else other.model_dump(mode="json")])
            if other is not None:
                events.append([_plain(event) for event in template.events(other)])
    lexicon = template.lexicon
    return {
        "changes": [list(template.changes), sorted(template.harder)],
        "schema": template.schema(),
        "prose": template.prose(),
        "seeds": seeds,
        "evolved": evolved,
        "events": events,
        "kinds and rooms": kinds,
        "lexicon": {
            "kinds": sorted(lexicon.kinds),
            "states": sorted(lexicon.states.items()),
            "synonyms": sorted(lexicon.synonyms.items()),
            "products": sorted(lexicon.products.items()),
            "containers": sorted(lexicon.containers),
            "called": sorted((name, sorted(kinds)) for name, kinds in lexicon.called.items()),
        },
    }


def _plain(value: Any) -> Any:
    return {name: getattr(value, name) for name in value.__dataclass_fields__}


def walk(env: str, task: Any, settings: Mapping[str, object], most: int = 25) -> dict[str, Any]:
    """An episode of the expert's, and all that an environment tells on the way, and actions
    that fail.
    """
    found: dict[str, list[Any]] = {}

    def note(name: str, value: Any) -> None:
        found.setdefault(name, []).append(value)

    with inhabit.open(env, task, seed=1, settings=settings) as session:
        house = session.env
        note("vocabulary", session.candidates("vocabulary"))
        for step in range(most):
            seen = session.last
            note("texts", seen.text)
            note("pixels", seen.rgb)
            note("seen", session.candidates())
            note("progress", list(house.progress()))
            if step == 2:
                _privileged(house, session, note)
            plan = session.plan()
            note("plans", plan)
            if not plan or session.over:
                break
            result = session.act(plan[0])
            note("outcomes", [result.reason, result.feedback, result.met, result.cost])
        session.reset()
        spoken = session.candidates("vocabulary")
        for text in (*spoken[:: max(1, len(spoken) // 12)], "fly to the moon", spoken[0].upper()):
            if session.over:
                break
            result = session.act(text)
            said = result.action and result.action.text
            note("tries", [said, result.reason, result.feedback, result.met, result.cost])
    return found


def _privileged(house: Any, session: Any, note: Any) -> None:
    """What only judges and EIE are told. Not every environment tells it all."""
    if hasattr(house, "state"):
        note("states", house.state())
        note("digests", house.digest())
        note("oracle", session.candidates("oracle"))
    if hasattr(house, "things"):
        note("things", [_plain(thing) for thing in house.things()])
    if hasattr(house, "best_actions"):
        best = house.best_actions()
        note("best", None if best is None else sorted(action.text for action in best))
    if hasattr(house, "tools"):
        note("tools", list(house.tools()))


def pictures(env: str, tasks: Sequence[Any], settings: Mapping[str, object]) -> list[Any]:
    """What is seen at the beginning of each task."""
    with inhabit.open(env, tasks[0], seed=0, settings=settings) as session:
        return [session.reset(task, seed=0).rgb for task in tasks]


def one_of_each(env: str, field: str, n: int, most: int) -> list[Any]:
    """The first sampled tasks with `n` different values of a field of their scenes."""
    found: dict[Any, Any] = {}
    for task in islice(inhabit.tasks(env, most, seed=0), most):
        if len(found) < n:
            found.setdefault(task.scene[field], task)
    assert len(found) == n, f"{len(found)} values of {field} in {most} tasks"
    return list(found.values())


def tasks_file(file: Path, tasks: Sequence[Any]) -> Path:
    """Tasks as JSON lines in a file."""
    file.write_text("".join(json.dumps(task) + "\n" for task in tasks))
    return file
