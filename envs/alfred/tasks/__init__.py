"""ALFRED's tasks: sampling, recorded trajectories, goals and goal texts."""
