"""The 120 iTHOR rooms, and the user's own rooms."""
