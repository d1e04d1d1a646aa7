"""A ranker with a few hundred thousand weights: scores actions, given the notes of an episode."""

from __future__ import annotations

from pathlib import Path

BOX = Path(__file__).parent / "bundled"
"""The planner that comes with this package: `local:inhabit`."""
RANKER = "ranker.json"
"""The file that identifies the folder of a ranker."""
