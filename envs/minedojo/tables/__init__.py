"""CSV tables of names, and of data that minecraft-data lacks."""
