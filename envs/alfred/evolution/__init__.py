"""ALFRED as a template for EIE."""
