"""Which weights a model has."""

from __future__ import annotations

import hashlib
import os
import subprocess
from pathlib import Path

import pytest

from inhabit.agents.models.local.fingerprint import of_file, of_folder


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache" / "inhabit"


@pytest.fixture
def model(tmp_path: Path) -> Path:
    folder = tmp_path / "{model}"
    folder.mkdir()
    (folder / "model.safetensors").write_bytes(bytes(range(256)) * 100)
    (folder / "config.json").write_text("{}")
    (folder / "optimizer.pt").write_bytes(b"of no account")
    return folder


def test_it_is_what_sha256sum_says(model: Path) -> None:
    weights = model / "model.safetensors"
    assert of_file(weights) == hashlib.sha256(weights.read_bytes()).hexdigest()
    names = ["config.json", "model.safetensors"]
    listed = subprocess.run(["sha256sum", *names], cwd=model, capture_output=True, check=True)
    assert of_folder(model) == hashlib.sha256(listed.stdout).hexdigest()


def test_whatever_makes_the_model_another_changes_it(model: Path) -> None:
    was = of_folder(model)
    (model / "optimizer.pt").write_bytes(b"other")
    assert of_folder(model) == was
    (model / "config.json").write_text('{"a": 1}')
    changed = of_folder(model)
    (model / "config.json").rename(model / "settings.json")
    assert len({was, changed, of_folder(model)}) == 3


def test_what_was_read_once_is_read_again_only_when_it_has_changed(model: Path) -> None:
    weights = model / "model.safetensors"
    was, status = of_file(weights), weights.stat()
    weights.write_bytes(b"x" * status.st_size)
    os.utime(weights, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert of_file(weights) == was, "Same size, same time: not read."
    os.utime(weights, ns=(status.st_atime_ns, status.st_mtime_ns + 1))
    assert of_file(weights) == hashlib.sha256(b"x" * status.st_size).hexdigest()


def test_a_memory_that_is_broken_or_can_not_be_kept_does_no_harm(model: Path, cache: Path) -> None:
    was = of_folder(model)
    (note,) = (cache / "digests").iterdir()
    note.write_text("{half")
    assert of_folder(model) == was
    note.unlink()
    note.parent.rmdir()
    note.parent.write_text("in the way")
    assert of_folder(model) == was
