"""What an agent can do in plain words, each over as many of THOR's low-level steps as it takes."""
