"""A small vision model that detects objects and their states in images of a household."""

from __future__ import annotations

from pathlib import Path

BUNDLED = Path(__file__).parent / "bundled"
"""The weights that come with this package, as transformers saves them."""
