"""Renders a flat from its graph alone: equal graphs give equal bytes."""
