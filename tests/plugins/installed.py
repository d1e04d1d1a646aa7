"""Packages of strangers for tests: written to a folder as pip would install them."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent


def install(
    folder: Path, name: str, code: str, points: dict[str, dict[str, str]], version: str = "1.0"
) -> None:
    """Install a distribution of one module: `points` is group -> name -> "module:attribute"."""
    (folder / f"{name}.py").write_text(dedent(code))
    info = folder / f"{name}-{version}.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
    lines = [
        line
        for group, entries in points.items()
        for line in (f"[{group}]", *(f"{key} = {value}" for key, value in entries.items()))
    ]
    (info / "entry_points.txt").write_text("\n".join(lines) + "\n")
