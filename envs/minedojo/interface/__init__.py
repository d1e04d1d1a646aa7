"""MineDojo's own observations and actions, as a Gymnasium environment."""
