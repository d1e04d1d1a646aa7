"""Experiments: many runs from one file, their tables and page, and a lock to make them again."""
