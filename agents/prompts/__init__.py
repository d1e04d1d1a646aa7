"""The notes of the built-in planner."""
