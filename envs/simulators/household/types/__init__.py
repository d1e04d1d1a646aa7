"""AI2-THOR's types of objects, described once."""
