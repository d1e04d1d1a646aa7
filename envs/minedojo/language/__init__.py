"""Actions in words, and those that an agent may choose from."""
