"""What there is: classes of objects, their names, and settings."""
