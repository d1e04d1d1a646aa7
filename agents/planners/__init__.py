"""The planners: who decides on the next action."""
