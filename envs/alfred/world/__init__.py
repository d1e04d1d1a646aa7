"""What there is: rooms, types of objects, and settings."""
