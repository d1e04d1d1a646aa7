"""A renderer for rooms on one CPU core: colour, depth and which object each pixel shows."""
