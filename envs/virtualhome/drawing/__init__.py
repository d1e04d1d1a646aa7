"""Pictures of a flat, drawn from its graph alone: the same world gives the same bytes."""
