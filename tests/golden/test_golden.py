"""Everything that is recorded is as it was when `golden.json` was made.

A difference that is meant is written with `python -m pytest tests/golden --all --write`, and the
commit says why each line that changed is right.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.golden.calling import available
from tests.golden.digests import TOLERANCE, entry
from tests.golden.parts import PARTS, Part

FILE = Path(__file__).parent / "golden.json"
Entries = dict[str, str | list[float]]


def differences(was: Entries, now: Entries) -> list[str]:
    """One sentence for each name that is new, is missing, or has another value."""
    found = [f"missing: {name} = {was[name]}" for name in was.keys() - now.keys()]
    found += [f"new: {name} = {now[name]}" for name in now.keys() - was.keys()]
    for name in was.keys() & now.keys():
        if not alike(was[name], now[name]):
            found.append(f"differs: {name}\n    was {was[name]}\n    now {now[name]}")
    return sorted(found)


def alike(was: str | list[float], now: str | list[float]) -> bool:
    if isinstance(was, str) or isinstance(now, str):
        return was == now
    near = [abs(a - b) <= TOLERANCE for a, b in zip(was, now, strict=False)]
    return len(was) == len(now) and all(near)


@pytest.mark.timeout(1800)  # A machine under load: how long it takes says nothing here.
@pytest.mark.parametrize(
    "part",
    [
        pytest.param(part, id=part.name, marks=pytest.mark.slow if part.slow else ())
        for part in PARTS
    ],
)
def test_all_is_as_it_was(part: Part, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    for env in part.needs:
        if not available(env):
            pytest.skip(f"{env} is not installed here: inhabit setup {env}")
    folder = tmp_path / "golden-record"
    folder.mkdir()
    now = {f"{part.name} | {name}": entry(value) for name, value in part.make(folder)}
    golden: Entries = json.loads(FILE.read_text()) if FILE.exists() else {}
    was = {name: value for name, value in golden.items() if name.startswith(f"{part.name} | ")}
    if request.config.getoption("--write", default=False):
        kept = {name: value for name, value in golden.items() if name not in was}
        lines = [f"{json.dumps(k)}: {json.dumps(v)}" for k, v in sorted((kept | now).items())]
        FILE.write_text("{\n" + ",\n".join(lines) + "\n}\n")
        return
    found = differences(was, now)
    assert not found, f"{len(found)} lines of {FILE.name} differ:\n" + "\n".join(found)


def test_a_new_field_and_a_changed_one_are_named_each_on_a_line() -> None:
    was: Entries = {"run | act.cost": "1 2", "run | loss": [0.5, 0.25]}
    now: Entries = {"run | act.cost": "1 3", "run | loss": [0.50004, 0.25], "run | trusted": "[]"}
    changed = "differs: run | act.cost\n    was 1 2\n    now 1 3"
    assert differences(was, now) == [changed, "new: run | trusted = []"]
    assert differences(was, was) == []
    assert differences({"run | loss": [0.5]}, {"run | loss": [0.5002]}) != []
