"""The planners: agents that choose the next action."""
