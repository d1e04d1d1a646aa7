"""One episode: its state, how it is built, and what is told of it."""
