"""A run's pages while it goes on: served to this machine alone, and nothing is ever written."""
