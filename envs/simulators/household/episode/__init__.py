"""A room during an episode, and what is seen of it."""
