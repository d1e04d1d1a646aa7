"""MineDojo's tasks: official ones, and ones sampled from a seed."""
