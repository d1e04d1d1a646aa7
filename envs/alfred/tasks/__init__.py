"""ALFRED's tasks: sampled from a seed or read from recorded trajectories, with their goals and
wording.
"""
