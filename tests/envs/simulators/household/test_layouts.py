"""THOR's own grids, where the package that has them is installed."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from inhabit.envs.core import UnavailableError
from inhabit.envs.simulators.household.geometry import grid
from inhabit.envs.simulators.household.geometry.boxes import STEP
from inhabit.envs.simulators.household.geometry.grid import neighbours
from inhabit.envs.simulators.household.rooms import ithor


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A package as alfworld is laid out, with one room's grid."""
    home = tmp_path / "alfworld" / "gen" / "layouts"
    home.mkdir(parents=True)
    (tmp_path / "alfworld" / "__init__.py").write_text("raise ImportError('not to be imported')")
    monkeypatch.syspath_prepend(str(tmp_path))
    grid.recorded_folder.cache_clear()
    yield home
    grid.recorded_folder.cache_clear()


def test_recorded_cells_are_free_and_those_that_can_be_walked_to(installed: Path) -> None:
    ours = ithor.load("FloorPlan10").cells
    inner = sorted(ours)[: len(ours) // 2]
    np.save(installed / "FloorPlan10-layout.npy", np.array(inner, np.float32) * STEP)
    real = grid.recorded_cells("FloorPlan10")
    assert real is not None and set(inner) <= real
    known = ithor.load("FloorPlan10", recorded=True).cells
    assert known >= real
    assert all(known & set(neighbours(cell)) for cell in known - real)
    room = ithor.load("FloorPlan10")
    beside = {cell for own in real for cell in neighbours(own)}
    for cells, nearer in ((known - real - beside, 0.0), (known - real, grid.BESIDE)):
        points = np.array(sorted(cells)) * STEP
        assert grid.clear(points, room.furniture(), room.outline, nearer=nearer).all()
    unknown = ithor.load("FloorPlan11", recorded=True).cells
    assert unknown == ithor.load("FloorPlan11").cells
    assert ithor.load("FloorPlan10").cells == ours, "computed unless the recorded are asked for"


def test_without_the_package_recorded_cells_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "alfworld", None)
    grid.recorded_folder.cache_clear()
    assert grid.recorded_cells("FloorPlan1") is None
    with pytest.raises(UnavailableError, match="inhabit setup alfred"):
        ithor.load("FloorPlan1", recorded=True)
    assert ithor.load("FloorPlan1").cells
    grid.recorded_folder.cache_clear()
