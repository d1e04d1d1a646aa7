"""Tables of names and of what minecraft-data does not say, as CSV."""
