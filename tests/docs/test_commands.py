"""The command blocks of the README and the guides run as they are written.

A block that begins with the comment `<!-- not run: REASON -->` is passed over, and one with
`<!-- slow: REASON -->` runs under --all: everything else is executed, block by block, in one
folder.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
BLOCK = re.compile(
    r"(?:<!-- (not run|slow): [^\n]+ -->\n)?```(\w*)\n(.*?)^```", re.DOTALL | re.MULTILINE
)
PAGES = ("README.md", "docs/tutorial.md", "docs/python.md", "docs/trainers.md")


def _blocks(page: str, mark: str) -> list[tuple[str, str]]:
    found = BLOCK.findall((ROOT / page).read_text())
    return [(language, text) for marked, language, text in found if marked in ("", mark)]


@pytest.mark.parametrize(
    "page",
    [
        "README.md",
        pytest.param("docs/python.md", marks=pytest.mark.slow),
        pytest.param("docs/tutorial.md", marks=pytest.mark.slow),
        pytest.param("docs/trainers.md", marks=pytest.mark.slow),
    ],
)
def test_its_blocks_run(page: str, tmp_path: Path) -> None:
    _run_all(_blocks(page, ""), tmp_path)


@pytest.mark.slow
@pytest.mark.timeout(3600)
def test_slow_blocks_run_too(tmp_path: Path) -> None:
    for page in PAGES:
        _run_all(_blocks(page, "slow"), tmp_path)


@pytest.mark.parametrize("page", PAGES)
def test_a_block_that_is_not_run_has_a_reason(page: str) -> None:
    text = (ROOT / page).read_text()
    marks = re.findall(r"^<!-- ((?:not run|slow)\b.*) -->$", text, re.MULTILINE)
    assert [mark for mark in marks if not re.fullmatch(r"(?:not run|slow): \w.+", mark)] == []


def _run_all(blocks: list[tuple[str, str]], folder: Path) -> None:
    assert blocks
    bin_folder = folder / "bin"
    bin_folder.mkdir(exist_ok=True)
    command = bin_folder / "inhabit"
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m inhabit "$@"\n')
    command.chmod(0o755)
    paths = {"PYTHONPATH": str(ROOT), "PATH": f"{bin_folder}:{os.environ['PATH']}"}
    python = "\n".join(text for language, text in blocks if language == "python")
    shell = "set -e\n" + "\n".join(text for language, text in blocks if language == "")
    for program in ([sys.executable, "-c", python], ["bash", "-c", shell]):
        done = subprocess.run(
            program, cwd=folder, env=os.environ | paths, capture_output=True, text=True
        )
        assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
