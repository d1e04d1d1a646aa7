"""Navigation: the reachable grid, and viewpoints of objects."""
