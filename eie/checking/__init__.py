"""Checks that every example has to pass."""
