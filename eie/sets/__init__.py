"""A set on disk: its folder, tables, card and page."""
