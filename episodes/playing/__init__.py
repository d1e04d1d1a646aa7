"""Playing episodes: one, many at once, and again."""
