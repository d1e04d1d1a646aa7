"""Commands that make, export and learn from training data."""
