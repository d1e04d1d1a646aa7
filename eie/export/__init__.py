"""Exports of sets and runs in common formats for training."""
