"""MineDojo's tasks: its own, and ones sampled from a seed."""
