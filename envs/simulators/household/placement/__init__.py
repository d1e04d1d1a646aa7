"""Placement: where objects can be put down, and the consequences."""
