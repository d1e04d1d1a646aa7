"""A model of some hundred thousand weights that ranks actions after the notes of an episode."""

from __future__ import annotations

from pathlib import Path

BOX = Path(__file__).parent / "bundled"
"""The planner that comes with this package: `local:inhabit`."""
RANKER = "ranker.json"
"""What tells the folder of a ranker from that of a transformer."""
