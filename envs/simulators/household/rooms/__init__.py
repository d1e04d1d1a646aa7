"""The 120 iTHOR rooms, and rooms of a user's own."""
