"""A small multimodal language model: SmolLM2 that reads detected objects as tokens."""

from __future__ import annotations

from pathlib import Path

BUNDLED = Path(__file__).parent / "bundled"
"""What comes with this package: what was trained, the prompt, and the recommended settings."""
ADAPTERS = "adapters.safetensors"
"""The file of what was trained."""
