"""The notebooks run from top to bottom, and are kept without outputs."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from waiting import PATIENCE

nbformat = pytest.importorskip("nbformat")
nbclient = pytest.importorskip("nbclient")
pytest.importorskip("ipykernel")

ROOT = Path(__file__).parents[2]
NOTEBOOKS = sorted((ROOT / "docs" / "notebooks").glob("*.ipynb"))


# Each takes a kernel of its own: the one that plays is enough for a quick look.
@pytest.mark.parametrize(
    "file",
    [
        pytest.param(file, id=file.stem, marks=() if "play" in file.stem else pytest.mark.slow)
        for file in NOTEBOOKS
    ],
)
def test_it_runs(file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")]))
    monkeypatch.setenv("JUPYTER_RUNTIME_DIR", str(tmp_path / "runtime"))
    notebook = nbformat.read(file, as_version=4)
    assert not any(cell.get("outputs") for cell in notebook.cells)
    client = nbclient.NotebookClient(
        notebook,
        timeout=PATIENCE,
        kernel_name="python3",
        resources={"metadata": {"path": tmp_path}},
    )
    client.execute()
    shown = [out for cell in notebook.cells for out in cell.get("outputs", ())]
    assert any(
        "<img src='data:image/png" in out.get("data", {}).get("text/html", "") for out in shown
    )
