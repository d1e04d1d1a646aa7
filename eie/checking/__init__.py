"""What every example has to pass."""
