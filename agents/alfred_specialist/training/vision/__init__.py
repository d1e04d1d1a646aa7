"""Training of the vision model, on frames labelled by any environment with instance masks."""
