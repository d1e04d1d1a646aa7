"""The table of threats: no cell is empty, and each test that it names is there."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_each_promise_has_a_test() -> None:
    page = (ROOT / "docs" / "security.md").read_text(encoding="utf-8")
    section = page.partition("\n## Threats\n")[2].partition("\n## ")[0]
    lines = [line for line in section.splitlines() if line.startswith("|")]
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[2:]]
    assert len(rows) > 30 and all(len(row) == 5 and all(row) for row in rows)
    for *_, named in rows:
        file, name = re.fullmatch(r"`(.+\.py)::(test_\w+)`", named).groups()  # type: ignore[union-attr]
        assert f"def {name}(" in (ROOT / file).read_text(encoding="utf-8"), named
