"""Where things can be put down, and what follows."""
