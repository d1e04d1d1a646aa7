"""Plans for ALFRED's tasks from any state, made over the metadata."""
