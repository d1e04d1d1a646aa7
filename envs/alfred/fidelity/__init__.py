"""The embedded household held against real AI2-THOR: ALFRED's trajectories, frames, layouts."""
