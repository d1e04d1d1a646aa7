"""Reads what a person asks for: the task type, and the noun of each role, with probabilities."""
