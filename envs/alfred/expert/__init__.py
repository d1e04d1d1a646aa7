"""The expert: plans for ALFRED's tasks from any state, from the simulator's metadata."""
