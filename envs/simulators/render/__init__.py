"""A renderer for rooms on one CPU core: colour, depth and which object each pixel shows."""

VERSION = "2"
"""Goes up when the same scene gets other colours. 1 computed them in float64, 2 in float32: 0.01 %
of the pixels differ by one of 255 levels, one in a million by more. Depth and ids are the same."""
