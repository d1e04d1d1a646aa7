"""VirtualHome tasks: sampled from a seed, or the goal tasks of `eai-eval`."""
