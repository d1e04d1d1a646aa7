"""Runs tests with the packages of others that they need, beside what is installed here."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import sysconfig
import venv
from collections.abc import Sequence
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
HERE = ROOT / "tests" / "frameworks"
ALONE = ORS, VERIFIERS, NEMO, SKYRL = [
    HERE / f"test_{name}.py" for name in ("ors", "verifiers", "nemo", "skyrl_step")
]
"""They do not go together, and Verifiers brings mcp 2, where `inhabit mcp` needs mcp 1."""
REST = [file for file in HERE.glob("test_*.py") if file not in (Path(__file__), *ALONE)]
_NEMO = (
    *("fastapi", "uvicorn", "uvloop", "httptools", "itsdangerous", "hydra-core", "openai==2.44.0"),
    *("aiohttp", "devtools", "orjson", "python-multipart", "mcp<2", "yappi", "anthropic", "pydot"),
    "wandb",
)
_SKYRL = ("jaxtyping", "loguru", "hydra-core==1.3.4", "tensordict", "func_timeout", "skyrl-gym")
_SKYRL_TOO = ("aiohttp", "pybase64", "orjson", "polars", "torchdata", "accelerate", "cloudpathlib")


@pytest.mark.slow
@pytest.mark.timeout(1500)
@pytest.mark.parametrize(
    ("frameworks", "files", "bare"),
    [
        (("openenv", "trl", "inspect-ai", "mcp<2", "gymnasium", "skyrl-gym"), REST, ""),
        (("verifiers>=0.4",), [VERIFIERS], ""),
        (("openreward>=0.1.167", "uvicorn"), [ORS], ""),
        # These ask for later Pythons, and for more than what is tested here needs.
        (_NEMO, [NEMO, ROOT / "tests/eie/export/test_nemo_rollouts.py"], "nemo-gym==0.7.0"),
        ((*_SKYRL, *_SKYRL_TOO), [SKYRL], "skyrl==0.4.0"),
        (("tensorboard", "wandb", "mlflow"), [ROOT / "tests/eie/export/test_tracking.py"], ""),
    ],
)
def test_with_the_frameworks_own_packages(
    frameworks: Sequence[str], files: Sequence[Path], bare: str, tmp_path: Path
) -> None:
    venv.create(tmp_path / "venv")
    python = tmp_path / "venv" / "bin" / "python"
    site = next((tmp_path / "venv" / "lib").glob("python3*/site-packages"))
    # They bring older versions of some packages, which are not to replace those of the tests.
    (site / "beside.pth").write_text(sysconfig.get_path("purelib") + "\n")
    pip = [sys.executable, "-m", "pip", "--python", python, "install", "-q"]
    # uv takes a tenth of the time, but reads none of pip's settings: where it fails, pip installs.
    uv = shutil.which("uv", path=sysconfig.get_path("scripts")) or "false"
    quick = subprocess.run([uv, "pip", "install", "-q", "--python", python, *frameworks])
    if quick.returncode:
        subprocess.run([*pip, *frameworks], check=True)
    if bare:
        subprocess.run([*pip, "--no-deps", "--ignore-requires-python", bare], check=True)
    done = subprocess.run(
        [python, "-m", "pytest", "--all", "-rs", "-p", "no:cacheprovider", *files],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout[-5000:] + done.stderr[-2000:]
    assert not re.search(r"SKIPPED.*needs the", done.stdout), done.stdout
