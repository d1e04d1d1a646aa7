"""Actions and objects in words: what can be said in a room, and what is meant by it."""
