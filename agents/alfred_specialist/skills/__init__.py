"""Skills of the planner: what to do next for a task that has been read, and where to search."""
