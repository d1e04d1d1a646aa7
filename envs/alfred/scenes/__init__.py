"""What a task of ALFRED starts from: a room, what stands in it, and how it is built."""
