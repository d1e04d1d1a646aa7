"""A machine without Luanti skips what needs it, in one line that says what to install."""

from __future__ import annotations

import pytest

from inhabit.envs.minedojo.luanti.world import PACKAGES, lacking

needs_luanti = pytest.mark.skipif(
    bool(lacking()),
    reason=f"needs Luanti: inhabit setup minedojo, or apt-get install {' '.join(PACKAGES)}",
)
