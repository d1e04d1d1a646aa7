"""What there is: blocks and items, the state of a game, and settings."""
