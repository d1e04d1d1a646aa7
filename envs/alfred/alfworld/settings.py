"""Settings of ALFWorld's twin."""

from __future__ import annotations

from typing import Literal

from inhabit.envs.alfred.world.settings import AlfredSettings


class AlfworldSettings(AlfredSettings):
    """Those of ALFRED, but for navigation, which the text game does not spell out."""

    navigation: Literal["walk", "teleport"] = "teleport"
    """How the agent gets to a receptacle: it is placed before it, or walks every low-level step."""
