"""Runs tests with the packages of others that they need, beside what is installed here."""

from __future__ import annotations

import os
import re
import subprocess
import sysconfig
import venv
from collections.abc import Sequence
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
HERE = ROOT / "tests" / "frameworks"
ORS, VERIFIERS = HERE / "test_ors.py", HERE / "test_verifiers.py"
"""They do not go together, and Verifiers brings mcp 2, where `inhabit mcp` needs mcp 1."""
REST = [file for file in HERE.glob("test_*.py") if file not in (Path(__file__), ORS, VERIFIERS)]


@pytest.mark.slow
@pytest.mark.timeout(1500)
@pytest.mark.parametrize(
    ("frameworks", "files"),
    [
        (("openenv", "trl", "inspect-ai", "mcp<2", "gymnasium", "skyrl-gym"), REST),
        (("verifiers>=0.4",), [VERIFIERS]),
        (("openreward>=0.1.167", "uvicorn"), [ORS]),
        (("tensorboard", "wandb", "mlflow"), [ROOT / "tests/eie/export/test_tracking.py"]),
    ],
)
def test_with_the_frameworks_own_packages(
    frameworks: Sequence[str], files: Sequence[Path], tmp_path: Path
) -> None:
    venv.create(tmp_path / "venv", with_pip=True)
    python = tmp_path / "venv" / "bin" / "python"
    site = next((tmp_path / "venv" / "lib").glob("python3*/site-packages"))
    # They bring older versions of some packages, which are not to replace those of the tests.
    (site / "beside.pth").write_text(sysconfig.get_path("purelib") + "\n")
    subprocess.run([python, "-m", "pip", "install", "-q", *frameworks], check=True)
    done = subprocess.run(
        [python, "-m", "pytest", "-rs", "-p", "no:cacheprovider", *files],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout[-5000:] + done.stderr[-2000:]
    assert not re.search(r"SKIPPED.*needs the", done.stdout), done.stdout
