"""An episode as a figure for a paper."""
