"""A checkout whose symbolic links were written out as files says so."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_without_links_the_import_says_what_to_do(tmp_path: Path) -> None:
    package = tmp_path / "inhabit"
    package.mkdir()
    shutil.copy(ROOT / "inhabit" / "__init__.py", package)
    (package / "envs").write_text("../envs")  # as git writes a link where it can't make one
    done = subprocess.run(
        [sys.executable, "-c", "import inhabit"],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 1
    assert "git clone -c core.symlinks=true" in done.stderr
