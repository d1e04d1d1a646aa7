"""The documentation builds as a site whose links lead somewhere."""

from __future__ import annotations

import importlib.util
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.slow
def test_the_site_is_built_without_a_warning(tmp_path: Path) -> None:
    if importlib.util.find_spec("mkdocstrings") is None:
        pytest.skip("needs the extra docs: pip install 'inhabit[docs]'")
    built = subprocess.run(
        [ROOT / "scripts" / "docs", "--site-dir", tmp_path / "site"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert built.returncode == 0, built.stderr
    assert "Usage: inhabit serve" in (tmp_path / "site" / "python" / "index.html").read_text()
