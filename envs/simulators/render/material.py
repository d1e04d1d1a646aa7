"""What a surface looks like: a colour, a pattern in metres, how it shines and glows."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

Color = tuple[float, float, float]
"""sRGB, each channel 0..1."""


class Pattern(Enum):
    """How `color` and `second` are laid over a surface. Drawn in the object's own metres."""

    PLAIN = 0
    WOOD = 1
    TILE = 2
    MARBLE = 3
    FABRIC = 4
    BRUSHED = 5
    SPECKLE = 6
    STRIPES = 7
    PAINT = 8
    PLANKS = 9
    """Boards of wood, `scale` wide, along the longest side."""


@dataclass(frozen=True, slots=True)
class Material:
    """A surface, described rather than photographed."""

    color: Color
    pattern: Pattern = Pattern.PLAIN
    second: Color | None = None
    """The pattern's other colour, such as the joints between tiles. None: a shade of `color`."""
    scale: float = 0.1
    """Metres from one repetition of the pattern to the next."""
    gloss: float = 0.1
    """0 is chalk, 1 a mirror's highlight."""
    glow: float = 0.0
    """Emission: 0 is lit by lamps only; 1 shows its own colour in any light."""
