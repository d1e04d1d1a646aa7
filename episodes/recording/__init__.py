"""The run folder: what is written, and how it is read."""
