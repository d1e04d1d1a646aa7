"""What changed between AI2-THOR 2.1, in which ALFRED was recorded, and today's release.

Inferred from the trajectories: the axes below are those under which the masks of ALFRED's training
trajectories overlap best with the objects of today, each laid where it was recorded.
"""

from __future__ import annotations

from collections.abc import Mapping

from inhabit.envs.simulators.household.geometry.boxes import angles, rotation

Triple = tuple[float, float, float]

RENAMED: Mapping[str, str] = {"Glassbottle": "Bottle"}
"""Pickupable types renamed since AI2-THOR 2.1."""
_AXES: Mapping[str, Triple] = {
    "BaseballBat": (0, 0, 180),
    "ButterKnife": (0, 90, 90),
    "Fork": (0, 90, 0),
    "Knife": (0, 270, 0),
    "Ladle": (0, 270, 0),
    "Pen": (0, 90, 0),
    "Pencil": (0, 270, 90),
    "Spatula": (0, 270, 0),
    "Spoon": (0, 90, 0),
    "SprayBottle": (0, 270, 0),
}
"""Degrees about x, y and z from a type's model axes in AI2-THOR 5 to those in 2.1."""


def rotation_today(type: str, recorded: Triple) -> Mapping[str, float]:
    """The rotation {x, y, z} in degrees that reproduces the recorded orientation."""
    turned = rotation(dict(zip("xyz", recorded, strict=True)))
    axes = _AXES.get(type)
    if axes is None:
        return dict(zip("xyz", recorded, strict=True))
    return angles(turned @ rotation(dict(zip("xyz", axes, strict=True))))
