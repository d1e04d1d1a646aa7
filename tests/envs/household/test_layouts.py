"""THOR's own grids, where the package that has them is installed."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from envs.core import UnavailableError
from envs.household import layouts, rooms
from envs.household.grid import STEP


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A package as alfworld is laid out, with one room's grid."""
    home = tmp_path / "alfworld" / "gen" / "layouts"
    home.mkdir(parents=True)
    (tmp_path / "alfworld" / "__init__.py").write_text("raise ImportError('not to be imported')")
    monkeypatch.syspath_prepend(str(tmp_path))
    layouts.folder.cache_clear()
    yield home
    layouts.folder.cache_clear()


def test_recorded_cells_are_free_and_those_beside_them_that_are_clear(installed: Path) -> None:
    ours = rooms.load("FloorPlan10").cells
    inner = sorted(ours)[: len(ours) // 2]
    np.save(installed / "FloorPlan10-layout.npy", np.array(inner, np.float32) * STEP)
    real = layouts.cells("FloorPlan10")
    assert real is not None and set(inner) <= real
    known = rooms.load("FloorPlan10", recorded=True).cells
    assert known >= real
    beside = {(c + i, r + j) for c, r in real for i, j in ((0, 1), (1, 0), (0, -1), (-1, 0))}
    assert known - real <= beside
    unknown = rooms.load("FloorPlan11", recorded=True).cells
    assert unknown == rooms.load("FloorPlan11").cells
    assert rooms.load("FloorPlan10").cells == ours, "computed unless the recorded are asked for"


def test_without_the_package_recorded_cells_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(layouts, "find_spec", lambda name: None)
    layouts.folder.cache_clear()
    assert layouts.cells("FloorPlan1") is None
    with pytest.raises(UnavailableError, match="inhabit setup alfred"):
        rooms.load("FloorPlan1", recorded=True)
    assert rooms.load("FloorPlan1").cells
    layouts.folder.cache_clear()
